"""The schema of an answer takes just what its dialect understands as one, and refuses just what is none there.

What no schema can say is not asked here: text that is no JSON (Muse's plain output, what is malformed everywhere), JSON
that is no object or array where only these are read as JSON (Muse), limits of bytes and of depth, keys that stand
twice, exit statuses, and what a hook's own configuration rules out: an answer of a background hook, a deny of one that
only observes, an arm that a hook's commit policy discards.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.reading import documents
from tests.laws.drawn import LAW
from tests.schema_rig import DIALECTS, JSON, ROWS, faults, hook_at, objects_in

from hookline._core.answer import Answer
from hookline._core.payload import CallFailed, Exited, Reply
from hookline._core.rules import Rule
from hookline.adapters._component.guest import as_reply
from hookline.dialects.meerkat.answer import CODES
from hookline.dialects.murmur.rules import ARMS
from hookline.dialects.muse.answer_schema import NESTED, SPECIFIC, TOP
from hookline.testing import SAMPLES

HERE = Path(__file__).parent.parent
CASES = sorted([*HERE.glob("conformance/cases/*/*.yaml"), *HERE.glob("faults/*.yaml")])


def printed(value: Any) -> Reply:
    return Exited(code=0, stdout=json.dumps(value).encode())


def answered(value: Any) -> Reply | None:
    """The reply of a program that speaks for a component; None for a line that is none."""
    match value:
        case {"err": str()}:
            return as_reply(value)
        case {"ok": str()} if "err" not in value:
            return as_reply(value)
        case _:
            return None


REPLY: Mapping[str, Callable[[Any], Reply | None]] = {"muse": printed, "meerkat": printed, "murmur": answered}


def is_understood(value: Any, rule: Rule, dialect: str) -> bool:
    """Whether the dialect takes *value* for an answer at this point."""
    reply = REPLY[dialect](value)
    if reply is None:
        return False
    said = DIALECTS[dialect].decode(reply, SAMPLES[rule.event], hook_at(rule, dialect))
    assert isinstance(said, Answer | CallFailed)
    return isinstance(said, Answer)


def is_twice_the_same(value: Any, rule: Rule) -> bool:
    """Whether this is one verdict at both levels of Muse's answer: no schema can say that two values are the same."""
    if not isinstance(value, dict) or not getattr(rule, "verdict", False):
        return False
    specific = value.get(SPECIFIC)
    return isinstance(specific, dict) and value.get("decision", 0) == specific.get("decision", 1)


def check(value: Any, row: str) -> bool:
    """The schema and the dialect agree about *value*; the schema is the stricter one where no schema can say it.

    Whether it is an answer.
    """
    schema, rule = ROWS[row]
    wrong = faults(schema, "answer", value)
    understood = is_understood(value, rule, schema.dialect)
    if is_twice_the_same(value, rule):
        assert wrong
    else:
        assert understood == (wrong == []), (value, wrong)
    return understood


@cache
def recorded(file: Path) -> list[Any]:
    """Every object of a case file, each once."""
    texts = {json.dumps(each, default=str): None for found in documents(file) for each in objects_in(found)}
    return [json.loads(text) for text in texts]


# The cases of Murmur have no lines of programs: their components answer without JSON.
CARRIED = (None, "why", " ", [], [{"role": "user", "content": "hi"}], [{"binary-name": "git", "content": ""}], [None])
LINES = [{"ok": arm, "value": value} for arm in ARMS for value in CARRIED]


@pytest.mark.parametrize("row", list(ROWS))
def test_they_agree_about_all_that_the_cases_hold(row: str) -> None:
    """Every object in any case of any dialect, at every point, whatever it was meant for."""
    objects = [*LINES, *(each for file in CASES for each in recorded(file))]

    assert len(objects) > 500
    assert {True, False} == {check(each, row) for each in objects}


WORDS = st.sampled_from([None, True, False, 5, "", " ", "\u00a0", "block", "approve", "allow", "deny", "ask", "text"])
VERDICTS = st.fixed_dictionaries(
    {},
    optional={"behavior": st.sampled_from(["allow", "deny", "ask", None]), "message": WORDS, "further": WORDS},
)
VALUES = WORDS | VERDICTS | st.sampled_from([[], {}, {"command": "ls"}])


def muse_answers(rule: Rule) -> st.SearchStrategy[Any]:
    """Objects with the keys of the schema, at both levels, and values that some of them take."""
    names = st.sampled_from([rule.name, rule.name, rule.name, "Stop", 5])
    inner = st.fixed_dictionaries({}, optional=dict.fromkeys(NESTED, VALUES) | {"hookEventName": names})
    top = dict.fromkeys(TOP, VALUES) | {SPECIFIC: inner | VALUES}
    return st.fixed_dictionaries({}, optional=top) | few(top) | st.lists(VALUES, max_size=1)


