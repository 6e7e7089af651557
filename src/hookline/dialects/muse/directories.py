"""Where a user's own files are (section 2.1)."""

from collections.abc import Mapping
from pathlib import Path

from hookline.dialects.muse.environment import WINDOWS

PLUGINS = "plugins"  # within the user's data
INSTALLED = "installed.json"  # in there: which plugins there are

# A package is told by the folder that holds its manifest; of several the first one counts.
MANIFEST = "plugin.json"
MARKERS = (".muse-plugin", ".claude-plugin", ".codex-plugin")
MANIFESTS = tuple(f"{marker}/{MANIFEST}" for marker in MARKERS)


def is_manifest(path: Path) -> bool:
    """Whether *path* is that of a package's manifest."""
    return path.name == MANIFEST and path.parent.name in MARKERS


def config_directory(env: Mapping[str, str]) -> Path | None:
    """The user's own directory, None where *env* names none. Relative names do not count: a project could be meant."""
    return _user_directory(env, "XDG_CONFIG_HOME", ".config")


def plugins_directory(env: Mapping[str, str]) -> Path | None:
    """Where the user's plugins are, None where *env* names no such place."""
    data = _user_directory(env, "XDG_DATA_HOME", ".local/share")
    return None if data is None else data / PLUGINS


def _user_directory(env: Mapping[str, str], variable: str, below_home: str) -> Path | None:
    home = env.get("HOME") or (env.get("USERPROFILE") if WINDOWS else None)
    for base, below in ((env.get(variable), ""), (home, below_home)):
        if base and Path(base).is_absolute():
            return Path(base, below, "muse")
    return None
