"""The file tools: read, write, edit."""

import asyncio
from pathlib import Path
from typing import Annotated, TypeVar

from msgspec import Meta

from hookline._core.errors import ToolError
from hookline._core.finish import Cancellations
from hookline.session.ports import CallContext, Risk, ToolResult
from hookline.session.tools._base import BuiltinTool, PathText, ToolInput
from hookline.session.tools._files import is_inside, locate, read_text, replace_text, shown
from hookline.session.tools._patch import hunks_of, lines_of

MAX_SHOWN = 256 * 1024  # characters of one answer, as for a command's output
NAMED_PLACES = 10  # of an ambiguous text, in the message


class FileInput(ToolInput, frozen=True):
    """What every file tool takes."""

    path: Annotated[PathText, Meta(description="The file, from the workspace or absolute.")]


class Reading(FileInput, frozen=True):
    """What `read_file` takes."""

    offset: Annotated[int, Meta(ge=1, description="The first line to read; the file's first is 1.")] = 1
    limit: Annotated[int, Meta(ge=1, le=1_000_000, description="How many lines at most.")] = 2000


class Writing(FileInput, frozen=True):
    """What `write_file` takes."""

    content: Annotated[str, Meta(description="The whole new content.")]


class Editing(FileInput, frozen=True):
    """What `edit_file` takes."""

    find: Annotated[str, Meta(min_length=1, description="The text to replace, exactly as it stands there.")]
    replace: Annotated[str, Meta(description="The text to put in its place.")]
    all: Annotated[bool, Meta(description="Replace every occurrence, not the only one.")] = False


Input = TypeVar("Input", bound=FileInput)


class FileTool(BuiltinTool[Input]):
    """A tool that works on one file, in a thread: a large one would hold up whatever else the program does."""

    def work(self, wanted: Input, workspace: Path) -> ToolResult:
        raise NotImplementedError

    async def perform(self, wanted: Input, context: CallContext) -> ToolResult:
        """What is begun is ended, also where the call is cancelled: half a change is none."""
        cancellations = Cancellations()
        try:
            return await cancellations.finish(asyncio.to_thread(self.work, wanted, context.session.workspace))
        finally:
            cancellations.raise_if_any()


class ReadFile(FileTool[Reading]):
    name = "read_file"
    description = "Read a text file, or some lines of it. The lines are given exactly as they stand there."
    shape = Reading

    def reach(self, wanted: Reading, workspace: Path) -> Risk:
        return Risk.READS if is_inside(locate(wanted.path, workspace), workspace) else Risk.REACHES_OUT

    def work(self, wanted: Reading, workspace: Path) -> ToolResult:
        path = locate(wanted.path, workspace)
        lines = lines_of(read_text(path))
        if wanted.offset > max(len(lines), 1):
            raise ToolError(f"{path} has {len(lines)} lines; `offset` is {wanted.offset}")
        return ToolResult(text=_excerpt(lines, wanted.offset, wanted.limit))


class ChangingTool(FileTool[Input]):
    """A tool that changes one file."""

    def reach(self, wanted: Input, workspace: Path) -> Risk:
        return Risk.CHANGES if is_inside(locate(wanted.path, workspace), workspace) else Risk.REACHES_OUT


class WriteFile(ChangingTool[Writing]):
    name = "write_file"
    description = "Create a text file, with the directories it needs, or replace its whole content."
    shape = Writing

    def work(self, wanted: Writing, workspace: Path) -> ToolResult:
        path = locate(wanted.path, workspace)
        verb = "created" if replace_text(path, wanted.content) else "replaced"
        return ToolResult(text=f"{verb} {shown(path, workspace)}: {len(wanted.content.encode())} bytes")


class EditFile(ChangingTool[Editing]):
    name = "edit_file"
    description = (
        "Replace a text in a file by another. The text must stand there exactly once, unless `all` is set; give enough "
        "of what surrounds it."
    )
    shape = Editing

    def work(self, wanted: Editing, workspace: Path) -> ToolResult:
        path = locate(wanted.path, workspace)
        text = read_text(path)
        if wanted.find == wanted.replace:
            raise ToolError("`find` and `replace` are the same text: nothing would change")
        places = _every_place(text, wanted.find) if wanted.all else _only_place(text, wanted.find, path)
        if not places:
            raise ToolError(_not_found(text, wanted.find, path))
        replace_text(path, text.replace(wanted.find, wanted.replace))
        count = "1 replacement" if len(places) == 1 else f"{len(places)} replacements"
        patch = hunks_of(text, wanted.find, wanted.replace, places)
        return ToolResult(
            text=f"edited {shown(path, workspace)}: {count}",
            response={"filePath": str(path), "structuredPatch": patch},
        )


def _excerpt(lines: list[str], offset: int, limit: int) -> str:
    """Up to *limit* lines from *offset* on, and a last line that says what is missing after them."""
    chosen: list[str] = []
    room = MAX_SHOWN
    for line in lines[offset - 1 : offset - 1 + limit]:
        if len(line) > room:
            break
        chosen.append(line)
        room -= len(line)
    if not chosen and lines:
        cut = lines[offset - 1][:MAX_SHOWN]
        return f"{cut}\n[line {offset} goes on: it has {len(lines[offset - 1])} characters]\n"
    last = offset - 1 + len(chosen)
    more = f"[line {last} of {len(lines)}; read on with `offset` {last + 1}]\n" if last < len(lines) else ""
    return "".join(chosen) + more


def _every_place(text: str, find: str) -> list[int]:
    """Where *find* stands, as `str.replace` sees it."""
    places = []
    at = text.find(find)
    while at >= 0:
        places.append(at)
        at = text.find(find, at + len(find))
    return places


def _only_place(text: str, find: str, path: Path) -> list[int]:
    """Where *find* stands. A ToolError where that is more than one place, overlapping ones included."""
    places: list[int] = []
    at = text.find(find)
    while at >= 0 and len(places) < NAMED_PLACES:
        places.append(at)
        at = text.find(find, at + 1)
    if len(places) > 1:
        lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places)
        raise ToolError(
            f"the text to find stands more than once in {path}, at lines {lines}{', ...' if at >= 0 else ''}; "
            "give more of what surrounds the one you mean, or set `all`"
        )
    return places


def _not_found(text: str, find: str, path: Path) -> str:
    if "\n" in find and find.replace("\r\n", "\n").replace("\n", "\r\n") in text:
        return f"the lines of {path} end in \\r\\n; write the text to find, and the new one, in the same way"
    return f"the text to find does not stand in {path}; read the file and copy it exactly"
