"""What a word of a command names: a program on PATH, a file, or nothing. Each is looked up once."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from hookline._core.shell_lines import SHELLS

SCRIPT_BYTES = 65_536  # of a script that is read; a longer one is no hook's
BUILT_IN = frozenset(
    # POSIX's special ones and its utilities that shells have inside, then what bash adds
    """. : break continue eval exec exit export readonly return set shift times trap unset
    [ [[ alias bg cd command echo false fc fg getopts hash jobs kill printf pwd read test true type ulimit umask unalias
    wait bind builtin caller compgen complete declare dirs disown enable help history let local logout mapfile popd
    pushd readarray select shopt source suspend typeset""".split()  # noqa: SIM905  # as a list it has eighty lines
)
# Programs that run the file that is their first plain argument.
INTERPRETERS = SHELLS | {"python", "python3", "node", "ruby", "perl", "php"}


@dataclass(slots=True)
class Programs:
    """Looks up programs and files, with what it found before in mind."""

    _found: dict[tuple[str, str], str | None] = field(default_factory=dict)
    _texts: dict[Path, str] = field(default_factory=dict)

    def on_path(self, name: str, path: str) -> str | None:
        """The program called *name* on the search path *path*."""
        key = (name, path)
        if key not in self._found:
            self._found[key] = shutil.which(name, path=path)
        return self._found[key]

    def script(self, path: Path) -> str:
        """The text of a script. Empty for what is none, or cannot be read."""
        if path not in self._texts:
            self._texts[path] = _text(path)
        return self._texts[path]


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            data = file.read(SCRIPT_BYTES + 1)
    except OSError:
        return ""
    if len(data) > SCRIPT_BYTES or b"\0" in data:
        return ""
    return data.decode("utf-8", "replace")


def is_executable(path: Path) -> bool:
    return os.access(path, os.X_OK)
