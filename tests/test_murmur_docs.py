"""docs/dialects/murmur.md against the tables that the code reads."""

import json
import re
from pathlib import Path

from hookline.dialects.murmur import answer, failures, grants, logs, older, payload
from hookline.dialects.murmur.contract import LEGALITY, matrix
from hookline.dialects.murmur.environment import CASE, CONFIG, DATASET, EVALUATION, FORMATION, OTEL
from hookline.dialects.murmur.interfaces import INTERFACES, NOT_EXPORTED, OPTIONAL, REQUIRED
from hookline.dialects.murmur.kinds import Refusal
from hookline.dialects.murmur.rules import ARMS, RULES
from hookline.dialects.murmur.schema import rows
from hookline.dialects.murmur.words import CommitPolicy, ExecutionMode
from hookline.session.capsule.recipes import RESOLVERS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/dialects/murmur.md").read_text(encoding="utf-8")
SESSION = ROOT / "docs/dialects/murmur-session.jsonl"
SHIPPED = ROOT / "src/hookline/shipped"


def table(first: str) -> dict[str, list[str]]:
    """The rows of the table whose head begins with *first*, by their first cell."""
    lines = PAGE[PAGE.index(f"| {first} |") :].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {first.strip("`"): others for first, *others in cells}


def test_every_key_of_the_manifest_has_its_row() -> None:
    """In their order, with code and note."""
    found = table("key | is | default | code | for")

    assert [path for path, _ in rows()] == list(found)
    assert [] == [path for path, field in rows() if (field.code or "E-MAN-003") not in found[path]]


def test_the_legality_table_is_the_one_that_is_checked() -> None:
    """Each binding with the policies that go with it, and whether it may be async."""
    found = table("binding | policies besides `none` | async with `none`")
    told = {
        "left out" if binding is None else binding.value: (
            sorted(policy.value for policy in legal.policies),
            "yes" if legal.may_be_async else "never",
        )
        for binding, legal in LEGALITY.items()
    }

    assert told == {name: (_policies(cell), may) for name, (cell, may) in found.items()}


def test_the_matrix_is_the_one_that_is_checked() -> None:
    """Every combination with the rule that it breaks; an async hook that commits breaks rule 5, as the page says."""
    found = table("`binding` | `none` | `none`, async")
    asynchronous = {policy: rule for _, mode, policy, rule in matrix() if mode is ExecutionMode.ASYNC}
    columns = ["none", "none, async", *(policy.value for policy in CommitPolicy if policy is not CommitPolicy.NONE)]
    told: dict[str, dict[str, str]] = {}
    for binding, mode, policy, rule in matrix():
        if mode is ExecutionMode.BLOCKING or policy is CommitPolicy.NONE:
            column = "none, async" if mode is ExecutionMode.ASYNC else policy.value
            told.setdefault("left out" if binding is None else binding.value, {})[column] = str(rule or "ok")

    assert told == {name: dict(zip(columns, cells, strict=True)) for name, cells in found.items()}
    assert {5} == {rule for policy, rule in asynchronous.items() if policy is not CommitPolicy.NONE}


def test_each_point_has_the_arm_that_it_honors() -> None:
    """The table of arms is the one of the rules, and the table of points has every function with its events."""
    honored = table("arm | payload | honored at")
    points = (PAGE[PAGE.index("| function | canonical event |") :].split("\n\n")[0]).splitlines()[2:]

    assert set(ARMS) == set(honored)
    assert [] == [rule for rule in RULES if rule.arm and f"`{rule.function}`" not in honored[rule.arm][1]]
    assert [] == [
        (rule.function, rule.event.point.name)
        for rule in RULES
        if not any(f"`{rule.function}`" in line and f"`{rule.event.point.name}`" in line for line in points)
    ]


def as_shown(text: str) -> str:
    """A text of the code as the page has it: whatever is filled in stands between angle brackets."""
    shown = {"name": "n", "function": "fn", "version": "v", "why": "error", "count": "k", "current": "", "older": ""}
    return re.sub(r"\{(\w+)\}", lambda found: f"<{shown.get(found[1], found[1])}>", text)


def test_every_refusal_of_a_policy_hook_is_told_in_its_own_words() -> None:
    """The table of what refuses, and what the model is told."""
    texts = [answer.NO_REASON, answer.NOT_ANSWERABLE, answer.FAILED_AT, answer.NO_EXPORT]
    of_older = as_shown(older.NO_DECISIONS).replace("<n>", "<n>@<v>")

    assert [] == [text for text in map(as_shown, texts) if f"| `{text}` |" not in PAGE]
    assert f"| `{of_older}` |" in PAGE
    assert f"`{payload.NOT_SHOWN.format(what='the input')}`" in PAGE


