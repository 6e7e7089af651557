"""What hookline relies on, looked at."""

import json
import os
from pathlib import Path

from tests.unit.workbench.rig import command, muse_file

from hookline.workbench.doctor import Seen, State, examine_machine


def seen(folder: Path, **env: str) -> dict[str, Seen]:
    home = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"], "SHELL": "/bin/sh", **env}
    return {each.what: each for each in examine_machine(home, folder)}


def test_a_machine_that_is_fit_has_no_problem(tmp_path: Path) -> None:
    """Here, where the tests run, nothing is a problem, and everything says what was found."""
    found = seen(tmp_path)

    assert [] == [each for each in found.values() if each.state is State.PROBLEM]
    assert {
        "Python",
        "click",
        "shell",
        "state folder",
        "temporary folder",
        "processes",
        "descriptors",
        "hook files",
    } <= set(found)
    json.dumps([each.as_json() for each in found.values()])


def test_each_thing_that_is_not_as_it_should_be_is_said_with_its_remedy(tmp_path: Path) -> None:
    """A shell that is not there, a state folder open to others or not to us, no home, a server that does not answer."""
    state = tmp_path / "state" / "hookline"
    state.mkdir(parents=True, mode=0o755)
    state.chmod(0o755)

    found = seen(
        tmp_path, SHELL="/no/shell", XDG_STATE_HOME=str(state.parent), HOOKLINE_NATS="nats://me:secret@127.0.0.1:9"
    )
    assert (State.PROBLEM, "/no/shell cannot be started, so no shell hook can") == (
        found["shell"].state,
        found["shell"].found,
    )
    assert (State.WARNING, f"chmod 700 {state}") == (found["state folder"].state, found["state folder"].remedy)
    assert State.PROBLEM == found["HOOKLINE_NATS"].state
    assert "secret" not in str(found)
    assert State.PROBLEM == seen(tmp_path, HOME="", XDG_STATE_HOME="relative")["state folder"].state


def test_hook_files_are_looked_at(tmp_path: Path) -> None:
    """A hook that cannot start is found without a session, and where to see it."""
    path = muse_file(tmp_path, Stop=[command("/no/such/guard")])

    found = seen(tmp_path)[str(path)]
    assert (State.PROBLEM, f"hookline check {path}") == (found.state, found.remedy)
    assert "1 hook, 1 errors, 0 warnings" == found.found
