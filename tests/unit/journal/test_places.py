from collections.abc import Mapping
from pathlib import Path

import pytest

from hookline._core.errors import StateError, UsageError
from hookline.journal.places import checked_session_id, journal_path, sessions_folder, state_folder


@pytest.mark.parametrize(
    ("env", "want"),
    [
        ({"XDG_STATE_HOME": "/state", "HOME": "/home/me"}, "/state/hookline"),
        ({"HOME": "/home/me"}, "/home/me/.local/state/hookline"),
        ({"XDG_STATE_HOME": "", "HOME": "/home/me"}, "/home/me/.local/state/hookline"),
        ({"XDG_STATE_HOME": "state", "HOME": "/home/me"}, "/home/me/.local/state/hookline"),
    ],
)
def test_state_folder(env: Mapping[str, str], want: str) -> None:
    """XDG_STATE_HOME counts if it is an absolute path; anything else is as if it were not set."""
    assert Path(want) == state_folder(env)
    assert Path(want, "sessions") == sessions_folder(env)


@pytest.mark.parametrize("env", [{}, {"HOME": ""}, {"HOME": "me", "XDG_STATE_HOME": "state"}])
def test_no_state_folder(env: Mapping[str, str]) -> None:
    """Without an absolute path to start from there is no state folder, rather than one wherever we happen to be."""
    with pytest.raises(StateError, match="set HOME or XDG_STATE_HOME"):
        state_folder(env)


@pytest.mark.parametrize("text", ["", ".", "..", "../s1", "a/b", "/a", "-a", ".a", "a\0", "a\n", "a b", "é", "a" * 201])
def test_a_session_id_stays_in_its_folder(text: str) -> None:
    """An id is a plain segment of a path: it reaches no other folder and is taken for no option."""
    with pytest.raises(UsageError, match="is no session id"):
        checked_session_id(text)


def test_a_session_id_names_its_journal() -> None:
    """A session's journal is named by its id."""
    assert Path("/f/0199-a.b_c.jsonl") == journal_path(Path("/f"), "0199-a.b_c")
