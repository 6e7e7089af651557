"""Folders of one living program each."""

import os
import signal
from pathlib import Path

from tests.killing import at_every_step

from hookline._core.held_folders import HeldFolder


def test_what_a_killed_program_left_goes_and_what_a_living_one_has_stays(tmp_path: Path) -> None:
    """Whose a folder is shows in a lock: a new owner takes away the dead's, and nobody else's."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        folder = HeldFolder.within(tmp_path)
        (folder.path / "work").mkdir(mode=0o500)
        os.write(writing, str(folder.path).encode())
        signal.pause()
    theirs = Path(os.read(reading, 4096).decode())
    with HeldFolder.within(tmp_path):
        assert theirs.is_dir()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with HeldFolder.within(tmp_path) as ours:
        assert [ours.path] == [each for each in tmp_path.iterdir() if each.is_dir()]
    assert [] == [each for each in tmp_path.iterdir() if each.is_dir()]
    os.close(reading)
    os.close(writing)


def test_a_kill_at_any_step_leaves_nothing_that_stays(tmp_path: Path) -> None:
    """Also a folder that nobody came to lock is taken away by the next."""

    def make() -> None:
        HeldFolder.within(tmp_path).close()

    def check() -> None:
        make()
        assert [] == [each for each in tmp_path.iterdir() if each.is_dir()]

    assert at_every_step(make, check) > 2
