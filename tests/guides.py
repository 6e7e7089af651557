"""Runs a page of the guide as its reader would: files are written, commands run, and what they print is compared.

A fenced block whose first line names a file after the language (```` ```json .muse/hooks.json ````) is that file's
content. In a `console` block each line behind `$ ` is a command of the shell, and what follows is what it prints, on
both streams: `...` stands for any text within a line, and on a line of its own for any lines.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^(`{3,})(\S*)(?: (\S+))?\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A file to write, or a command with what it prints."""

    line: int
    file: str = ""
    text: str = ""
    command: str = ""
    prints: str = ""


def steps_of(page: Path) -> Iterator[Step]:
    """What a reader of *page* does, in order."""
    text = page.read_text(encoding="utf-8")
    for block in _BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 2
        _, language, file, body = block.groups()
        if file:
            yield Step(line, file=file, text=body)
        elif language == "console":
            yield from _commands(body, line)


def _commands(body: str, line: int) -> Iterator[Step]:
    parts = re.split(r"^\$ ", body, flags=re.MULTILINE)
    line += parts[0].count("\n")
    for part in parts[1:]:
        command, _, prints = part.partition("\n")
        yield Step(line, command=command, prints=prints)
        line += part.count("\n")


def differences(page: Path, folder: Path) -> list[str]:
    """What of *page* is not so, in the empty *folder*."""
    found: list[str] = []
    for step in steps_of(page):
        if step.file:
            target = folder / step.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(step.text, encoding="utf-8")
            if step.text.startswith("#!"):
                target.chmod(0o755)
            continue
        printed = _run(step.command, folder)
        if not _fits(step.prints, printed):
            found.append(
                f"{page.name}:{step.line}: $ {step.command}\n--- the page has\n{step.prints}--- it prints\n{printed}"
            )
    return found


def _run(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(folder), "SHELL": "/bin/sh", "NO_COLOR": "1", "LANG": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


def _fits(wanted: str, printed: str) -> bool:
    lines = [r"(?:.*\n)*?" if line.strip() == "..." else _line(line) for line in wanted.splitlines()]
    return re.fullmatch("".join(lines), printed) is not None


def _line(line: str) -> str:
    return ".*?".join(map(re.escape, line.rstrip().split("..."))) + r" *\n"
