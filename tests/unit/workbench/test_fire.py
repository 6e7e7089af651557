"""Hooks asked about one event for real: what crossed, and what came of it."""

import json
from pathlib import Path

import pytest
from tests.unit.workbench.rig import command, fired, meerkat_file, muse_file, project

import hookline as hl
from hookline._core.errors import UsageError
from hookline.workbench.asked_rows import fired_rows
from hookline.workbench.fire import Fired, prepare
from hookline.workbench.occurrences import Wanted, from_payload, occurrence_of, recorded

LS = occurrence_of(Wanted(point="PreToolUse", tool="Bash", input={"command": "ls"}))

REWRITES = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {"command": "ls -l"},
    }
}


async def test_what_is_said_to_have_crossed_is_what_the_hook_read(tmp_path: Path) -> None:
    """Byte for byte, of a hook that keeps its standard input."""
    file = muse_file(tmp_path, PreToolUse=[command(f"cat > {tmp_path}/read")])

    found = await fired(tmp_path, LS, file)

    assert (tmp_path / "read").read_bytes() == found.sent[0].body
    assert {"command": "ls"} == json.loads(found.sent[0].body)["tool_input"]


async def test_a_later_dialect_is_shown_the_event_as_it_was_left(tmp_path: Path) -> None:
    """What crossed to it is the rewritten input, here as in a session."""
    muse_file(tmp_path, PreToolUse=[command(f"echo '{json.dumps(REWRITES)}'")])
    seen = f"cat > {tmp_path}/read; echo '{{}}'"
    runtime = f'[hooks.entries.runtime]\ntype = "command"\ncommand = "sh"\nargs = ["-c", "{seen}"]\n'
    meerkat_file(tmp_path, f'[[hooks.entries]]\nid = "a"\npoint = "pre_tool_execution"\n{runtime}')

    found = await fired(tmp_path, LS)

    (late,) = [each for each in found.sent if each.hook.dialect == "meerkat"]
    assert (tmp_path / "read").read_bytes() == late.body
    assert {"command": "ls -l"} == json.loads(late.body)["tool_call"]["args"]
    assert {"command": "ls -l"} == found.resolution.event.input


async def test_hooks_in_the_background_are_waited_for(tmp_path: Path) -> None:
    """Their ends are part of what is shown; one that does not end in time is named."""
    file = muse_file(tmp_path, PreToolUse=[command("exit 3", **{"async": True})])

    found = await fired(tmp_path, LS, file)

    assert ["failed"] == [each.outcome.kind for each in found.background]
    assert ((), False) == (found.abandoned, found.is_fine)


async def test_a_fallback_is_shown_with_what_it_stood_in_for(tmp_path: Path) -> None:
    """The attempt that failed, and who answered in the end."""
    file = muse_file(tmp_path, PreToolUse=[command("exit 1", onFailure=command("echo no >&2; exit 2"))])

    found = await fired(tmp_path, LS, file)

    (outcome,) = found.dispatched.outcomes
    assert (["exit_code"], "no") == ([each.why for each in outcome.links], found.resolution.reason)


async def test_fine_is_only_what_everybody_answered_and_nobody_denied(tmp_path: Path) -> None:
    """A denial, a failure, a run that fails: none of them is fine."""
    for line, fine in (("true", True), ("exit 1", False), ("echo no >&2; exit 2", False)):
        assert fine == (await fired(tmp_path, LS, muse_file(tmp_path, PreToolUse=[command(line)]))).is_fine


async def test_what_a_hook_wrote_is_shown(tmp_path: Path) -> None:
    """The first line of each stream, once; all of it where that is asked for, and the reason of a denial not again."""
    line = "echo a; echo b; echo c >&2; echo d >&2; exit {}"
    file = muse_file(tmp_path, PreToolUse=[command(line.format(0)), command("echo no >&2; exit 2")])
    failing = muse_file(tmp_path / "failing", PreToolUse=[command(line.format(3))])

    def streams(fired: Fired, *, whole: bool) -> list[str]:
        rows = (spans for _, spans in fired_rows(fired, whole=whole))
        return [f"{spans[0].text} {spans[1].text}" for spans in rows if spans[0].text in ("stdout", "stderr")]

    found, failed = await fired(tmp_path, LS, file), await fired(tmp_path, LS, failing)

    assert ["stderr c", "stdout a"] == streams(found, whole=False)
    assert ["stdout a", "stdout b", "stderr c", "stderr d", "stderr no"] == streams(found, whole=True)
    assert ["stderr c", "stdout a"] == streams(failed, whole=False)
    assert ["stdout a", "stdout b", "stderr c", "stderr d"] == streams(failed, whole=True)


