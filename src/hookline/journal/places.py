"""Where journals are kept: `$XDG_STATE_HOME/hookline/sessions/<session id>.jsonl`."""

import re
from collections.abc import Mapping
from pathlib import Path

from hookline._core.errors import StateError, UsageError

SESSIONS = "sessions"  # within the state folder
SUFFIX = ".jsonl"

# A plain segment of a path that no shell and no option parser takes for something else. 200 leaves room for the
# suffix within the 255 bytes that file systems allow a name.
SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def state_folder(env: Mapping[str, str]) -> Path:
    """Where hookline keeps its own state. An XDG_STATE_HOME that is empty or relative counts as unset, as XDG says."""
    for base, within in ((env.get("XDG_STATE_HOME", ""), ""), (env.get("HOME", ""), ".local/state")):
        if Path(base).is_absolute():
            return Path(base, within, "hookline")
    raise StateError("there is no folder for hookline's state: set HOME or XDG_STATE_HOME to an absolute path")


def sessions_folder(env: Mapping[str, str]) -> Path:
    """Where the journals are."""
    return state_folder(env) / SESSIONS


def components_folder(env: Mapping[str, str]) -> Path:
    """Where compiled components are kept: nothing is compiled twice."""
    return state_folder(env) / "components"


def checked_session_id(text: str) -> str:
    """*text* if it can be a session id, or the beginning of one."""
    if SESSION_ID.fullmatch(text) is None:
        raise UsageError(
            f"{text!r} is no session id: up to 200 letters, digits, dots, hyphens and underscores, "
            "the first a letter or a digit"
        )
    return text


def journal_path(folder: Path, session_id: str) -> Path:
    """The journal of one session in a folder of journals."""
    return folder / (checked_session_id(session_id) + SUFFIX)
