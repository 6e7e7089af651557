from pathlib import Path
from typing import Any

import pytest

from hookline._core.errors import ToolError
from hookline.session.ports import Risk, Tool
from hookline.session.tools import builtin_tools


def skill(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(text)


def tool(**more: Any) -> Tool:
    return next(each for each in builtin_tools(**more) if each.spec.name == "read_skill")


async def test_without_a_name_the_skills_are_listed(workspace: Path, context: Any) -> None:
    """In order, with the description of their front matter where there is one."""
    folder = workspace / ".muse" / "skills"
    skill(folder, "testing", '---\nname: testing\ndescription: "How we: test"\n---\nRun make test.\n')
    skill(folder, "plain", "No front matter.\n")
    (folder / "no-skill").mkdir()
    (folder / "README.md").touch()

    assert (await tool().call({}, context())).text == "plain: \ntesting: How we: test"


async def test_without_any_there_is_nothing_to_list(context: Any) -> None:
    """A project need not have skills."""
    assert (await tool().call({}, context())).text == "there are no skills here"


async def test_a_skill_is_read_whole(workspace: Path, context: Any) -> None:
    """The file as it stands, front matter included. Reading it is reading the workspace."""
    skill(workspace / ".muse" / "skills", "testing", "---\ndescription: x\n---\nRun make test.\n")

    assert (await tool().call({"name": "testing"}, context())).text == "---\ndescription: x\n---\nRun make test.\n"
    assert tool().risk({"name": "testing"}, workspace) is Risk.READS


async def test_a_skill_that_is_not_there_is_refused_and_the_others_named(workspace: Path, context: Any) -> None:
    """The error says what there is."""
    skill(workspace / ".muse" / "skills", "testing", "x")
    with pytest.raises(ToolError, match="no skill `tests`; there are: testing"):
        await tool().call({"name": "tests"}, context())


async def test_the_first_folder_that_has_a_name_wins(workspace: Path, tmp_path: Path, context: Any) -> None:
    """Folders are asked in the order given, absolute ones as they are."""
    skill(workspace / "skills", "testing", "the project's")
    skill(tmp_path / "mine", "testing", "mine")
    skill(tmp_path / "mine", "other", "other")
    both = tool(skill_folders=("skills", tmp_path / "mine"))

    assert (await both.call({"name": "testing"}, context())).text == "the project's"
    assert (await both.call({"name": "other"}, context())).text == "other"


async def test_a_link_out_of_the_folder_is_no_skill(workspace: Path, tmp_path: Path, context: Any) -> None:
    """A project cannot have any file of the machine read by calling it a skill."""
    (tmp_path / "secret").write_text("secret")
    folder = workspace / ".muse" / "skills" / "sly"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").symlink_to(tmp_path / "secret")
    (workspace / ".muse" / "skills" / "circle").symlink_to("circle")
    with pytest.raises(ToolError, match="no skill `sly`"):
        await tool().call({"name": "sly"}, context())


async def test_a_skill_that_cannot_be_read_does_not_hide_the_others(workspace: Path, context: Any) -> None:
    """The list says what is wrong with it."""
    skill(workspace / ".muse" / "skills", "good", "x")
    skill(workspace / ".muse" / "skills", "odd", "x")
    (workspace / ".muse" / "skills" / "odd" / "SKILL.md").write_bytes(b"\xff")

    text = (await tool().call({}, context())).text

    assert text.startswith("good: \nodd: ")
    assert "not UTF-8" in text
