"""`replay`: recorded sessions against other hooks."""

import json
import os
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.rig import Ended, Place, script

CAPSULE = Path(__file__).parents[3] / "examples/murmur"
GUARD = "grep -q forbidden && { echo no >&2; exit 2; }; exit 0"
CALLS = script(
    {"calls": [{"tool": "bash", "input": {"command": text}} for text in ("echo forbidden", "true")]}, {"say": "done"}
)


def muse(command: str, event: str = "PreToolUse") -> str:
    return json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}})


def record(place: Place, *more: str) -> Path:
    """A session of two calls, one of which the project's guard denies."""
    place.write(".muse/hooks.json", muse(GUARD))
    model = place.write("steps.yaml", CALLS)
    known = set(place.sessions.glob("*"))
    ended = place.run("exec", "--trust-workspace", "--yolo", "--provider", "script", "--model", str(model), *more, "go")
    assert (0, "done\n") == (ended.code, ended.out), ended.err
    (path,) = set(place.sessions.glob("*")) - known
    return path


def copy(path: Path, times: int) -> None:
    """More sessions like that in *path*, older than it and each newer than the one before."""
    for number in range(times):
        other = path.with_name(f"copy-{number}.jsonl")
        other.write_bytes(path.read_bytes().replace(path.stem.encode(), other.stem.encode()))
        os.utime(other, (number, number))


def objects(ended: Ended) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ended.out.splitlines()]


def kinds(ended: Ended) -> dict[str, int]:
    summary = objects(ended)[-1]
    assert summary["what"] == "summary"
    return dict(summary["by_kind"])


def test_the_hooks_of_the_session_s_own_folder_are_asked_by_default(place: Place) -> None:
    """From wherever it is called; what they are is said, and nothing changes with the hooks that there were."""
    record(place)
    elsewhere = place.root / "elsewhere"
    elsewhere.mkdir()
    place.project, project = elsewhere, place.project

    ended = place.run("replay", "last", "--trust-workspace")

    assert (0, "") == (ended.code, ended.err)
    first, against = ended.out.splitlines()
    assert first.startswith("=>  nothing changes  1 session, ")
    assert f"  against the hooks of  {project}" == against


def test_hooks_that_are_held_back_are_told_of(place: Place) -> None:
    """Else it would look as if the folder had none any more."""
    record(place)

    ended = place.run("replay", "last")

    assert 1 == ended.code
    assert "no longer denied" in ended.out
    assert "1 held back: folder not trusted; --trust-workspace trusts it for this once" in ended.out


def test_a_denial_that_is_gone_has_both_sides(place: Place) -> None:
    """Session, line, run, step, point, tool, input, then and now."""
    path = record(place)
    none = place.write("none.json", '{"hooks": {}}')

    ended = place.run("replay", path.stem[:13], "--against", str(none))

    assert 1 == ended.code
    session, where, change, whose, *_ = ended.out.splitlines()
    assert f"session  {path.stem}" == session
    assert "before_tool_call" in where
    assert 'bash  {"command": "echo forbidden"}' in where
    assert "    no longer denied  deny  ->  no decision" == change
    assert "      then by  hooks.json:PreToolUse[0].hooks[0]  no" == whose


def test_json_has_an_object_for_each_change_and_the_summary_last(place: Place) -> None:
    """One a line, so that it can be read while more is found."""
    record(place)
    everything = place.write("all.json", muse("echo no >&2; exit 2"))

    ended = place.run("replay", "--all", "--against", str(everything), "--json")

    change, summary = objects(ended)
    assert (1, "change", "summary") == (ended.code, change["what"], summary["what"])
    assert ["newly denied"] == change["kinds"]
    assert (None, "deny") == (change["then"]["decision"], change["now"]["decision"])
    assert (2, 1, False) == (summary["asked"], summary["changes"], summary["is_fine"])


def test_a_dry_run_calls_none(place: Place) -> None:
    """It tells where others would be asked."""
    record(place)
    marks = place.write("marks.json", muse(f"touch {place.root}/was-asked"))

    ended = place.run("replay", "last", "--against", str(marks), "--dry-run")

    assert 1 == ended.code
    assert 2 == ended.out.count("other hooks asked  +  marks.json:PreToolUse[0].hooks[0]")
    assert not (place.root / "was-asked").exists()


