"""Reading the files of recipes: bounded, plain, and none outside of the working directory."""

import os
from pathlib import Path

from hookline._core.regular_files import NO_LINK, read_regular

LONGEST_FILE = 256 * 1024  # bytes
LONGEST_BODY = 64 * 1024  # bytes: a longer one is no recipe, as a part of one would say something else
MOST_FILES = 32  # of one resolution
DEEPEST = 8  # files below the first that include one another


class Unresolved(Exception):  # not an error: there is no recipe to be told
    """The call names no recipe that can be told for certain."""


class Source:
    """The files below one folder, for one resolution."""

    def __init__(self, workdir: Path) -> None:
        self._root = workdir.resolve(strict=True)
        self._left = MOST_FILES

    @property
    def root(self) -> Path:
        return self._root

    def folder(self, name: str) -> Path:
        """The folder that *name* leads to from the working directory."""
        found = self._inside(self._root / name)
        if not found.is_dir():
            raise Unresolved
        return found

    def first(self, folder: Path, names: tuple[str, ...]) -> Path:
        """The first of these files that is there."""
        for name in names:
            if os.path.lexists(folder / name):
                return folder / name
        raise Unresolved

    def lines(self, path: Path) -> list[str]:
        return self.text(path).split("\n")

    def text(self, path: Path) -> str:
        """The text of a file, which has to be regular, of a bounded size, and in UTF-8."""
        self._left -= 1
        if self._left < 0:
            raise Unresolved
        found = self._inside(path)
        data, _ = read_regular(found, LONGEST_FILE, flags=NO_LINK)
        if len(data) > LONGEST_FILE:
            raise Unresolved
        return data.decode("utf-8").replace("\r\n", "\n")

    def _inside(self, path: Path) -> Path:
        found = path.resolve(strict=True)
        if not found.is_relative_to(self._root):
            raise Unresolved
        return found
