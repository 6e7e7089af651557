"""Where the Muse dialect does what its users do not expect: kept as documented, and never without a word."""

from typing import Any

import pytest
from tests.field_reports.rig import TOUCH, Place, command, denying, document

from hookline._core.reasons import Skip
from hookline.journal import entries as en

UNHEARD = "proceeded_without_answer"
CAP = 16_384

# Each quote takes two bytes in JSON, and so in the payload.
PADDED = f"""
steps:
- call: {{tool: bash, input: {{command: touch MARK, description: '{'"' * 140_000}'}}}}
"""


@pytest.mark.parametrize("strict", [False, True])
def test_trap1_padding_a_call_past_the_cap_is_loud(place: Place, strict: bool) -> None:
    """A payload over 256 KiB skips the guard, as documented, and says so at the end; strict refuses the call."""
    place.write_project(document(PreToolUse=[command("echo no >&2; exit 2")]))

    told = place.exec(script=PADDED, options=("--strict",) if strict else ())

    assert place.mark is not strict
    [outcome] = told.outcomes("before_tool_call")
    assert (outcome.kind, outcome.why) == ("skipped", Skip.PAYLOAD_TOO_LARGE.value)
    assert "was skipped: the payload is 28" in told.lines[-1]
    assert (UNHEARD in told.lines[-1]) is not strict


def test_trap2_exit_two_without_a_word_is_named(place: Place) -> None:
    """Exit 2 with nothing on standard error blocks nothing; its outcome says which half is missing."""
    place.write_project(document(PreToolUse=[command("echo no; exit 2"), command("echo ' ' >&2; exit 2")]))

    told = place.exec(TOUCH)

    assert place.mark
    text = "exited with 2 but wrote no reason to standard error, so nothing was blocked"
    assert [outcome.detail for outcome in told.outcomes("before_tool_call")] == [text, text]
    assert all(text in line for line in told.lines[-2:])


def test_trap3_fallbacks_run_in_turn_and_each_is_told(place: Place) -> None:
    """Three fallbacks, each called because the one before failed; the first that answers counts, and all are traced."""
    fourth = command(denying("the last one says no"))
    third = command("exit 5", onFailure=fourth)
    second = command("echo '{'", onFailure=third)
    place.write_project(document(PreToolUse=[command("exit 3", onFailure=second)]))

    told = place.exec(TOUCH, options=("--json",))

    assert not place.mark
    [outcome] = told.outcomes("before_tool_call")
    assert [link.why for link in outcome.links] == ["exit_code", "malformed_answer", "exit_code"]
    assert outcome.decision == en.Decision(decision="deny", reason="the last one says no")
    runs = told.payloads("hook_run_terminal")
    assert [run["status"] for run in runs] == ["failed", "failed", "failed", "blocked"]
    assert [run["hook_key"].partition("#")[2] for run in runs] == [
        "",
        "onFailure[0]",
        "onFailure[1]",
        "onFailure[2]",
    ]
    assert place.trace().count("exit_code") == 2


def test_trap3_a_fallback_is_for_failures_only(place: Place) -> None:
    """A block and an answer, an empty one included, are no failures: the fallback is not called."""
    lines = ["echo no >&2; exit 2", "echo '{}'", "echo text", "exit 0"]
    place.write_project(document(PreToolUse=[command(line, onFailure=command("touch CALLED")) for line in lines]))

    told = place.exec(TOUCH)

    assert not (place.project / "CALLED").exists()
    assert [outcome.links for outcome in told.outcomes("before_tool_call")] == [()] * 4


def test_trap3_a_faulty_fallback_skips_the_whole_hook(place: Place) -> None:
    """A fourth level, `async` or `if` in a fallback: the hook does not load, and the start says why."""
    deep = command("a", onFailure=command("b", onFailure=command("c", onFailure=command("d", onFailure=command("e")))))
    later, choosy = command("f", **{"async": True}), command("g", **{"if": "Bash"})
    place.write_project(
        document(PreToolUse=[deep, command("h", onFailure=later), command("i", onFailure=choosy), command("exit 0")])
    )

    told = place.exec(TOUCH)

    assert told.lines[2:6] == [
        "hookline: Hooks: 1 runnable · 3 warnings",
        "hookline:   hooks.json: UnsupportedHandler: onFailure chains may be at most three levels deep",
        "hookline:   hooks.json: UnsupportedHandler: in `onFailure`: `async` may not be set here",
        "hookline:   hooks.json: UnsupportedHandler: in `onFailure`: `if` may not be set here",
    ]


def managed(**second: Any) -> dict[str, Any]:
    return document(PreToolUse=[command("exit 0", name="first", timeout_ms=1000), command("exit 0", **second)])


def test_trap4_one_strict_handler_makes_the_file_strict(place: Place) -> None:
    """In a managed file a single `name` asks `name` and whole seconds of every handler; a breach rejects the file."""
    place.write_settings(managed_hooks_path="managed.json")
    place.write_managed(managed(name="second", timeout_ms=2000))
    assert len(place.exec(TOUCH).outcomes("before_tool_call")) == 2

    for breach, text in (
        ({}, "managed hook handler must declare `name` and `timeout_ms`"),
        ({"name": "second", "timeout_ms": 1500}, "must be a whole number of seconds, found 1500 ms"),
        ({"name": "first", "timeout_ms": 1000}, "name `first` is declared twice"),
    ):
        place.write_managed(managed(**breach))
        told = place.exec(TOUCH)
        assert told.outcomes("before_tool_call") == []
        assert told.lines[2] == "hookline: Hooks: 0 runnable · 1 warning"
        assert text in told.lines[3]


def test_trap4_elsewhere_the_two_keys_are_unknown(place: Place) -> None:
    """In a project file `timeout_ms` is no key at all: its hook is skipped, the others run."""
    place.write_project(document(PreToolUse=[command("exit 0", timeout_ms=1000), command("exit 0")]))

    told = place.exec(TOUCH)

    assert [outcome.hook.id for outcome in told.outcomes("before_tool_call")] == ["hooks.json:PreToolUse[1].hooks[0]"]
    assert "unknown handler field `timeout_ms`" in told.err


def test_trap5_each_stream_has_the_cap_to_itself(place: Place) -> None:
    """Both streams full to the cap are still an answer: neither counts against the other."""
    line = f"head -c {CAP} /dev/zero | tr '\\0' x; head -c {CAP} /dev/zero | tr '\\0' y >&2"
    place.write_project(document(SessionStart=[command(line)]))

    told = place.exec()

    [outcome] = told.outcomes("session_start")
    assert (outcome.kind, outcome.stdout_size, outcome.stderr_size) == ("answered", CAP, CAP)
