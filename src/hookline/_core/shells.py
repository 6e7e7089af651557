"""How a program that a tool ran has ended."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellResult:
    """`exit_code` is 128 and the number of the signal that ended it, -1 where it is not known."""

    exit_code: int
    stdout: str = ""
    stderr: str = ""