def few(members: Mapping[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Objects with three of these members at the most: the fewer there are, the more often all of them are right."""
    chosen = st.lists(st.sampled_from(sorted(members)), max_size=3, unique=True)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: members[name] for name in names}))


def meerkat_answers(rule: Rule) -> st.SearchStrategy[Any]:
    texts = st.sampled_from(["", "why", None, 5])
    denial = {
        "decision": st.sampled_from(["deny", "deny", "allow", "ask", None]),
        "hook_id": texts,
        "reason_code": st.sampled_from([*CODES, "other", None]),
        "message": texts,
        "payload": JSON,
    }
    whole = {name: denial[name] for name in ("decision", "hook_id", "reason_code", "message")}
    decisions = st.fixed_dictionaries(whole) | few({**denial, "more": JSON}) | JSON
    return st.fixed_dictionaries({"decision": decisions}) | few({"decision": decisions, "patches": JSON}) | JSON


def murmur_answers(rule: Rule) -> st.SearchStrategy[Any]:
    texts = st.sampled_from(["", " ", "text", None, 5])
    fields = dict.fromkeys(("role", "content", "id", "source-id", "binary-name", "more"), texts)
    manifest = st.fixed_dictionaries({"binary-name": texts, "content": texts})
    message = st.fixed_dictionaries({"role": texts, "content": texts}, optional={"id": texts, "source-id": texts})
    values = texts | st.lists(message | manifest | few(fields) | texts, max_size=2) | JSON
    arms = st.sampled_from([getattr(rule, "arm", "") or "none", *ARMS, "other", None])
    whole = {"ok": arms, "value": values}
    return st.fixed_dictionaries(whole) | few({**whole, "err": texts, "more": texts}) | JSON


DRAWN = {"muse": muse_answers, "meerkat": meerkat_answers, "murmur": murmur_answers}


@LAW
@given(st.data())
@pytest.mark.parametrize("row", list(ROWS))
def test_they_agree_about_whatever_is_like_an_answer(row: str, data: st.DataObject) -> None:
    """Objects that are answers, or nearly."""
    schema, rule = ROWS[row]

    check(data.draw(DRAWN[schema.dialect](rule)), row)


ABSENT = object()
TEXTS = (ABSENT, "", " ", "why", None)
DENIAL, ALLOWED = {"behavior": "deny", "message": "no"}, {"behavior": "allow"}

# Of Muse's keys those that depend on one another: the ones within `hookSpecificOutput`, then those at both levels.
PERMISSIONS = {
    "permissionDecision": (ABSENT, "allow", "deny", "ask", "block", None),
    "permissionDecisionReason": TEXTS,
    "updatedInput": (ABSENT, {}, {"command": "ls"}, None, "ls"),
}
DECISIONS = {
    "decision": (ABSENT, "block", "approve", DENIAL, ALLOWED, {**DENIAL, "more": 1}, None),
    "reason": TEXTS,
    SPECIFIC: (ABSENT, {}, {"decision": DENIAL}, {"decision": "deny"}, {"decision": {"behavior": "ask"}}),
}


def combinations(values: Mapping[str, tuple[Any, ...]]) -> list[dict[str, Any]]:
    rows = [dict(zip(values, row, strict=True)) for row in product(*values.values())]
    return [{name: value for name, value in row.items() if value is not ABSENT} for row in rows]


@pytest.mark.parametrize("row", [row for row in ROWS if row.startswith("muse")])
def test_they_agree_about_keys_that_go_together(row: str) -> None:
    """In every combination, and under the name of the event, which has to be there."""
    name = {"hookEventName": ROWS[row][1].name}
    for specific in combinations(PERMISSIONS):
        check({SPECIFIC: {**name, **specific}}, row)
    for whole in combinations(DECISIONS):
        check({**whole, SPECIFIC: {**name, **whole.get(SPECIFIC, {})}}, row)


@pytest.mark.parametrize("row", [row for row in ROWS if row.startswith("muse: PermissionRequest")])
def test_a_verdict_stands_in_one_place(row: str) -> None:
    """The one thing that a dialect takes and its schema does not: the same verdict twice, where another would do."""
    schema, rule = ROWS[row]
    verdict = {"behavior": "deny", "message": "no"}
    twice = {"decision": verdict, SPECIFIC: {"hookEventName": rule.name, "decision": verdict}}
    differing = {**twice, "decision": {"behavior": "allow"}}

    assert is_understood(twice, rule, schema.dialect)
    assert not is_understood(differing, rule, schema.dialect)
    assert faults(schema, "answer", twice)
    assert faults(schema, "answer", differing)
