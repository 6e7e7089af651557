"""What cannot be staged: said before any hook runs, with its place, and nothing of it is left."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.capsule_rig import CapsuleRig
from tests.conformance.murmur.others import OTHERS

from hookline._core.errors import ConfigError, UsageError

BAD = {
    "garbage": "not WebAssembly",
    "empty": "the file is empty",
    "truncated": "not a component that can be compiled",
    "core module": "a core module, not a component",
    "lifecycle 9.9.9": "rebuild the hook",
    "without on-session-start": "missing function murmur:hook/lifecycle@0.8.0#on-session-start",
}


@pytest.fixture
def rig(tmp_path: Path) -> CapsuleRig:
    return CapsuleRig(root=tmp_path)


def tree(root: Path) -> set[str]:
    return {str(each.relative_to(root)) for each in root.rglob("*") if "home" not in each.parts}


@pytest.mark.parametrize("wasm", list(BAD))
async def test_a_component_that_cannot_be_called_is_named_with_its_place(wasm: str, rig: CapsuleRig) -> None:
    """The entry of the capsule's manifest stands in front of what is wrong with it."""
    rig.hook("bad", wasm=OTHERS[wasm]())
    path = rig.written()
    before = tree(rig.root)
    with pytest.raises(ConfigError) as caught:
        await rig.run("go")
    (problem,) = caught.value.problems

    assert BAD[wasm] in problem.message
    assert (str(path), 4, 3) == (problem.where.file, problem.where.line, problem.where.column)
    assert before == tree(rig.root)


async def test_everything_that_is_wrong_is_said_at_once(rig: CapsuleRig) -> None:
    """Two artifacts without a package are two problems, each at its own entry."""
    rig.artifacts = [{"name": name, "version": "1.0.0", "runtime": "hook"} for name in ("one", "two")]
    with pytest.raises(ConfigError) as caught:
        await rig.run("go")

    assert [4, 7] == [problem.where.line for problem in caught.value.problems]
    assert ["artifact 'one@1.0.0'", "artifact 'two@1.0.0'"] == [
        problem.message.split(" has no package")[0] for problem in caught.value.problems
    ]


async def test_a_manifest_with_a_mistake_starts_nothing(rig: CapsuleRig) -> None:
    """No folder is made for it."""
    rig.hook("h")
    rig.manifest = {"lifecycel": {}}
    before = tree(rig.root)
    with pytest.raises(ConfigError, match="did you mean `lifecycle`"):
        await rig.run("go")
    assert tree(rig.root) - {"murmur.yaml"} == before


def linked(root: Path) -> Path:
    (root / "elsewhere").mkdir()
    (root / "work").symlink_to(root / "elsewhere")
    return root / "work"


def a_file(root: Path) -> Path:
    (root / "work").write_text("")
    return root / "work"


def below_a_file(root: Path) -> Path:
    (root / "file").write_text("")
    return root / "file" / "work"


@pytest.mark.parametrize(
    ("made", "words"), [(linked, "is a link"), (a_file, "is no folder"), (below_a_file, "the working directory")]
)
async def test_a_working_directory_that_cannot_be_one_is_refused(
    made: Callable[[Path], Path], words: str, rig: CapsuleRig
) -> None:
    """Nothing is written to where it leads, and nothing half-made is left."""
    rig.hook("h")
    workdir = made(rig.root)
    rig.written()
    before = tree(rig.root)
    with pytest.raises(UsageError, match=words):
        await rig.run("go", workdir=workdir)
    assert before == tree(rig.root)


@pytest.mark.parametrize("place", ["link", "file"])
async def test_a_scope_that_leads_elsewhere_is_refused(place: str, rig: CapsuleRig) -> None:
    """A link out of the working directory, or a file, in the place of the folder: with the place of the entry."""
    rig.hook("h", entry={"capabilities": {"filesystem": {"scope": "mine"}}})
    work = rig.root / "work"
    work.mkdir()
    outside = rig.root / "outside"
    outside.mkdir()
    if place == "link":
        (work / "mine").symlink_to(outside)
    else:
        (work / "mine").write_text("mine")
    rig.written()
    before = tree(rig.root)
    with pytest.raises(UsageError, match=r"murmur\.yaml:4:3: the scope 'mine' of h"):
        await rig.run("go", workdir=work)
    assert before == tree(rig.root)


async def test_a_scope_behind_a_link_is_refused(rig: CapsuleRig) -> None:
    """A folder that is reached by a link lies where the link leads."""
    rig.hook("h", entry={"capabilities": {"filesystem": {"scope": "way/mine"}}})
    work, outside = rig.root / "work", rig.root / "outside"
    work.mkdir()
    (outside / "mine").mkdir(parents=True)
    (work / "way").symlink_to(outside)
    with pytest.raises(UsageError, match="leads out of the working directory"):
        await rig.run("go", workdir=work)


async def test_a_state_store_is_private(rig: CapsuleRig) -> None:
    """It is made for nobody else to look into, below the home folder."""
    rig.hook("h", entry={"capabilities": {"state": {"store": "kept"}}})
    await rig.run("go")

    assert 0o700 == (rig.root / "home/.murmur/state/kept").stat().st_mode & 0o777


