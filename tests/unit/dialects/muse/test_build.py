import json
from typing import Any

import pytest

from hookline._core import events as ev
from hookline._core.decisions import Deny
from hookline._core.hooks import Hook, Source
from hookline._core.rules import Rule
from hookline._core.targets import CommandTarget
from hookline.dialects.muse.config import read_document
from hookline.dialects.muse.environment import Launch
from hookline.dialects.muse.rules import RULES

SOURCE = Source(layer="project", label="hooks.json", path="/p/.muse/hooks.json")
LAUNCH = Launch(("/bin/sh", "-c"), {"PATH": "/bin"}, windows=False)
ON_WINDOWS = Launch(("cmd.exe", "/C"), {}, windows=True)

OK = {"type": "command", "command": "true"}


def built(document: Any, *, launch: Launch = LAUNCH) -> tuple[Hook, ...]:
    text = document if isinstance(document, str) else json.dumps(document)
    return read_document(text.encode(), source=SOURCE, launch=launch).hooks


def hooks(**events: Any) -> dict[str, Any]:
    return {"hooks": events}


def group(*handlers: Any, **keys: Any) -> list[Any]:
    return [{**keys, "hooks": list(handlers)}]


def on(event: str, **fields: Any) -> dict[str, Any]:
    """A document with one handler on *event*, with *fields*; None leaves a field out."""
    handler = {name: value for name, value in {**OK, **fields}.items() if value is not None}
    return hooks(**{event: group(handler)})


def test_a_hook_says_all_that_its_handler_says() -> None:
    """Every field of a handler has its place in the hook, and the hook knows where it was declared."""
    text = (
        '{"hooks": {"PreToolUse": [{"matcher": "^Ba", "hooks": [\n'
        ' {"type": "command", "command": "guard", "timeout": 5, "statusMessage": "Guarding"}]}]}}'
    )

    [hook] = built(text)

    assert hook.id == "hooks.json:PreToolUse[0].hooks[0]"
    assert ev.BeforeToolCall is hook.event
    assert CommandTarget(argv=("/bin/sh", "-c", "guard"), env={"PATH": "/bin"}, written="guard") == hook.target
    assert (
        hook.dialect, hook.timeout, hook.background, hook.label, hook.fallback
    ) == ("muse", 5.0, False, "Guarding", None)  # fmt: skip
    assert Source(layer="project", label="hooks.json", path="/p/.muse/hooks.json", line=2) == hook.source
    assert Deny in hook.commits
    assert hook.selects(ev.BeforeToolCall(tool_name="bash", aliases=("Bash",), input={}))
    assert not hook.selects(ev.BeforeToolCall(tool_name="read_file", aliases=("Read",), input={}))


TIMEOUTS = [(None, 600.0), (0, 1.0), (1, 1.0), (100_000, 100_000.0), (10**30, 2**31 - 1.0)]


@pytest.mark.parametrize(("written", "seconds"), TIMEOUTS)
def test_timeouts(written: int | None, seconds: float) -> None:
    """600 s where nothing is said, never less than 1 s, and no ceiling but the clock's own."""
    [hook] = built(on("Stop", timeout=written))

    assert seconds == hook.timeout


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_what_a_hook_may_ask_for_is_what_its_event_admits(rule: Rule) -> None:
    """A foreground hook commits what the event's row admits; a background hook commits nothing."""
    found = built(hooks(**{rule.name: group(OK, {**OK, "async": True})}))

    assert [rule.admits, frozenset()] == [hook.commits for hook in found]
    assert [hook.background for hook in found] == [False, True]


def test_fallbacks_are_named_after_their_parents() -> None:
    """F01: a chain is one hook with its fallbacks behind it, each with its own id, key, timeout and line."""
    last = {**OK, "command": "last"}
    second = {**OK, "command": "second", "timeout": 2, "onFailure": last}

    [hook] = built(on("Stop", onFailure=second))

    first, then = hook.fallback, hook.fallback and hook.fallback.fallback
    assert first is not None
    assert then is not None
    assert then.fallback is None
    assert [f"{hook.id}.onFailure", f"{hook.id}.onFailure.onFailure"] == [first.id, then.id]
    assert [f"{hook.key}#onFailure[0]", f"{hook.key}#onFailure[1]"] == [first.key, then.key]
    assert (first.timeout, then.timeout) == (2.0, 600.0)
    assert (hook.commits, hook.commits) == (first.commits, then.commits)


def test_fallbacks_of_a_background_hook_stay_in_the_background() -> None:
    """A hook that may not ask for anything does not get to through its fallback."""
    [hook] = built(on("Stop", onFailure=OK, **{"async": True}))

    assert hook.fallback is not None
    assert (True, frozenset()) == (hook.fallback.background, hook.fallback.commits)


def test_a_key_names_a_definition() -> None:
    """Equal handlers share a key, whatever the order of their fields; event, matcher and every field are part of it."""
    turned = dict(reversed(OK.items()))
    found = built(
        hooks(PreToolUse=[*group(OK, turned, {**OK, "timeout": 600}), *group(OK, matcher="*")], PostToolUse=group(OK))
    )
    first, same, *others = [hook.key for hook in found]

    assert first == same
    assert len({first, *others}) == 4
    prefix, _, digest = first.rpartition("-")
    assert prefix == "/p/.muse/hooks.json:pre_tool_use:def"
    assert len(digest) == 16


def test_a_key_stays_the_same() -> None:
    """Keys are stored in settings files, so a new version must not give the same definition another one."""
    [hook] = built(hooks(Stop=group(OK)))

    assert hook.key == "/p/.muse/hooks.json:stop:def-c4d43535aecf9b15"


PLATFORMS = [
    ({"command": "a"}, "a", "a"),
    ({"command": "a", "commandWindows": "b"}, "a", "b"),
    ({"command": "a", "command_windows": "b"}, "a", "b"),
    ({"commandWindows": "b"}, None, "b"),
    ({"command": "a", "commandWindows": " "}, "a", None),
]


@pytest.mark.parametrize(("fields", "elsewhere", "windows"), PLATFORMS, ids=str)
def test_each_platform_has_its_command(fields: dict[str, str], elsewhere: str | None, windows: str | None) -> None:
    """The Windows form is used on Windows and nowhere else; a handler without a command for the platform is skipped."""
    document = hooks(Stop=group({"type": "command", **fields}))

    for launch, expected in ((LAUNCH, elsewhere), (ON_WINDOWS, windows)):
        commands = [hook.target.written for hook in built(document, launch=launch)]  # type: ignore[attr-defined]
        assert ([] if expected is None else [expected]) == commands
