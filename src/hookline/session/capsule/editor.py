"""The editor that the runtime provides: files of the capsule's folder, by one tool with three operations."""

from enum import Enum
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from hookline._core.errors import ToolError
from hookline.session.ports import Risk, ToolResult
from hookline.session.tools._files import is_inside, locate, read_text, replace_text, shown
from hookline.session.tools.files import ChangingTool, FileInput

OUTSIDE = "{path} is outside of the working directory, and the capsule reaches no further"


class Operation(Enum):
    """What is to be done to the file."""

    READ = "read_file"
    WRITE = "write_file"
    REPLACE = "replace_in_file"


class Edit(FileInput, frozen=True):
    """What `murmur-tool-editor` takes."""

    operation: Annotated[Operation, Meta(description="What to do.")]
    content: Annotated[str, Meta(description="Of write_file: the whole new content.")] = ""
    find: Annotated[str, Meta(description="Of replace_in_file: the text to replace, which stands there once.")] = ""
    replace: Annotated[str, Meta(description="Of replace_in_file: the text to put in its place.")] = ""


class Editor(ChangingTool[Edit]):
    """Works on files of the working directory, and on none outside of it."""

    name = "murmur-tool-editor"
    description = "Read, write, or replace a text in a file of the working directory."
    shape = Edit

    def reach(self, wanted: Edit, workspace: Path) -> Risk:
        if wanted.operation is Operation.READ:
            return Risk.READS if is_inside(locate(wanted.path, workspace), workspace) else Risk.REACHES_OUT
        return super().reach(wanted, workspace)

    def work(self, wanted: Edit, workspace: Path) -> ToolResult:
        path = locate(wanted.path, workspace)
        if not is_inside(path, workspace):
            raise ToolError(OUTSIDE.format(path=path))
        match wanted.operation:
            case Operation.READ:
                return ToolResult(text=read_text(path))
            case Operation.WRITE:
                verb = "created" if replace_text(path, wanted.content) else "replaced"
                return ToolResult(text=f"{verb} {shown(path, workspace)}")
            case Operation.REPLACE:
                text = read_text(path)
                if not wanted.find or text.count(wanted.find) != 1:
                    raise ToolError(f"`find` has to stand in {path} once, and does {text.count(wanted.find)} times")
                replace_text(path, text.replace(wanted.find, wanted.replace))
                return ToolResult(text=f"replaced a text in {shown(path, workspace)}")
