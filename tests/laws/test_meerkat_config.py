"""Laws of Meerkat configuration: whatever stands in a file, and wherever in it."""

import json
import math
import tomllib
from datetime import date, datetime, time
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hookline._core.hooks import Source
from hookline._core.problems import Problem, Scope
from hookline._core.strictjson import Part, Path
from hookline.dialects.meerkat.entries import Command, Entry, Http, InProcess, read_config
from hookline.dialects.meerkat.legality import violations
from hookline.dialects.meerkat.overrides import Overrides, effective, parse_overrides, read_overrides
from hookline.dialects.meerkat.schema import ADAPTERS, ENTRY, HOOKS
from hookline.dialects.meerkat.toml_document import TomlFault, parse
from hookline.dialects.meerkat.toml_positions import STRING, positions
from hookline.dialects.meerkat.words import POST_COMMIT, Capability, HookPoint, Mode

LAW = settings(deadline=None)  # how fast the machine is belongs to no law
SOURCE = Source(layer="active", label="config.toml", path="/p/config.toml")

# Pieces of TOML and words that mean something here, so that what is generated gets further than the first check.
KEYS = ["hooks", "entries", "runtime", "x", *HOOKS, *ENTRY, *(name for table in ADAPTERS.values() for name in table)]
MARKS = [
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "#",
    '"',
    "'",
    '"""',
    "'''",
    "\\",
]
VALUES = ["1", "-1", "1.5", "true", "inf", "nan", "1979-05-27", "07:32:00", "0x1F", '"x"', "'y'", '"\\u00e9"', '"\\n"']
SPELLED = [json.dumps(each.value) for words in (HookPoint, Mode, Capability) for each in words]
SPELLED += ['"command"', '"http"', '"in_process"', '"http://h"']
soup = st.lists(st.sampled_from(KEYS + MARKS * 2 + VALUES + SPELLED) | st.text(max_size=2), max_size=40).map("".join)
HEADERS = ["[hooks]", "[[hooks.entries]]", "[hooks.entries.runtime]", "[x]", "[[x.y]]", "[hooks.entries]"]
keys = st.sampled_from(KEYS)
lines = st.lists(
    st.one_of(
        st.sampled_from(HEADERS),
        st.tuples(keys, st.sampled_from(VALUES + SPELLED + ["[]", "{}", "[1, 'x']", "{a.b = 1}"])).map(
            " = ".join
        ),
        st.tuples(keys, keys, st.sampled_from(VALUES)).map("{0[0]}.{0[1]}={0[2]}".format),
    ),
    max_size=12,
).map("\n".join)  # fmt: skip