@pytest.mark.slow
def test_what_is_asked_about_can_be_narrowed(place: Place) -> None:
    """By the names that any dialect has, and by time."""
    record(place)
    place.write("none.json", '{"hooks": {}}')

    def asked(*options: str) -> tuple[int, dict[str, int]]:
        ended = place.run("replay", "--all", "--against", "none.json", "--json", *options)
        return ended.code, kinds(ended)

    gone = (1, {"no longer denied": 1})
    assert gone == asked("--point", "PreToolUse", "--tool", "Bash")
    assert (0, {}) == asked("--point", "pre_llm_request")
    assert (0, {}) == asked("--tool", "write_file")
    assert gone == asked("--since", "1h")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which session? Write its id, `last` or a path, or --all for every one, or --since 7d"),
        (["--all"], "no session is recorded in "),
        (["nobody"], "no session nobody in "),
        (["--since", "soon"], "'soon' is no moment: write a date"),
        (["x", "--all"], "--all means every session: leave SESSION out"),
        (["."], "no session is recorded in .: it holds no .jsonl file"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(place: Place, arguments: Sequence[str], message: str) -> None:
    """With 2."""
    ended = place.run("replay", *arguments)

    assert 2 == ended.code
    assert ended.err.startswith(f"hookline: {message}")
    assert 1 == len(ended.err.splitlines())


def test_hooks_that_cannot_be_loaded_are_told_once(place: Place) -> None:
    """Not for every session."""
    path = record(place)
    shutil.copy(path, path.with_name("another.jsonl"))
    for option, name in (("--against", "broken.json"), ("--against", "broken.toml"), ("--config", "absent.json")):
        if name.startswith("broken"):
            place.write(name, "{")

        ended = place.run("replay", "--all", option, name)

        assert (1, "") == (ended.code, ended.out)
        assert ended.err.startswith("hookline: ")
        assert 1 == ended.err.count(name)


def test_damaged_lines_are_named_and_the_rest_is_done(place: Place) -> None:
    """File, line and why, in a line each."""
    path = record(place)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3:3] = [
        b"not json\n",
        b'{"v":1,"seq":1,"at":1,"kind":"dispatched","event":{"point":"nowhere"},"duration_ms":1}\n',
    ]
    path.write_bytes(b"".join(lines) + b'{"v":1,"se')
    none = place.write("none.json", '{"hooks": {}}')

    ended = place.run("replay", str(path), "--against", str(none))

    told = [line for line in ended.out.splitlines() if line.startswith("trouble")]
    assert [f"trouble  {path}:{number}: " in line for number, line in zip((4, 5, len(lines) + 1), told, strict=True)]
    assert 1 == ended.code
    assert "no longer denied" in ended.out
    assert "  3  in trouble: see above" in ended.out.splitlines()


@pytest.mark.slow
def test_a_folder_that_is_gone_is_told_of_once(place: Place) -> None:
    """What programs would have said there is not known; --cwd runs them elsewhere."""
    record(place)
    guard = place.write("guard.json", muse(GUARD))
    home = place.root / "moved"
    place.project = place.project.rename(home)
    guard = home / guard.name

    ended = place.run("replay", "last", "--against", str(guard))

    assert 1 == ended.code
    assert 1 == ended.out.count("is gone, where this event happened")
    assert "  2 events not compared: their folder is gone" in ended.out.splitlines()
    assert 0 == place.run("replay", "last", "--against", str(guard), "--cwd", str(home)).code
    by_default = place.run("replay", "last", "--trust-workspace", "--cwd", str(home))
    assert 0 == by_default.code
    assert "1 session worked in a folder that is gone" in by_default.out


@pytest.mark.slow
def test_a_session_comes_with_those_of_its_child_agents(place: Place) -> None:
    """And without its forks, which went their own way."""
    place.write(".muse/hooks.json", muse(GUARD))
    child = {"steps": [{"call": {"tool": "bash", "input": {"command": "echo forbidden"}}}, {"say": "tried"}]}
    spawn = {"call": {"tool": "subagent_spawn", "input": {"objective": "try"}}}
    model = {"steps": [spawn, {"say": "wait"}, {"say": "done"}, {"say": "done"}], "agents": {"default": child}}
    steps = place.write("steps.yaml", json.dumps(model))
    options = ("--trust-workspace", "--yolo", "--provider", "script", "--model", str(steps))
    assert 0 == place.run("exec", *options, "go").code
    (parent,) = [path for path in place.sessions.glob("*") if b'"parent"' not in path.read_bytes().splitlines()[0]]
    assert 0 == place.run("exec", *options, "--fork", parent.stem, "again").code
    place.write("none.json", '{"hooks": {}}')

    ended = place.run("replay", parent.stem, "--against", "none.json", "--json")

    assert {"no longer denied": 1} == kinds(ended)
    assert 2 == objects(ended)[-1]["sessions"]


