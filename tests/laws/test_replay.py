"""Replaying: what real sessions come to, put to the hooks that they had, to more, and to fewer."""

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hookline as hl
from hookline._engines import open_files
from hookline.journal import Entry, read
from hookline.journal import entries as en
from hookline.workbench.opening import Chosen
from hookline.workbench.replay import AS_IT_IS, Terms, replay
from hookline.workbench.replayed import Change, Found, Kind, Replayed

ENV = {"PATH": "/usr/bin:/bin"}
REWRITTEN = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "echo rewritten"}}}
DENIAL = {"decision": {"decision": "deny", "reason_code": "policy_violation", "message": "bad"}}

MUSE = {
    "guard": ("PreToolUse", "bash", "grep -q forbidden && { echo no >&2; exit 2; }; exit 0"),
    "fails": ("PreToolUse", "bash", "echo odd >&2; exit 7"),
    "rewrites": (
        "PreToolUse",
        "bash",
        f"grep -q plain && echo '{json.dumps(REWRITTEN)}'; exit 0",
    ),
    "context": ("UserPromptSubmit", "", "echo the sky is blue"),
    "feedback": ("PostToolUse", "", """echo '{"decision": "block", "reason": "look again"}'"""),
}
MEERKAT = {
    "denies": (
        "pre_tool_execution",
        f"grep -q bad && echo '{json.dumps(DENIAL)}' || echo '{{}}'",
    ),
    "watches": ("post_llm_response", "echo '{}'"),
}
COMMANDS = ("echo forbidden", "echo plain", "echo bad", "exit 3", "true")


def muse(names: Sequence[str], matcher: str | None = None) -> str:
    hooks: dict[str, list[object]] = {}
    for name in names:
        event, own, command = MUSE[name]
        entry = {"hooks": [{"type": "command", "command": command}]}
        hooks.setdefault(event, []).append(entry | ({"matcher": own} if own else {}))
    return json.dumps({"hooks": hooks})


def meerkat(names: Sequence[str]) -> str:
    return "".join(
        f"[[hooks.entries]]\nid = '{name}'\npoint = '{MEERKAT[name][0]}'\ncapability = 'guardrail'\n"
        f"runtime = {{ type = 'command', command = '/bin/sh', args = ['-c', '''{MEERKAT[name][1]}'''] }}\n"
        for name in names
    )


def files(folder: Path, ours: Sequence[str], theirs: Sequence[str]) -> tuple[Path, ...]:
    folder.mkdir(exist_ok=True)
    (folder / "hooks.json").write_text(muse(ours))
    (folder / "config.toml").write_text(meerkat(theirs))
    return folder / "hooks.json", folder / "config.toml"


async def record(folder: Path, configs: Sequence[Path], steps: object, env: Mapping[str, str] = ENV) -> Path:
    """A real session with these hooks; its journal."""
    project = open_files(configs, env=env)
    async with (
        project.engine,
        hl.Session(
            project.engine,
            model=hl.ScriptModel.parse(json.dumps({"steps": steps})),
            tools=hl.tools(),
            approval=hl.ApprovalMode.NEVER,
            workspace=folder,
            journals=hl.JournalFolder(folder / "sessions", env=env),
        ) as session,
    ):
        await session.run("go")
    (path,) = (folder / "sessions").glob("*.jsonl")
    return path


async def replayed(path: Path, configs: Sequence[Path], terms: Terms = AS_IT_IS) -> tuple[list[Found], Replayed]:
    chosen = Chosen(files=tuple(configs), env=ENV)
    found = [each async for each in replay(path, chosen, terms)]
    assert isinstance(found[-1], Replayed)
    return found[:-1], found[-1]


def lines_of(found: Sequence[Found], kind: Kind) -> list[int]:
    return [each.line for each in found if isinstance(each, Change) and kind in each.kinds]


def dispatched(path: Path) -> list[tuple[int, en.Dispatched]]:
    entries = (each for each in read(path) if isinstance(each, Entry))
    return [(each.line, each.body) for each in entries if isinstance(each.body, en.Dispatched)]


def is_denied(line: en.Dispatched) -> bool:
    return line.failed_run is not None or (line.decision is not None and line.decision.decision == "deny")


def steps_of(commands: Sequence[str]) -> list[object]:
    calls = [{"tool": "bash", "input": {"command": command}} for command in commands]
    return [{"calls": [*calls, {"tool": "no_such_tool", "input": {}}]}, {"say": "done"}]