GOOD = b"""\
[hooks]
default_timeout_ms = 5000 # each
[[hooks.entries]]
id = "safety"
point = "pre_tool_execution"
capability = "guardrail"
priority = 10
[hooks.entries.runtime]
type = "command"
command = "python3"
args = ["guard.py", '''
x''']
env = { "A.B" = "1", c.d = 2 }
[[hooks.entries]]
runtime = { type = "http", url = "http://h", headers = { X = "y" } }
"""


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A good document of which a few stretches are cut out, doubled or replaced."""
    data = GOOD
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 12)))
        piece = draw(
            st.sampled_from(KEYS + MARKS + VALUES).map(str.encode)
            | st.binary(max_size=2)
            | st.just(data[start:end] * 2)
        )
        data = data[:start] + piece + data[end:]
    return data  # fmt: skip


texts = soup | lines | st.tuples(lines, soup).map("\n".join)
files = st.one_of(st.binary(max_size=80), texts.map(str.encode), mutated())


def assert_placed(problem: Problem, data: bytes) -> None:
    """A problem says something, and its place is one that the text has."""
    assert problem.message
    assert problem.code.isalpha()
    rows = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n")
    assert 1 <= problem.where.line <= len(rows)
    assert 1 <= problem.where.column <= len(rows[problem.where.line - 1]) + 1


@LAW
@given(files)
def test_any_bytes_are_a_configuration_or_problems(data: bytes) -> None:
    """Nothing is raised, whatever the bytes; each problem has a place; without one that stops all, it is all sound."""
    config, problems = read_config(data, SOURCE)

    for problem in problems:
        assert_placed(problem, data)
        assert problem.scope in (Scope.SETTINGS, Scope.NOTE)
    if all(problem.scope is Scope.NOTE for problem in problems):
        tables = tomllib.loads(data.removeprefix(b"\xef\xbb\xbf").decode()).get("hooks", {})
        assert len(tables.get("entries", [])) == len(config.entries)
    for violation in violations(config.entries):
        assert_placed(violation.problem, data)


@LAW
@given(files)
def test_what_the_library_accepts_is_accepted_and_placed(data: bytes) -> None:
    """The standard library decides what is TOML, and then every key and every value of it has a place."""
    try:
        wanted = tomllib.loads(data.decode("utf-8").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        try:
            parse(data, max_bytes=2000, max_depth=50)
        except TomlFault:
            return
        raise AssertionError("the library refuses this") from None
    value, text = parse(data, max_bytes=2000, max_depth=50)

    assert repr(wanted) == repr(value)  # NaN is not equal to itself
    assert_all_placed(value, text)


def assert_all_placed(value: dict[str, Any], text: str) -> None:
    """Each key and each value of *value* stands, with its own spelling, where *text* is said to hold it."""
    places = positions(text)
    starts = [0, *(at + 1 for at, each in enumerate(text) if each == "\n")]
    wanted = dict(walk(value, ()))
    assert wanted.keys() == places.keys()
    for path, each in wanted.items():
        line, column = places[path]
        there = text[starts[line - 1] + column - 1 :]
        assert there[:1].strip(), f"nothing stands at {path}"
        if path[-1] is Part.KEY:
            assert spells(there, str(path[-2])), f"{path} does not stand at {there[:20]!r}"
        else:
            assert begins(there, each), f"{path} does not stand at {there[:20]!r}"


def walk(value: Any, path: Path) -> list[tuple[Path, Any]]:
    found: list[tuple[Path, Any]] = []
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in steps:
        inner = (*path, step)
        found += [(inner, each), *walk(each, inner)]
        if isinstance(step, str):
            found.append(((*inner, Part.KEY), None))
    return found


def spells(there: str, key: str) -> bool:
    """Whether the text begins with a spelling of *key*, and of no longer one."""
    if there[0] in "\"'":
        return quoted_here(there) == key
    rest = there[len(key) :]
    return there.startswith(key) and not (rest[:1].isalnum() or rest[:1] in ("_", "-"))


def quoted_here(there: str) -> str:
    found = STRING.match(there)
    assert found
    return str(tomllib.loads(f"x = {found[0]}")["x"])


def begins(there: str, value: Any) -> bool:
    match value:
        case str():
            return quoted_here(there) == value
        case bool():
            return there.startswith(str(value).lower())
        case list() | dict():  # a table may stand where a key names it
            return there[0] in "[{\"'" or there[0].isalnum() or there[0] in "_-"
        case datetime() | date() | time():
            return there[0].isdigit()
        case _:
            return there[0] in "+-in" or there[0].isdigit()


# Any tree, written in any of the ways that TOML has.
names = st.sampled_from(["a", "b", "1", "a-b", "é", "", "x.y", "q\"'", "#", "\t"])
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
scalars = st.one_of(st.booleans(), numbers, st.text(max_size=6), st.dates(), st.times())
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=10
)
gaps = st.sampled_from(["", " ", "\t "])
breaks = st.sampled_from(["", " ", "\n", " # ] } \" '\n", "\n\t"])


def spelled_key(draw: st.DrawFn, name: str) -> str:
    if name and all(each.isascii() and (each.isalnum() or each in "_-") for each in name) and draw(st.booleans()):
        return name
    if "'" not in name and name.isprintable() and draw(st.booleans()):
        return f"'{name}'"
    return json.dumps(name, ensure_ascii=draw(st.booleans())).replace("\x7f", "\\u007f")


def spelled(draw: st.DrawFn, value: Any) -> str:
    """*value* as it can stand behind an equals sign."""
    match value:
        case str():
            form = draw(st.sampled_from(["basic", "basic", "literal", "multi"]))
            if form == "literal" and "'" not in value and value.isprintable():
                return f"'{value}'"
            if form == "multi" and value.isprintable() and "\\" not in value and '"""' not in value:
                return '"""\n' + value + '"""' if not value.endswith('"') else '"""' + value + '\\n"""'
            return json.dumps(value, ensure_ascii=max(value, default="") <= "\uffff").replace("\x7f", "\\u007f")
        case bool():
            return str(value).lower()
        case float():
            return f"{value!r}" if math.isinf(value) or "." in repr(value) or "e" in repr(value) else f"{value!r}.0"
        case date() | time():
            return value.isoformat()
        case list():
            inside = [draw(breaks) + spelled(draw, each) + draw(breaks) for each in value]
            return "[" + ",".join(inside) + draw(st.sampled_from(["", "," if inside else ""])) + draw(breaks) + "]"
        case dict():
            inside = [draw(gaps) + pair(draw, [name], each) for name, each in value.items()]
            return "{" + ",".join(inside) + draw(gaps) + "}"
        case _:
            return str(value)


