"""Folders of its own for one test, and the real program run in them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = Path(sys.executable).with_name("hookline")

ENOUGH = 18.0  # seconds: none of these programs takes more than three, and a test has twenty


@dataclass(frozen=True, slots=True)
class Layout:
    """Where configuration files stand: some by their names, every other one in the folder `rest`, which is @config@."""

    named: Mapping[str, str]
    rest: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that has ended by itself."""

    code: int
    stdout: str
    stderr: str


class Place:
    """A home and a workspace under one folder. What is run here knows of nothing else."""

    def __init__(self, root: Path, layout: Layout) -> None:
        self._root = root.resolve() / "place"
        self._layout = layout
        self.workspace = self._root / "project"
        self.home = self._root / "home"
        self._names = {"workspace": str(self.workspace), "home": str(self.home)}
        self.config = Path(self.filled(layout.rest))
        self.name("config", str(self.config))
        self.make()

    def name(self, name: str, text: str) -> None:
        """Have @name@ stand for *text*."""
        self._names[name] = text

    def make(self) -> None:
        """Make the folders, without anything in them."""
        shutil.rmtree(self._root, ignore_errors=True)
        for folder in (self.workspace, self.config, self._root / "bin", self._root / "tmp"):
            folder.mkdir(parents=True)

    @property
    def env(self) -> dict[str, str]:
        """The environment that programs are started in."""
        return {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "SHELL": "/bin/sh",
            "TMPDIR": str(self._root / "tmp"),
        }

    def env_with(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        """The same with some variables set, or unset where they are None."""
        changed = self.env | self.filled(dict(changes))
        return {name: value for name, value in changed.items() if value is not None}

    def filled(self, value: Any) -> Any:
        """*value*, in which whatever has a name here stands for that name between two @."""
        match value:
            case str():
                for name, text in self._names.items():
                    value = value.replace(f"@{name}@", text)
                return value
            case list():
                return [self.filled(each) for each in value]
            case dict():
                return {self.filled(key): self.filled(each) for key, each in value.items()}
            case _:
                return value

    def configure(self, config: Mapping[str, str]) -> None:
        """Write configuration files, each by its name."""
        for name, text in config.items():
            self.write(self.path(name), text)

    def path(self, name: str) -> Path:
        """Where the configuration file of this name stands."""
        named = self._layout.named.get(name)
        return self.config / name if named is None else Path(self.filled(named))

    def text(self, name: str) -> str | None:
        """What stands in a file of the workspace, None where there is none."""
        path = self.workspace / name
        return path.read_text(encoding="utf-8") if path.is_file() else None

    def dead(self, names: Sequence[str]) -> list[str]:
        """Those of the files *names* that hold the number of a process that is no more."""
        numbers = {name: self.text(name) for name in names}
        return [name for name, number in numbers.items() if number and not is_alive(int(number))]

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.filled(text), encoding="utf-8", newline="")

    def run(self, arguments: Sequence[str], *, env: Mapping[str, str], program: str = "muse") -> Ended:
        """Run the program under this name in the workspace, nobody at a terminal, and wait for its end."""
        link = self._root / "bin" / program
        if not link.is_symlink():
            link.symlink_to(PROGRAM)
        ended = subprocess.run(
            [link, *arguments],
            cwd=self.workspace,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ENOUGH,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def is_alive(pid: int) -> bool:
    """Whether a process still runs; one that has ended and was not waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")