async def test_links_of_the_agents_making_are_not_followed(rig: CapsuleRig) -> None:
    """What the runtime writes into the working directory replaces a link that stands there."""
    rig.hook("h", "on-task-end=reopen:again\n", binding="on-task-end", commit_policy="reopen-task")
    rig.manifest = {"capabilities": {"shell": {"allow": ["bash"]}}}
    outside = rig.root / "outside"
    outside.write_text("as it was")
    command = f"ln -sf {outside} task.md; ln -sf {outside} out/result.txt"
    ran = await rig.run(
        "go", steps=[{"call": {"tool": "bash", "input": {"command": command}}}, {"say": "a"}, {"say": "b"}]
    )

    assert "as it was" == outside.read_text()
    assert "Reopen feedback" in (ran.folder / "task.md").read_text()


async def test_the_editor_stays_inside(rig: CapsuleRig) -> None:
    """A path that leads out, by its text or by a link, is refused, and so is a protected one."""
    rig.artifacts = [{"name": "murmur-tool-editor", "version": "1.0.0"}]
    rig.manifest = {"capabilities": {"filesystem": {"read_only": ["kept"]}}}
    work, outside = rig.root / "work", rig.root / "outside"
    (work / "kept").mkdir(parents=True)
    outside.mkdir()
    (work / "way").symlink_to(outside)
    paths = ["../outside/a", str(outside / "b"), "way/c", "kept/d", "way/../kept/e", "fine"]
    calls = [
        {"tool": "murmur-tool-editor", "input": {"operation": "write_file", "path": path, "content": "x"}}
        for path in paths
    ]
    ran = await rig.run("go", steps=[{"calls": calls}, {"say": "done"}], workdir=work)

    assert [] == list(outside.iterdir())
    assert [] == list((work / "kept").iterdir())
    assert "x" == (work / "fine").read_text()
    assert 2 == len(ran.of("protected_path_denied"))


def hookline(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hookline", *arguments],
        cwd=folder,
        env={"HOME": str(folder / "home"), "PATH": os.environ["PATH"], **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=18,
    )


def test_without_the_engine_there_is_one_clear_error(rig: CapsuleRig, tmp_path: Path) -> None:
    """It names what to install, and no other."""
    rig.hook("h")
    rig.written()
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "wasmtime.py").write_text("raise ImportError('not here')")
    ended = hookline(tmp_path, "run", "murmur.yaml", "go", PYTHONPATH=str(tmp_path / "without"))

    assert (1, "") == (ended.returncode, ended.stdout)
    assert 1 == ended.stderr.count("hookline[wasm]")
    assert "Traceback" not in ended.stderr


def test_a_capsule_runs_from_the_command_line(rig: CapsuleRig, tmp_path: Path) -> None:
    """Two tasks of a queue, its trace as lines, and one that a guard refuses; the exit code says how it went."""
    rig.hook("h", "on-shell!=deny:no\n", binding="on-shell", commit_policy="deny")
    rig.manifest = {
        "capabilities": {"shell": {"allow": ["bash"]}},
        "inference": {"model": "steps.json"},
        "lifecycle": {"task_acceptance": "queue"},
    }
    rig.written()
    steps = (
        '{"steps": [{"call": {"tool": "bash", "input": {"command": "touch made"}}}, {"say": "one"}, {"say": "two"}]}'
    )
    (tmp_path / "steps.json").write_text(steps)
    ended = hookline(tmp_path, "run", "murmur.yaml", "a", "b", "--workspace", "work")

    assert (0, "one\ntwo\n") == (ended.returncode, ended.stdout), ended.stderr
    assert not (tmp_path / "work" / "made").exists()
    listed: Any = hookline(tmp_path, "exec", "--capsule", "murmur.yaml", "--json", "a")
    assert listed.stdout.startswith('{"event_type":"session_start"')
    assert '"event_type":"call_denied"' in listed.stdout


def test_native_hooks_take_the_place_of_components(rig: CapsuleRig, tmp_path: Path) -> None:
    """A program that speaks for a hook refuses as its component would, whatever the component is."""
    rig.hook("h", wasm=b"no component", binding="on-shell", commit_policy="deny")
    rig.manifest = {"capabilities": {"shell": {"allow": ["bash"]}}, "inference": {"model": "steps.json"}}
    rig.written()
    call = '{"steps": [{"call": {"tool": "bash", "input": {"command": "touch made"}}}, {"say": "done"}]}'
    (tmp_path / "steps.json").write_text(call)
    (tmp_path / "native").mkdir()
    program = tmp_path / "native" / "h"
    program.write_text(
        "#!/usr/bin/env python3\nimport json, sys\n"
        'print(json.dumps({"ready": "murmur:hook/lifecycle@0.8.0", "functions": ["on-session-start", "on-inference", '
        '"on-tool-call", "on-shell", "on-compaction", "on-session-end"]}), flush=True)\n'
        "for line in sys.stdin:\n"
        '    print(json.dumps({"ok": "deny", "value": "by a program"}), flush=True)\n'
    )
    program.chmod(0o755)
    ended = hookline(tmp_path, "run", "murmur.yaml", "go", "--workspace", "work", "--native-hooks", "native")

    assert 0 == ended.returncode, ended.stderr
    assert not (tmp_path / "work" / "made").exists()
