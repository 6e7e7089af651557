import json
from typing import Any

import pytest

from hookline._core.hooks import Source
from hookline._core.problems import Scope
from hookline.dialects.muse.config import Found, read_document
from hookline.dialects.muse.environment import Launch
from hookline.dialects.muse.rules import RULES

LAUNCH = Launch(("/bin/sh", "-c"), {}, windows=False)
OK = {"type": "command", "name": "a", "command": "true", "timeout_ms": 2000}


def read(*handlers: Any, event: str = "Stop", layer: str = "managed", **keys: Any) -> Found:
    document = {"hooks": {event: [{**keys, "hooks": list(handlers)}]}}
    source = Source(layer=layer, label="managed.json", path="/m/managed.json")
    return read_document(json.dumps(document).encode(), source=source, launch=LAUNCH)


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in OK.items() if key != name}


def test_the_strict_form_loads() -> None:
    """A file in which every handler has a name and a timeout in milliseconds is in force as a whole."""
    found = read(OK, {**OK, "name": "b", "async": True, "statusMessage": "x"})

    assert (found.problems, [hook.timeout for hook in found.hooks]) == ((), [2.0, 2.0])


def test_without_its_keys_a_managed_file_is_an_ordinary_one() -> None:
    """A managed file in which no handler has either key may use everything that a hook file may."""
    found = read({"type": "command", "command": "x", "timeout": 3}, {"type": "command", "command": ""})

    assert [hook.timeout for hook in found.hooks] == [3.0]
    assert [problem.scope for problem in found.problems] == [Scope.HOOK]


@pytest.mark.parametrize("layer", ["user", "project"])
def test_only_managed_files_have_a_strict_form(layer: str) -> None:
    """L31: elsewhere its keys are unknown ones, and each handler that has one is skipped."""
    found = read({"type": "command", "command": "x"}, OK, layer=layer)

    assert len(found.hooks) == 1
    assert [problem.code for problem in found.problems] == ["UnsupportedHandler"]


DECLARE = "managed hook handler must declare `name` and `timeout_ms`"
WHOLE = "managed hook handler field `timeout_ms` must be a whole number of seconds, found "

# (case, the second handler, message, path within the group)
BREACHES = [
    ("L32 a handler without either", {"type": "command", "command": "x"}, DECLARE, "hooks[1]"),
    ("no name", without("name"), DECLARE, "hooks[1]"),
    ("no timeout", without("timeout_ms"), DECLARE, "hooks[1]"),
    ("a key of the ordinary form", {**OK, "name": "b", "timeout": 2},
     "managed hook handler field `timeout` is not admitted beside `name` and `timeout_ms`", "hooks[1].timeout"),
    ("a fallback", {**OK, "name": "b", "onFailure": OK},
     "managed hook handler field `onFailure` is not admitted beside `name` and `timeout_ms`", "hooks[1].onFailure"),
    ("a name with a space", {**OK, "name": "b c"},
     "managed hook handler field `name` must match [A-Za-z0-9][A-Za-z0-9._-]{0,79}", "hooks[1].name"),
    ("a name twice", OK, "managed hook handler name `a` is declared twice", "hooks[1].name"),
    ("half a second", {**OK, "name": "b", "timeout_ms": 1500}, WHOLE + "1500 ms", "hooks[1].timeout_ms"),
    ("no time at all", {**OK, "name": "b", "timeout_ms": 0}, WHOLE + "0 ms", "hooks[1].timeout_ms"),
    ("a timeout that is a word", {**OK, "name": "b", "timeout_ms": "1"},
     "hook handler field `timeout_ms` must be a non-negative integer, found a string", "hooks[1].timeout_ms"),
    ("a name that is a number", {**OK, "name": 5},
     "hook handler field `name` must be a string, found a number", "hooks[1].name"),
    ("another type", {**OK, "name": "b", "type": "http"}, "hook handler type `http` is unsupported", "hooks[1].type"),
    ("an empty command", {**OK, "name": "b", "command": ""}, "command hook command must not be empty",
     "hooks[1].command"),
]  # fmt: skip


@pytest.mark.parametrize("case", BREACHES, ids=[case[0] for case in BREACHES])
def test_one_breach_rejects_the_file(case: tuple[str, Any, str, str]) -> None:
    """In the strict form any breach leaves nothing of the file in force, and the first one is named."""
    _, handler, message, path = case

    found = read(OK, handler)

    assert found.hooks == ()
    [problem] = found.problems
    assert (Scope.FILE, "MalformedConfig", message) == (problem.scope, problem.code, problem.message)
    assert f"hooks.Stop[0].{path}" == problem.where.path
    assert problem.where.column > 0


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_fewer_events_are_admitted(rule: Any) -> None:
    """An event that the strict form does not have rejects the file, although the ordinary form has it."""
    found = read(OK, event=rule.name)

    assert rule.strict_form == (len(found.hooks) == 1)
    if not rule.strict_form:
        [problem] = found.problems
        assert (problem.scope, problem.code) == (Scope.FILE, "UnsupportedEvent")


def test_groups_are_strict_too() -> None:
    """A group's unknown key or broken matcher rejects the file like anything else."""
    unknown, broken = read(OK, note="x"), read(OK, event="PreToolUse", matcher="[")

    assert (unknown.hooks, broken.hooks) == ((), ())
    problems = [*unknown.problems, *broken.problems]
    assert [(problem.scope, problem.code) for problem in problems] == [
        (Scope.FILE, "MalformedConfig"),
        (Scope.FILE, "InvalidMatcher"),
    ]


def test_one_file_may_serve_two_platforms() -> None:
    """A handler for Windows only is skipped elsewhere, and the rest of the file stays in force."""
    windows_only = {**without("command"), "name": "b", "commandWindows": "dir"}

    found = read(OK, windows_only)

    assert len(found.hooks) == 1
    assert [(problem.scope, problem.rule) for problem in found.problems] == [(Scope.HOOK, "D63")]


def test_the_keys_count_wherever_they_stand() -> None:
    """A switch key under an unknown event, or within a fallback, asks for the strict form of the whole file."""
    plain = {"type": "command", "command": "x"}

    assert [each.message for each in read({**plain, "onFailure": {**plain, "name": "b"}}).problems] == [DECLARE]
    assert [each.code for each in read(OK, event="OnSave").problems] == ["UnsupportedEvent"]
    assert [each.scope for each in read(OK, event="OnSave").problems] == [Scope.FILE]
