"""Section 6.4: what one agent changes of its hooks."""

import json
from typing import Any

import pytest

from hookline._core.problems import Scope
from hookline.dialects.meerkat.entries import Command, Entry, Http, InProcess
from hookline.dialects.meerkat.overrides import Effective, Overrides, effective, parse_overrides, read_overrides
from hookline.dialects.meerkat.words import Capability, HookPoint, Mode

KEEP, DROP = Entry(id="keep"), Entry(id="drop", point=HookPoint.RUN_STARTED)
ILLEGAL = Entry(id="bad", mode=Mode.BACKGROUND, capability=Capability.GUARDRAIL)


def test_an_object_of_the_wire() -> None:
    """Every field of an entry means in overrides what it means in a file; a legacy policy is ignored and said."""
    text = """{
      "entries": [
        {"id": "a", "point": "pre_tool_execution", "capability": "guardrail", "failure_policy": "deny",
         "timeout_ms": null, "runtime": {"type": "in_process", "name": "h"}},
        {"id": "b", "enabled": false, "priority": -1, "timeoutMs": 5,
         "runtime": {"type": "http", "url": "http://h", "headers": {"A": "b"}}}],
      "disable": ["c"], "also": 1
    }"""
    a = Entry(id="a", point=HookPoint.PRE_TOOL_EXECUTION, capability=Capability.GUARDRAIL, runtime=InProcess("h"))
    b = Entry(id="b", enabled=False, priority=-1, runtime=Http("http://h", headers=(("A", "b"),)))

    overrides, problems = parse_overrides(text)

    assert Overrides(entries=(a, b), disable=("c",)) == overrides
    assert [
        (Scope.NOTE, "FailurePolicyIgnored", 3, "entries[0].failure_policy"),
        (Scope.NOTE, "UnknownKey", 5, "entries[1].timeoutMs"),
        (Scope.NOTE, "UnknownKey", 7, "also"),
    ] == [(each.scope, each.code, each.where.line, each.where.path) for each in problems]
    for key, each in zip(('"failure_policy":', '"timeoutMs":', '"also":'), problems, strict=True):
        assert text.split("\n")[each.where.line - 1][each.where.column - 1 :].startswith(key)
    assert '(did you mean "timeout_ms"?)' in problems[1].message
    assert (read_overrides(json.loads(text)).overrides, parse_overrides(text.encode()).overrides) == (overrides,) * 2


# (JSON text, code, line, column, path, part of the message)
ERRORS = [
    ("", "MalformedJson", 1, 1, "", "malformed JSON: nothing in it"),
    ("{,}", "MalformedJson", 1, 2, "", "malformed JSON"),
    ('{"disable": [], "disable": []}', "MalformedJson", 1, 17, "", "duplicate key `disable`"),
    ("[" * 200, "MalformedJson", 1, 101, "", "nested more than 100 levels deep"),
    ("[]", "WrongType", 1, 1, "", "overrides must be an object with `entries` and `disable`, found an array"),
    ("null", "WrongType", 1, 1, "", "found null"),
    ('{"entries": {}}', "WrongType", 1, 13, "entries", "`entries` must be an array of tables"),
    ('{"entries": null}', "WrongType", 1, 13, "entries", "found null"),
    ('{"entries": [1]}', "WrongType", 1, 14, "entries[0]", "`entries[0]` must be a table"),
    ('{"disable": "a"}', "WrongType", 1, 13, "disable", "`disable` must be an array of strings"),
    ('{"disable": ["a", 1]}', "WrongType", 1, 19, "disable[1]", "`disable[1]` must be a string"),
    ('{"entries": [{"runtime": null}]}', "WrongType", 1, 26, "entries[0].runtime", "must be a table, found null"),
    ('{"entries": [{"enabled": null}]}', "WrongType", 1, 26, "entries[0].enabled", "found null"),
    ('{"entries": [{"timeout_ms": 1.0}]}', "WrongType", 1, 29, "entries[0].timeout_ms", "a number with a fraction"),
    ('{"entries": [\n {"mode": "blocking"}]}', "UnknownMode", 2, 11, "entries[0].mode", 'found "blocking"'),
]


@pytest.mark.parametrize("case", ERRORS, ids=[f"{case[1]} {index}" for index, case in enumerate(ERRORS)])
def test_overrides_at_fault_are_none(case: tuple[str, str, int, int, str, str]) -> None:
    """Nothing of an object that is wrong somewhere is used; the fault has its place in the text."""
    text, code, line, column, path, message = case

    overrides, [problem] = parse_overrides(text)

    assert overrides is None
    assert (Scope.SETTINGS, code, line, column, path) == (
        problem.scope, problem.code, problem.where.line, problem.where.column, problem.where.path
    )  # fmt: skip
    assert message in problem.message
    assert "hook" in problem.where.label


# What only a program can pass: (dict, code, path, part of the message)
FROM_PYTHON: list[tuple[Any, str, str, str]] = [
    ({"disable": ["\ud800"]}, "WrongType", "disable[0]", "half a character"),
    ({"entries": [{"id": b"x"}]}, "WrongType", "entries[0].id", "found a value of type bytes"),
    ({"entries": ({"mode": Mode.FOREGROUND},)}, "WrongType", "entries[0].mode", "found a value of type Mode"),
    ({"entries": [{"runtime": {"type": "command", "command": "c", "env": {1: "x"}}}]}, "WrongType",
     "entries[0].runtime.env", "`env` must have strings for keys, found a whole number"),
    (7, "WrongType", "", "found a whole number"),
]  # fmt: skip