def test_a_dry_run_starts_nothing(tmp_path: Path) -> None:
    """It shows what would cross, and no hook leaves a mark."""
    file = muse_file(tmp_path, PreToolUse=[command(f"touch {tmp_path}/mark")])

    prepared = prepare(project(tmp_path, file), LS)

    assert ["hooks.json:PreToolUse[0].hooks[0]"] == [each.hook.id for each in prepared.sent]
    assert "PreToolUse" == json.loads(prepared.sent[0].text)["hook_event_name"]
    assert not (tmp_path / "mark").exists()


async def test_as_json_it_is_the_explanation_and_a_line_of_a_journal(tmp_path: Path) -> None:
    """The keys that scripts may rely on."""
    told = (await fired(tmp_path, LS, muse_file(tmp_path, PreToolUse=[command("true")]))).as_json()

    assert {"event", "subjects", "dialects", "not_loaded", "sent", "dispatched", "background", "abandoned"} == set(told)
    json.dumps(told)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{", "p.json:1:2: this is no JSON"),
        (b"[]", "p.json: a payload is a JSON object, found array"),
        (b'{"a": 1}', "p.json: no dialect has payloads of this form; known are those of muse, meerkat, murmur"),
        (b'{"hook_event_name": "PreToolUs"}', 'did you mean "PreToolUse"'),
        (b'{"hook_event_name": "Stop", "point": "run_started"}', "this has members of muse and of meerkat"),
        (b'{"a": 1, "a": 2}', "duplicate key"),
    ],
)
def test_a_payload_that_is_none_is_one_clear_line(data: bytes, words: str) -> None:
    """The file, the place, what to do."""
    with pytest.raises(UsageError) as raised:
        from_payload(data, "p.json")

    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_payload_is_matched_by_every_name_of_its_tool(tmp_path: Path) -> None:
    """A payload says `bash`; a matcher that says `Bash` is asked all the same, as in a session."""
    file = muse_file(tmp_path, PreToolUse=[{"matcher": "Bash", "hooks": [command("true")]}])
    (sent,) = prepare(project(tmp_path, file), LS).sent

    event = from_payload(sent.body, "payload", "pre_tool_execution")

    assert isinstance(event, hl.BeforeToolCall)
    assert 1 == len(prepare(project(tmp_path, file), event).sent)
    with pytest.raises(UsageError, match="holds an event before_tool_call, and Stop was asked for"):
        from_payload(sent.body, "payload", "Stop")


async def test_a_recorded_event_is_asked_about_again(tmp_path: Path) -> None:
    """As the hooks were asked, whatever they made of it; a line without one, and a damaged one, is said."""
    muse_file(tmp_path, PreToolUse=[command(f"echo '{json.dumps(REWRITES)}'")])
    model = hl.ScriptModel.parse("steps:\n- call: {tool: bash, input: {command: ls}}\n- say: done\n")
    journals = hl.JournalFolder(tmp_path / "sessions")
    async with project(tmp_path).engine as engine:
        session = hl.Session(engine, model=model, tools=hl.tools(), journals=journals, workspace=tmp_path)
        async with session:
            await session.run("go")
    (path,) = (tmp_path / "sessions").iterdir()

    event = recorded(path, None, "PreToolUse")

    assert isinstance(event, hl.BeforeToolCall)
    assert {"command": "ls"} == event.input
    with pytest.raises(UsageError, match=":1 holds no line with an event"):
        recorded(path, 1, None)
    with path.open("a") as file:
        file.write("broken\n")
    with pytest.raises(UsageError, match="not an entry"):
        recorded(path, len(path.read_text().splitlines()), None)