def pair(draw: st.DrawFn, key: list[str], value: Any) -> str:
    parts = [spelled_key(draw, each) for each in key]
    dot = f"{draw(gaps)}.{draw(gaps)}"
    return f"{dot.join(parts)}{draw(gaps)}={draw(gaps)}{spelled(draw, value)}"


@st.composite
def documents(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """A tree, and one of its texts."""
    tree = draw(st.dictionaries(names, trees, max_size=4))
    rows: list[str] = []
    table(draw, tree, [], rows)
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return tree, "\n".join(rows).replace("\n", end)


def table(draw: st.DrawFn, value: dict[str, Any], path: list[str], rows: list[str]) -> None:
    """The rows of a table: first its pairs, since nothing of it can follow a header, then the tables within."""
    later: list[tuple[str, Any]] = []
    for name, each in value.items():
        is_array = isinstance(each, list) and each and all(isinstance(one, dict) for one in each)
        if (isinstance(each, dict) or is_array) and draw(st.booleans()):
            later.append((name, each))
        elif isinstance(each, dict) and each and draw(st.booleans()):
            rows += [pair(draw, [name, inner], one) for inner, one in each.items()]
        else:
            rows.append(draw(gaps) + pair(draw, [name], each) + draw(st.sampled_from(["", " # x = 1"])))
    for name, each in later:
        inner = [*path, name]
        for one in each if isinstance(each, list) else [each]:
            opens, closes = ("[[", "]]") if isinstance(each, list) else ("[", "]")
            dot = f"{draw(gaps)}.{draw(gaps)}"
            header = dot.join(spelled_key(draw, step) for step in inner)
            if isinstance(each, list) or not implied(one) or draw(st.booleans()):
                rows.append(draw(gaps) + opens + draw(gaps) + header + draw(gaps) + closes)
                table(draw, one, inner, rows)
            else:  # a table that only the headers of its own tables name
                for step, deeper in one.items():
                    rows.append("[" + ".".join(spelled_key(draw, part) for part in [*inner, step]) + "]")
                    table(draw, deeper, [*inner, step], rows)


def implied(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(each, dict) for each in value.values())


@LAW
@given(documents())
def test_every_way_of_writing_a_tree_has_its_places(document: tuple[dict[str, Any], str]) -> None:
    """However a tree is written (headers, dots, quotes, inline, over lines), all of it has its places."""
    tree, written = document
    assume("\r" not in written.replace("\r\n", ""))

    value, text = parse(written.encode(), max_bytes=100_000, max_depth=50)

    assert [path for path, _ in walk(tree, ())] != [] or value == {}
    assert {path for path, _ in walk(tree, ())} == {path for path, _ in walk(value, ())}
    assert_all_placed(value, text)


words = st.text(max_size=4)
plain = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
tokens = st.text("ab-X1", min_size=1, max_size=4)
runtimes = st.one_of(
    st.builds(InProcess, words),
    st.builds(
        Command,
        plain.filter(str.strip),
        args=st.lists(plain, max_size=2).map(tuple),
        env=st.dictionaries(tokens, plain, max_size=2).map(lambda env: tuple(env.items())),
        inherit_env=st.booleans(),
    ),
    st.builds(
        Http,
        tokens.map(lambda path: f"https://h/{path}"),
        method=tokens,
        headers=st.dictionaries(tokens, tokens, max_size=2).map(lambda headers: tuple(headers.items())),
    ),
)
entries = st.builds(
    Entry,
    id=st.sampled_from(["a", "b", "c", "hook", "", " "]),
    enabled=st.booleans(),
    point=st.sampled_from(HookPoint),
    mode=st.sampled_from(Mode),
    capability=st.sampled_from(Capability),
    priority=st.integers(-(2**31), 2**31 - 1),
    timeout_ms=st.none() | st.integers(0, 2**64 - 1),
    runtime=runtimes,
)
lists = st.lists(entries, max_size=5)
disabled = st.lists(st.sampled_from(["a", "b", "hook", "z"]), max_size=3).map(tuple)
overrides = st.builds(Overrides, lists.map(tuple), disabled)


@LAW
@given(overrides)
def test_what_is_written_reads_as_what_it_was(written: Overrides) -> None:
    """Overrides are the same after a way over the wire, as a dict or as text, and nothing is said of them."""
    assert (written, ()) == read_overrides(written.wire())
    assert (written, ()) == parse_overrides(json.dumps(written.wire()))


def first_breach(judged: list[Entry]) -> str:
    """The document's section 5, word for word."""
    seen: set[str] = set()
    for entry in judged:
        if not entry.id.strip():
            return "hook id cannot be empty"
        if entry.mode is Mode.BACKGROUND and entry.capability is not Capability.OBSERVE:
            return f"background hooks must be observe-only: {entry.id}"
        if entry.point in POST_COMMIT and entry.capability is not Capability.OBSERVE:
            return f"post-commit hook points are observe-only: {entry.id}"
        if entry.id in seen:
            return f"duplicate hook id: {entry.id}"
        seen.add(entry.id)
    return ""


@LAW
@given(lists)
def test_the_first_violation_is_the_one_of_the_document(judged: list[Entry]) -> None:
    """All are found, and the first of them is the one at which the document's engine stops."""
    found = violations(judged)
    assert first_breach(judged) == (found[0].text if found else "")


@LAW
@given(lists, overrides)
def test_overrides_take_out_and_append(base: list[Entry], asked: Overrides) -> None:
    """What is in force is judged as a base, then without what was disabled and with what was added, in order."""
    found = effective(base, asked)

    wanted = [*(each for each in base if each.id not in asked.disable), *asked.entries]
    text = first_breach(base) or first_breach(wanted)
    assert (() if text else tuple(wanted), text) == (found.entries, found.text)


members = st.sampled_from([*KEYS, "disable", "type"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | keys | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(members, inner, max_size=4),
    max_leaves=12,
)


@LAW
@given(st.text(st.characters(), max_size=20) | st.binary(max_size=20) | anything.map(json.dumps))
def test_any_text_is_overrides_or_problems(data: str | bytes) -> None:
    """Nothing is raised; overrides that something is wrong with are none."""
    found, problems = parse_overrides(data)
    assert (found is None) == any(problem.scope is Scope.SETTINGS for problem in problems)


@LAW
@given(anything)
def test_text_and_dict_say_the_same(value: Any) -> None:
    """An object read as JSON and as a dict is the same overrides, with the same problems at the same paths."""
    from_text, from_dict = parse_overrides(json.dumps(value)), read_overrides(value)
    assert from_text.overrides == from_dict.overrides
    assert sorted((each.code, each.where.path) for each in from_text.problems) == sorted(
        (each.code, each.where.path) for each in from_dict.problems
    )
