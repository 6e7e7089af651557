"""The search tool: a regular expression over the files of a folder, in time linear in their size."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import re2
from msgspec import Meta

from hookline._core.errors import ToolError
from hookline.session.ports import CallContext, Risk, ToolResult
from hookline.session.tools._base import BuiltinTool, PathText, ToolInput
from hookline.session.tools._files import is_inside, locate, read_bytes, shown, text_of
from hookline.session.tools._glob import regex_of

MAX_FILE = 1024 * 1024  # larger ones are data, hardly ever source
MAX_LINE = 400  # characters of one result; the rest of a minified line helps nobody
MAX_SECONDS = 60.0  # of one search, however large the folder is
SKIPPED_FOLDERS = frozenset({".git"})


class Query(ToolInput, frozen=True):
    """What `search` takes."""

    pattern: Annotated[
        str, Meta(min_length=1, max_length=4096, description="A regular expression in RE2 syntax, tested on each line.")
    ]
    path: Annotated[PathText, Meta(description="The folder or file to search, from the workspace.")] = "."
    glob: Annotated[
        str, Meta(max_length=1024, description="Only files like this: `*.py`, `src/**/*.{ts,tsx}`; left out, all.")
    ] = ""
    max_results: Annotated[int, Meta(ge=1, le=2000, description="How many lines to report at most.")] = 200


class Search(BuiltinTool[Query]):
    name = "search"
    description = (
        "Find the lines that match a regular expression. Answers with lines `path:line: text`. `.git`, binary files "
        "and files over 1 MiB are not searched, symbolic links not followed."
    )
    shape = Query

    def reach(self, wanted: Query, workspace: Path) -> Risk:
        return Risk.READS if is_inside(locate(wanted.path, workspace), workspace) else Risk.REACHES_OUT

    async def perform(self, wanted: Query, context: CallContext) -> ToolResult:
        workspace = context.session.workspace
        root = locate(wanted.path, workspace)
        if not root.exists():
            raise ToolError(f"{root} does not exist")
        hunt = Hunt(
            root=root,
            workspace=workspace,
            pattern=_compiled(wanted.pattern, "pattern"),
            only=_compiled(regex_of(wanted.glob or "*"), "glob"),
            limit=wanted.max_results,
        )
        try:
            return ToolResult(text=await asyncio.to_thread(hunt.report))
        finally:
            hunt.stop.set()  # a cancelled search ends at the next file


@dataclass(slots=True, kw_only=True)
class Hunt:
    """One search. It runs in a thread of its own."""

    root: Path
    workspace: Path
    pattern: Any
    only: Any
    limit: int
    stop: threading.Event = field(default_factory=threading.Event)
    unsearched: int = 0

    def report(self) -> str:
        found: list[str] = []
        notes: list[str] = []
        deadline = time.monotonic() + MAX_SECONDS
        for path in self._files():
            if self.stop.is_set() or time.monotonic() > deadline:
                notes.append(f"[stopped after {MAX_SECONDS:g} s; search a folder further down]")
                break
            found += self._lines(path)
            if len(found) > self.limit:
                notes.append(f"[only the first {self.limit}; make the pattern or the path narrower]")
                break
        if self.unsearched:
            notes.append(f"[not searched: {self.unsearched} files over 1 MiB or not readable]")
        return "\n".join((found[: self.limit] or ["no match"]) + notes)

    def _files(self) -> Iterator[Path]:
        """The files to search, in order."""
        if not self.root.is_dir():
            yield self.root
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
            for name in sorted(names):
                path = Path(folder, name)
                if not path.is_symlink() and self.only.search(text_of(path.relative_to(self.root)).encode()):
                    yield path

    def _lines(self, path: Path) -> Iterator[str]:
        """The lines of one file that match, as they are reported."""
        try:
            data = read_bytes(path, limit=MAX_FILE)
        except ToolError:
            self.unsearched += 1
            return
        if b"\0" in data:
            return
        name = shown(path, self.workspace)
        for number, line in enumerate(data.split(b"\n"), 1):
            if self.pattern.search(line):
                text = line.decode(errors="replace").rstrip("\r")
                yield f"{name}:{number}: {text[:MAX_LINE]}{'…' if len(text) > MAX_LINE else ''}"


def _compiled(expression: str, field_name: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(expression.encode(), options)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace") if error.args else "not understood"
        raise ToolError(f"field `{field_name}`: {reason}; RE2 has no look-around and no back-reference") from None