def test_every_line_of_a_log_is_told_in_its_own_words() -> None:
    """Those that the runtime writes about hooks, with the numbers that hold."""
    dropped = as_shown(logs.DROPPED.replace("{queue}", str(logs.QUEUE)))
    abandoned = as_shown(logs.ABANDONED.replace("{budget}", str(round(logs.DRAIN * 1000))))
    unsupported = as_shown(answer.UNSUPPORTED).replace("<fn>", "<event>")

    assert [] == [each for each in (dropped, abandoned, unsupported, answer.FRESH) if f"- `{each}`\n" not in PAGE]
    assert failures.DEADLINE.replace("{seconds:g}", "<n>") in " ".join(PAGE.split())


def test_a_component_of_another_interface_is_refused_in_these_words() -> None:
    """Section 1, whole."""
    about = {"name": "<name>", "version": "<version>"}
    text = NOT_EXPORTED.format(current=INTERFACES[0].name, older=INTERFACES[1].name, **about)

    assert f"``{text}``" in " ".join(PAGE.split())


def test_every_refused_grant_is_refused_in_these_words() -> None:
    """The examples of section 10 are what the reader says of them."""
    found = table("refused | with")
    told = {}
    for example in found:
        given, _, kind = example.partition("` as a ")
        read = {"": grants.destination, "scope": grants.scope, "store": grants.store}[kind]
        refusal = read(given.strip("`"))
        assert isinstance(refusal, Refusal), example
        told[example] = f"`{refusal.words}`"

    assert told == {example: text for example, (text,) in found.items()}


def test_a_default_is_one_of_the_words_that_can_be_written() -> None:
    """Where a key takes one of some words, and is not required."""
    told = table("key | is | default | code | for")
    words = {
        key: re.findall(r"`[a-z_]+`", kind) for key, (kind, *_) in told.items() if re.match(r"`.*` or `[a-z_]+`$", kind)
    }

    assert {"context.record", "lifecycle.conversation", "trace.capture"} < set(words)
    assert [] == [key for key, known in words.items() if told[key][1] not in {*known, "required"}]


def test_every_line_of_the_trace_has_its_row() -> None:
    """Each kind that is written, and, of those in the documented session, each field."""
    found = table("`event_type` | has besides")
    source = (ROOT / "src/hookline/dialects/murmur/trace.py").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in SESSION.read_text(encoding="utf-8").splitlines()]

    assert set(re.findall(r'self\._(?:line|of_turn|of_task)\(\s*"([a-z0-9_]+)"', source)) == set(found)
    assert [] == [
        (line["event_type"], name)
        for line in lines
        for name in list(line)[5:]
        if f"`{name}`" not in found[line["event_type"]][0]
    ]


def _policies(cell: str) -> list[str]:
    """Those that a cell names, but in parentheses."""
    return sorted(re.findall(r"`([a-z-]+)`", re.sub(r"\(.*\)", "", cell)))


def test_every_function_arm_and_interface_is_named() -> None:
    """Nothing that is served is left out."""
    named = {*REQUIRED, *OPTIONAL, *ARMS, *(each.name for each in INTERFACES), *RESOLVERS, *ENVIRONMENT}

    assert [] == [each for each in sorted(named) if each not in PAGE]
    assert [] == [rule.event.point.name for rule in RULES if f"`{rule.event.point.name}`" not in PAGE]


ENVIRONMENT = {CASE, CONFIG, DATASET, EVALUATION, FORMATION, OTEL}


def test_every_shipped_hook_has_its_row() -> None:
    """By the name of its artifact."""
    assert sorted(each.name for each in SHIPPED.iterdir() if each.is_dir()) == sorted(
        table("artifact | binding | policy | needs")
    )


def test_what_the_code_cites_is_there() -> None:
    """Each section number in a comment is a heading of the page, or stands in one."""
    folders = ("src/hookline/dialects/murmur", "src/hookline/session/capsule")
    texts = [path.read_text(encoding="utf-8") for folder in folders for path in (ROOT / folder).rglob("*.py")]
    cited = {number for text in texts for number in re.findall(r"sections? ([0-9]+(?:\.[0-9]+)?)", text)}
    headings = "\n".join(re.findall(r"^#+ .*$", PAGE, re.MULTILINE))

    assert [] == [number for number in sorted(cited) if not re.search(rf"(^| ){re.escape(number)}[. ]", headings)]


def test_the_documented_trace_is_whole() -> None:
    """Every line is an object with the five common fields in their order, and its parent stands before it."""
    seen: set[str | None] = {None}
    for line in SESSION.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        assert ["event_type", "event_id", "parent_id", "session_id", "timestamp"] == list(told)[:5]
        assert told["parent_id"] in seen
        seen.add(told["event_id"])