def test_hooks_that_nobody_waits_for_are_asked_on_demand(place: Place) -> None:
    """What they do is done then, and what they say changes nothing, as in a session."""
    record(place)
    hook = {"type": "command", "command": f"echo asked >> {place.root}/marks", "async": True}
    place.write("background.json", json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}))
    marks = place.root / "marks"

    place.run("replay", "last", "--against", "background.json")
    assert not marks.exists()
    place.run("replay", "last", "--against", "background.json", "--background")
    assert ["asked"] * 2 == marks.read_text().splitlines()


@pytest.mark.slow
def test_a_capsule_s_session_is_put_to_capsules(place: Place) -> None:
    """Nothing changes with its own, background hooks and all; without hooks the denial of its guard is gone."""
    shutil.copytree(CAPSULE, place.project, dirs_exist_ok=True)
    assert 0 == place.run("run", "murmur.yaml", "greet the world").code
    place.write("none.json", '{"hooks": {}}')

    for options in ([], ["--background"], ["--dry-run"]):
        ended = place.run("replay", "last", "--capsule", "murmur.yaml", *options)
        assert (0, "") == (ended.code, ended.err), ended.out
    ended = place.run("replay", "last", "--against", "none.json", "--json")

    assert {"no longer denied": 1} == kinds(ended)
    assert 1 == len(list((place.project / "workdir").iterdir()))


@pytest.mark.slow
def test_many_sessions_are_told_of_in_their_order(place: Place) -> None:
    """However many processes replay them, the answer is the same; another failure, and it goes on."""
    path = record(place)
    copy(path, 9)
    (path.parent / "empty.jsonl").write_bytes(b"")
    everything = place.write("all.json", muse("echo no >&2; exit 2"))

    alone = place.run("replay", "--all", "--against", str(everything), "--json", "--jobs", "1")
    both = place.run("replay", "--all", "--against", str(everything), "--json", "--jobs", "2")

    assert (1, "") == (both.code, both.err)
    assert alone.out == both.out
    changed = [each["session"] for each in objects(both) if each["what"] == "change"]
    assert [f"copy-{number}" for number in range(9)] == changed[:9]
    assert 11 == objects(both)[-1]["sessions"]


@pytest.mark.slow
def test_a_process_that_dies_names_its_session(place: Place) -> None:
    """The others are replayed all the same."""
    path = record(place)
    copy(path, 4)
    kills = """grep -q '"copy-1"' && kill -9 $PPID; exit 0"""
    deadly = place.write("deadly.json", muse(kills))

    ended = place.run("replay", "--all", "--against", str(deadly), "--json", "--jobs", "2")

    troubles = [each for each in objects(ended) if each["what"] == "trouble"]
    assert [str(path.with_name("copy-1.jsonl"))] == [each["path"] for each in troubles]
    assert 5 == objects(ended)[-1]["sessions"]
    assert {"no longer denied": 4} == kinds(ended)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interruption_leaves_no_process(place: Place, jobs: str) -> None:
    """Neither hooks nor those that replay."""
    path = record(place)
    shutil.copy(path, path.with_name("another.jsonl"))
    hangs = place.write(
        "hangs.json", muse(f"echo $$ $PPID >> {place.root}/pids; echo begun >> {place.root}/begun; sleep 60")
    )
    program = place.start("replay", "--all", "--against", str(hangs), "--jobs", jobs)
    pids = place.root / "pids"
    wait_for(lambda: pids.exists() and len(pids.read_text().splitlines()) >= int(jobs))

    ended = program.end(signal.SIGINT)

    assert (130, "") == (ended.code, ended.out)
    assert "Traceback" not in ended.err
    for number in set(pids.read_text().split()) - {str(program.process.pid)}:
        wait_for(lambda number=number: not Path("/proc", number).exists())


def wait_for(known: Any) -> None:
    """Until *known* says so, which is soon."""
    until = time.monotonic() + 15
    while not known():
        assert time.monotonic() < until
        os.sched_yield()


@pytest.mark.slow
def test_the_examples_in_its_help_work(place: Place) -> None:
    """In a project with a session, and within 80 columns."""
    record(place)
    told = place.run("replay", "--help").out.splitlines()
    examples = [line.split()[1:] for line in told if line.startswith("    hookline ") and "|" not in line]

    assert 4 == len(examples)
    assert [""] * 4 == [place.run(*example).err for example in examples]
    assert [] == [line for line in told if len(line) > 80]
