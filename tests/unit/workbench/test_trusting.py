"""Trust of folders, and locks: recorded whole or not at all, and no hook runs that is not as it was locked."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.workbench.rig import command, meerkat_file, muse_file

from hookline._core.errors import ConfigError, UsageError
from hookline._engines import open_project
from hookline._locks import lock_path
from hookline.workbench.trusting import decisions, forget, inside, lock, trust, unlock

PROGRAM = Path(sys.executable).with_name("hookline")
SCRIPT = "#!/bin/sh\nexit 0\n"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "SHELL": "/bin/sh"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A project with a Muse hook, a Meerkat hook and a script."""
    project = tmp_path / "project"
    muse_file(project, Stop=[command("sh ./check.sh", timeout=5)])
    runtime = '[hooks.entries.runtime]\ntype = "command"\ncommand = "true"\n'
    meerkat_file(project, f'[[hooks.entries]]\nid = "a"\npoint = "run_started"\n{runtime}')
    (project / ".git").mkdir()
    (project / "check.sh").write_text(SCRIPT)
    return project


def trust_file(env: dict[str, str]) -> Path:
    return Path(env["HOME"], ".config", "muse", "trust.json")


def running(place: Path, env: dict[str, str]) -> tuple[list[str], list[str]]:
    """The hooks that a session would run, and why the others are held back."""
    project = open_project(place, env=env)
    held = [each.why for _, loaded in project.loaded for each in loaded.held_back]
    return [hook.id for hook in project.engine.hooks()], held


BOTH = ["hooks.json:Stop[0].hooks[0]", "meerkat:a"]


def test_what_is_in_a_folder_is_shown_for_every_dialect(place: Path, env: dict[str, str]) -> None:
    """From anywhere in the project, whether it is trusted or not; nothing outside of it."""
    (place / "deep").mkdir()
    found = inside(place / "deep", env)

    assert (place, BOTH, False, False) == (
        found.root,
        [each.id for each in found.hooks],
        found.is_trusted,
        found.is_locked,
    )


def test_a_decision_holds_for_every_dialect_and_can_be_taken_back(place: Path, env: dict[str, str]) -> None:
    """Trusted, all of the project's hooks run; forgotten, none."""
    assert ([], ["folder not trusted"] * 2) == running(place, env)
    trust(place, env)
    assert (BOTH, []) == running(place, env)
    assert ((str(place), "trusted"),) == decisions(env)
    assert forget(place, env)
    assert not forget(place, env)
    assert [] == running(place, env)[0]


def test_whatever_else_is_in_the_file_stays(place: Path, env: dict[str, str]) -> None:
    """Other folders, members that nobody knows, the rights of the file."""
    path = trust_file(env)
    path.parent.mkdir(parents=True)
    other = {"decision": "untrusted", "by": "me"}
    path.write_text(
        json.dumps({"schema_version": 1, "x": [1], "projects": {"/other": other, str(place): {"note": "mine"}}})
    )

    trust(place, env)

    told = json.loads(path.read_text())
    assert ([1], other) == (told["x"], told["projects"]["/other"])
    assert {"note": "mine", "decision": "trusted"} == told["projects"][str(place)]
    assert 0o600 == path.stat().st_mode & 0o777


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'{"schema_version": 2}', b"\xff", b'{"schema_version": 1, "projects": 5}']
)
def test_a_damaged_file_is_never_written_over(place: Path, env: dict[str, str], data: bytes) -> None:
    """It is said, with its place and what to do, and stays as it is."""
    path = trust_file(env)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)

    with pytest.raises(ConfigError, match="repair it, or remove it"):
        trust(place, env)

    assert data == path.read_bytes()