@pytest.mark.slow
@pytest.mark.timeout(120)
@settings(max_examples=12, deadline=None)
@given(
    ours=st.lists(st.sampled_from(sorted(MUSE)), unique=True),
    theirs=st.lists(st.sampled_from(sorted(MEERKAT)), unique=True),
    commands=st.lists(st.sampled_from(COMMANDS), min_size=1, max_size=3),
)
def test_a_session_put_to_its_own_hooks_changes_nothing(
    ours: list[str], theirs: list[str], commands: list[str]
) -> None:
    """Hooks that say the same of the same event say it again, whatever they say: reasons and selection included."""

    async def both(folder: Path) -> None:
        configs = files(folder / "config", ours, theirs)
        path = await record(folder, configs, steps_of(commands))
        for terms in (Terms(reasons=True), Terms(dry_run=True)):
            found, ended = await replayed(path, configs, terms)
            assert [] == found
            assert ended.is_fine
        assert len(dispatched(path)) == ended.events

    with tempfile.TemporaryDirectory() as name:
        asyncio.run(both(Path(name)))


@pytest.mark.slow
@pytest.mark.timeout(120)
@settings(max_examples=12, deadline=None)
@given(
    ours=st.lists(st.sampled_from(sorted(MUSE)), unique=True),
    theirs=st.lists(st.sampled_from(sorted(MEERKAT)), unique=True),
    commands=st.lists(st.sampled_from(COMMANDS), min_size=1, max_size=3),
)
def test_every_denial_that_comes_or_goes_is_told(ours: list[str], theirs: list[str], commands: list[str]) -> None:
    """A guard that denies everything denies what it is asked about and was let through; without hooks nothing is."""

    async def all_of_it(folder: Path) -> None:
        path = await record(folder, files(folder / "config", ours, theirs), steps_of(commands))
        everything = folder / "all.json"
        everything.write_text(
            json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}})
        )
        events = dispatched(path)
        denied = [line for line, body in events if is_denied(body)]
        calls = [
            line
            for line, body in events
            if body.event["point"] == "before_tool_call" and body.event["tool_name"] == "bash"
        ]

        found, _ = await replayed(path, [everything])
        assert [line for line in calls if line not in denied] == lines_of(found, Kind.NEWLY_DENIED)

        found, _ = await replayed(path, files(folder / "none", [], []))
        assert denied == lines_of(found, Kind.NO_LONGER_DENIED)

    with tempfile.TemporaryDirectory() as name:
        asyncio.run(all_of_it(Path(name)))


def test_a_rewrite_and_a_failure_that_are_new_are_told(tmp_path: Path) -> None:
    """What an event was left as, and which hook gave no answer, count beside the decision."""

    async def found() -> list[Found]:
        path = await record(tmp_path, files(tmp_path / "before", [], []), steps_of(["echo plain"]))
        return (await replayed(path, files(tmp_path / "after", ["rewrites", "fails"], [])))[0]

    (change,) = asyncio.run(found())
    assert isinstance(change, Change)
    assert (Kind.LEFT_OTHERWISE, Kind.NEWLY_FAILING) == change.kinds
    assert ({}, {"input": {"command": "echo rewritten"}}) == (change.then.left, change.now.left)
    assert {"exit_code"} == set(change.now.failed.values())


def test_a_call_of_a_tool_that_there_is_not_comes_back_as_that(tmp_path: Path) -> None:
    """No guard of Muse's was asked about it then, and none is asked now."""

    async def asked() -> int:
        configs = files(tmp_path / "config", ["guard"], [])
        path = await record(tmp_path, configs, steps_of([]))
        return (await replayed(path, configs))[1].asked

    assert 0 == asyncio.run(asked())


def test_a_secret_is_compared_by_its_name(tmp_path: Path) -> None:
    """A journal has no secret: what a hook says now is not another answer because it holds one."""
    env = {"PATH": "/usr/bin:/bin", "DEPLOY_TOKEN": "open-sesame-1234"}
    config = tmp_path / "hooks.json"
    hook = {"type": "command", "command": "echo the word is open-sesame-1234"}
    config.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}))

    async def found(known: dict[str, str]) -> list[Found]:
        chosen = Chosen(files=[config], env=known)
        return [each async for each in replay(path, chosen)][:-1]

    path = asyncio.run(record(tmp_path, [config], steps_of([]), env))
    assert b"[redacted:DEPLOY_TOKEN]" in path.read_bytes()
    assert [] == asyncio.run(found(env))
    assert 1 == len(asyncio.run(found({"PATH": env["PATH"]})))
