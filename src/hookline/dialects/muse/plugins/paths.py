"""Paths that a package writes: which words of a command are some, and what they name within it (section 20.2)."""

import re
from pathlib import PureWindowsPath

_DRIVE = re.compile(r"[A-Za-z]:")


class Unsafe(Exception):  # a value for whoever reads, not a fault of the program
    """A path that leads out of its package."""


def looks_like_path(word: str, *, first: bool) -> bool:
    """Whether a word of an argv names a file of the package: it has a separator, or begins the argv with a dot.

    Options are none, and neither are absolute paths, nor what a shell would put another text in the place of.
    """
    if word.startswith(("-", "/", "\\", "$")) or _DRIVE.match(word):
        return False
    return "/" in word or "\\" in word or (first and word.startswith("."))


def path_in_package(word: str) -> str:
    """The path, in the form in which files of a package are known, that a relative path names.

    Raises Unsafe, also for an absolute one.
    """
    if PureWindowsPath(word).anchor:
        raise Unsafe(word)
    steps = [step for step in word.replace("\\", "/").split("/") if step not in ("", ".")]
    if ".." in steps or not steps:
        raise Unsafe(word)
    return "/".join(steps)