def test_two_at_once_lose_nothing(place: Path, env: dict[str, str], tmp_path: Path) -> None:
    """Twelve processes, a folder each: every decision is in the file."""
    folders = [tmp_path / f"p{number}" for number in range(12)]
    for folder in folders:
        folder.mkdir()
    at_work = [
        subprocess.Popen(
            [PROGRAM, "trust", "--yes", folder], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for folder in folders
    ]

    assert [0] * 12 == [each.wait(15) for each in at_work]
    assert {str(folder) for folder in folders} == {folder for folder, _ in decisions(env)}


KILLED = """
import os, signal, sys
from pathlib import Path
from hookline.workbench.trusting import trust
real = os.{function}
def last(*args, **others):
    os.kill(os.getpid(), signal.SIGKILL)
os.{function} = last
trust(Path(sys.argv[1]), os.environ)
"""


@pytest.mark.parametrize("function", ["fsync", "rename", "replace"])
def test_killed_in_the_middle_the_old_file_is_there(place: Path, env: dict[str, str], function: str) -> None:
    """Whole and as it was, and the next one finds no obstacle."""
    trust(place, env)
    before = trust_file(env).read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", KILLED.format(function=function), "/other"], env=env, check=False, capture_output=True
    )

    if done.returncode == -signal.SIGKILL:
        assert before == trust_file(env).read_bytes()
    trust(Path("/third"), env)
    assert {str(place), "/third"} <= {folder for folder, _ in decisions(env)}


def test_a_lock_holds_hooks_to_their_definitions(place: Path, env: dict[str, str]) -> None:
    """One changed byte of a handler, a further one, and the lock taken again."""
    trust(place, env)
    lock(inside(place, env), env, scripts=False)
    assert (BOTH, []) == running(place, env)

    muse_file(place, Stop=[command("sh ./check.sh", timeout=6)])
    assert (["meerkat:a"], ["its definition changed since it was locked"]) == running(place, env)
    muse_file(place, Stop=[command("sh ./check.sh", timeout=5), command("true")])
    assert (BOTH, ["it is not in the lock"]) == running(place, env)
    lock(inside(place, env), env, scripts=False)
    assert [] == running(place, env)[1]
    assert unlock(place, env)
    assert not unlock(place, env)


def test_a_lock_holds_scripts_to_their_bytes_where_it_is_asked_to(place: Path, env: dict[str, str]) -> None:
    """A changed script holds its hook back, and only that; without `scripts` it does not."""
    trust(place, env)
    lock(inside(place, env), env, scripts=False)
    (place / "check.sh").write_text(SCRIPT + "# more\n")
    assert [] == running(place, env)[1]

    lock(inside(place, env), env, scripts=True)
    (place / "check.sh").write_text(SCRIPT)
    assert (["meerkat:a"], ["check.sh changed since it was locked"]) == running(place, env)
    (place / "check.sh").unlink()
    assert ["check.sh changed since it was locked"] == running(place, env)[1]


def test_moving_a_hook_about_in_its_file_changes_nothing(place: Path, env: dict[str, str]) -> None:
    """A lock is of what hooks do, not of where they stand, and not of the machine's shell."""
    trust(place, env)
    muse_file(place, Stop=[command("true"), command("false")])
    lock(inside(place, env), env, scripts=False)
    muse_file(place, Stop=[command("false"), command("true")])

    assert [] == running(place, {**env, "SHELL": "/bin/bash"})[1]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"v": 2, "definitions": {}, "ids": []}', b'{"v": 1}', b"\xff"])
def test_a_lock_that_cannot_be_read_lets_nothing_of_the_project_run(
    place: Path, env: dict[str, str], data: bytes
) -> None:
    """And says why."""
    trust(place, env)
    path = lock(inside(place, env), env, scripts=False)
    path.write_bytes(data)

    hooks, held = running(place, env)
    assert [] == hooks
    assert all(each.startswith("the lock of this folder cannot be read: ") for each in held)


def test_a_lock_is_out_of_the_projects_reach(place: Path, env: dict[str, str]) -> None:
    """It is in hookline's own state, for its owner alone; the user's own hooks are none of it."""
    muse_file(Path(env["HOME"], ".config"), Stop=[])
    trust(place, env)
    path = lock(inside(place, env), env, scripts=True)

    assert path == lock_path(place, env)
    assert not path.is_relative_to(place)
    folders = [each for each in path.parents if each.is_relative_to(Path(env["HOME"], ".local", "state"))]
    assert {0o700} == {each.stat().st_mode & 0o777 for each in folders[:-1]}
    assert 0o600 == path.stat().st_mode & 0o777
    with pytest.raises(UsageError, match="no hook"):
        lock(inside(place.parent, env), env, scripts=False)