@pytest.mark.parametrize("case", FROM_PYTHON, ids=[f"{case[2]} {index}" for index, case in enumerate(FROM_PYTHON)])
def test_a_dict_is_read_as_strictly(case: tuple[Any, str, str, str]) -> None:
    """What JSON cannot hold is refused by its path; there is no line to name."""
    value, code, path, message = case

    overrides, [problem] = read_overrides(value)

    assert overrides is None
    assert (code, 0, path) == (problem.code, problem.where.line, problem.where.path)
    assert message in problem.message


def test_a_key_that_is_no_string_is_ignored() -> None:
    """As any key that is unknown."""
    overrides, problems = read_overrides({1: 2, "entries": [{None: 1}]})
    assert Overrides(entries=(Entry(),)) == overrides
    assert ["UnknownKey", "UnknownKey"] == [each.code for each in problems]


def test_half_a_character_in_a_text_is_a_problem() -> None:
    """A text that cannot be UTF-8 is refused, not raised for."""
    [problem] = parse_overrides('{"disable": ["\ud800"]}').problems
    assert "MalformedJson" == problem.code


EFFECTS = [
    ("nothing asked", [KEEP, DROP], Overrides(), [KEEP, DROP], ""),
    ("D4 one taken out", [KEEP, DROP], Overrides(disable=("drop",)), [KEEP], ""),
    ("an unknown id taken out", [KEEP], Overrides(disable=("x", "keep ")), [KEEP], ""),
    ("added after the rest", [KEEP, DROP], Overrides(entries=(Entry(id="new"),)), [KEEP, DROP, Entry(id="new")], ""),
    ("added where there is nothing", [], Overrides(entries=(KEEP,)), [KEEP], ""),
    ("Q20 disable touches the base only", [KEEP], Overrides(entries=(DROP,), disable=("drop",)), [KEEP, DROP], ""),
    ("27 an id added that is there", [KEEP], Overrides(entries=(Entry(id="keep", priority=1),)), [],
     "duplicate hook id: keep"),
    ("27 replaced, and now last", [KEEP, DROP], Overrides((Entry(id="keep", priority=1),), ("keep",)),
     [DROP, Entry(id="keep", priority=1)], ""),
    ("an illegal one added", [KEEP], Overrides(entries=(ILLEGAL,)), [], "background hooks must be observe-only: bad"),
    ("two of an id added", [], Overrides(entries=(KEEP, Entry(id="keep"))), [], "duplicate hook id: keep"),
    ("22 an illegal one taken out of the base", [KEEP, ILLEGAL], Overrides(disable=("bad",)), [],
     "background hooks must be observe-only: bad"),
    ("an illegal base, nothing asked", [ILLEGAL], Overrides(), [], "background hooks must be observe-only: bad"),
]  # fmt: skip


@pytest.mark.parametrize("case", EFFECTS, ids=[case[0] for case in EFFECTS])
def test_the_five_rules(case: tuple[str, list[Entry], Overrides, list[Entry], str]) -> None:
    """What is in force is the base without what was disabled, then what was added, judged before and after."""
    _, base, overrides, entries, text = case

    found = effective(base, overrides)

    assert (tuple(entries), text) == (found.entries, found.text)
    assert bool(text) == bool(found.problems)


def test_two_of_an_id_are_two_even_if_they_are_one_object() -> None:
    """Whoever adds the very entry that the base has makes two; the message says where each of them stands."""
    assert "duplicate hook id: keep" == effective([KEEP], Overrides(entries=(KEEP,))).text

    added, _ = read_overrides({"entries": [{"id": "a"}, {"id": "a"}]})
    assert added is not None
    [problem] = effective([], added).problems
    assert "duplicate hook id: a: the first stands at entries[0] of hooks_override; write an id of its own" == (
        problem.message
    )
    assert ("hooks_override", "entries[1].id") == (problem.where.file, problem.where.path)


def test_the_base_alone_is_blamed_for_itself() -> None:
    """Where the base is illegal, what the overrides add is not judged."""
    found = effective([ILLEGAL], Overrides(entries=(Entry(id=""),)))
    assert ["background hooks must be observe-only: bad"] == [each.message.split(": `")[0] for each in found.problems]
    assert Effective((), found.problems, "background hooks must be observe-only: bad") == found


def test_what_is_written_is_the_wire() -> None:
    """An in-process entry writes `handler`; what is hookline's own is written only where it was set."""
    plain = Entry(id="c", runtime=Command("c", args=("a",), env=(("A", "b"),)))
    alone = Entry(id="d", timeout_ms=0, runtime=Command("c", inherit_env=False))
    common = {"enabled": True, "point": "turn_boundary", "mode": "foreground", "capability": "observe", "priority": 100}
    assert {
        "entries": [
            {"id": "hook", **common, "runtime": {"type": "in_process", "handler": "noop"}},
            {"id": "c", **common, "runtime": {"type": "command", "command": "c", "args": ["a"], "env": {"A": "b"}}},
            {"id": "d", **common, "timeout_ms": 0,
             "runtime": {"type": "command", "command": "c", "args": [], "env": {}, "inherit_env": False}},
        ],
        "disable": ["x"],
    } == Overrides((Entry(), plain, alone), ("x",)).wire()  # fmt: skip
