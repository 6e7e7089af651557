"""The tool that reads skills: instructions that a project keeps for its agents."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from hookline._core.errors import ToolError
from hookline.session.ports import CallContext, Risk, ToolResult
from hookline.session.tools._base import BuiltinTool, ToolInput
from hookline.session.tools._files import is_inside, locate, read_text

SKILL_FOLDERS = (".muse/skills",)
FILE = "SKILL.md"


class Wish(ToolInput, frozen=True):
    """What `read_skill` takes."""

    name: Annotated[
        str,
        Meta(
            max_length=255,
            pattern=r"^([^./\\\x00][^/\\\x00]*)?$",
            description="Which skill to read. Left out, the skills are listed.",
        ),
    ] = ""


class ReadSkill(BuiltinTool[Wish]):
    """Skills stand in *folders*, each from the workspace or absolute; the first one that has a name wins."""

    name = "read_skill"
    description = "List the skills of this project, or read one: instructions for a kind of task."
    shape = Wish

    def __init__(self, aliases: tuple[str, ...] = (), *, folders: Sequence[str | Path] = SKILL_FOLDERS) -> None:
        super().__init__(aliases)
        self._folders = tuple(folders)

    def reach(self, wanted: Wish, workspace: Path) -> Risk:
        return Risk.READS

    async def perform(self, wanted: Wish, context: CallContext) -> ToolResult:
        skills = dict(self._skills(context.session.workspace))
        if not wanted.name:
            listed = [f"{name}: {_description(path)}" for name, path in sorted(skills.items())]
            return ToolResult(text="\n".join(listed) or "there are no skills here")
        if wanted.name not in skills:
            known = ", ".join(sorted(skills)) or "none"
            raise ToolError(f"there is no skill `{wanted.name}`; there are: {known}")
        return ToolResult(text=read_text(skills[wanted.name]))

    def _skills(self, workspace: Path) -> Iterator[tuple[str, Path]]:
        """Every skill with its file; of two with a name, the one of the first folder comes last."""
        for folder in reversed(self._folders):
            root = locate(str(folder), workspace)
            with suppress(OSError):
                for home in root.iterdir():
                    path = locate(FILE, home)
                    if path.is_file() and is_inside(path, root):  # a link out of the folder is no skill
                        yield home.name, path


def _description(path: Path) -> str:
    """The `description` of a skill's front matter."""
    try:
        lines = read_text(path).splitlines()
    except ToolError as error:
        return str(error)
    if not lines or lines[0].strip() != "---":
        return ""
    for line in lines[1:]:
        key, colon, value = line.partition(":")
        if line.strip() == "---":
            break
        if colon and key.strip() == "description":
            return value.strip().strip("\"'")
    return ""
