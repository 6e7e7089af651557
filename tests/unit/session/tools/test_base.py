from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from hookline._core.errors import ToolError
from hookline.session.ports import Risk
from hookline.session.tools import builtin_tools

TOOLS = {tool.spec.name: tool for tool in builtin_tools()}

VALID: dict[str, dict[str, Any]] = {
    "bash": {"command": "ls"},
    "bash_input": {"id": "bash-1"},
    "read_file": {"path": "a"},
    "write_file": {"path": "a", "content": ""},
    "edit_file": {"path": "a", "find": "x", "replace": "y"},
    "search": {"pattern": "x"},
    "web_fetch": {"url": "http://localhost/"},
    "web_search": {"query": "x"},
    "subagent_spawn": {"objective": "look"},
    "read_skill": {},
}

WRONG = [
    ("raw text", "bash", "ls -l", "the input must be a JSON object"),
    ("null", "bash", None, "found null"),
    ("an array", "bash", ["ls"], "found an array"),
    ("missing", "bash", {}, "field `command` is missing"),
    ("empty", "bash", {"command": ""}, "field `command`: expected `str` of length >= 1"),
    ("wrong type", "bash", {"command": 1}, "field `command`: expected `str`, got `int`"),
    ("misspelt", "bash", {"command": "ls", "workdri": "."}, "no field `workdri`; did you mean `workdir`?"),
    ("unheard of", "read_file", {"path": "a", "zzz": 1}, "no field `zzz`; there are `path`, `offset`, `limit`"),
    ("no integer", "bash", {"command": "ls", "timeout_ms": 0.5}, "field `timeout_ms`: expected `int | null`"),
    ("too small", "bash", {"command": "ls", "timeout_ms": 0}, "field `timeout_ms`: expected `int` >= 1"),
    ("text for a boolean", "bash", {"command": "ls", "background": "yes"}, "field `background`: expected `bool`"),
    ("NUL in a path", "read_file", {"path": "a\0b"}, "field `path`"),
    ("half a character", "write_file", {"path": "a", "content": "\ud800"}, "field `content`: holds half"),
    ("no web address", "web_fetch", {"url": "file:///etc/passwd"}, "field `url`"),
    ("a path for a skill", "read_skill", {"name": "../secret"}, "field `name`"),
    ("a dot for a skill", "read_skill", {"name": ".."}, "field `name`"),
    ("a key that is no text", "bash", {"command": "ls", 1: 2}, "no field `1`"),
]


def test_every_native_tool_is_there() -> None:
    """The names are those of the Muse document, and `VALID` here has an input for each."""
    assert set(VALID) == set(TOOLS)


@pytest.mark.parametrize("name", list(TOOLS))
def test_parameters_are_one_flat_closed_object(name: str) -> None:
    """A model gets a JSON Schema without references that says what each field is and admits no other."""
    parameters = TOOLS[name].spec.parameters

    assert parameters["type"] == "object"
    assert parameters["additionalProperties"] is False
    assert all(each["description"] for each in parameters["properties"].values())
    assert "$ref" not in str(parameters)


@pytest.mark.parametrize("name", list(TOOLS))
def test_a_valid_input_meets_no_objection(name: str) -> None:
    """`check` says nothing about the least that a tool needs, be it a dict or any other mapping."""
    assert TOOLS[name].check(VALID[name]) is None
    assert TOOLS[name].check(MappingProxyType(VALID[name])) is None


@pytest.mark.parametrize(("name", "input", "said"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_an_objection_names_its_field(name: str, input: Any, said: str) -> None:
    """`check` says which field is wrong, and how."""
    assert said in (TOOLS[name].check(input) or "")


def test_every_objection_is_made_at_once() -> None:
    """A model learns of all its mistakes in one answer."""
    said = TOOLS["edit_file"].check({"path": 1, "find": "", "with": "x"}) or ""

    assert [name for name in ("path", "find", "replace", "with") if f"field `{name}`" in said] == [
        "path",
        "find",
        "replace",
        "with",
    ]


@pytest.mark.parametrize("name", list(TOOLS))
async def test_an_invalid_input_does_nothing(name: str, workspace: Any, context: Any) -> None:
    """Raw or wrong input is refused by `call`, starts no program, and is taken to reach as far as can be."""
    tool = TOOLS[name]

    assert tool.risk("raw", workspace) is Risk.REACHES_OUT
    assert tool.directory("raw", workspace) == workspace
    assert tool.resolve("raw", context()) is None
    with pytest.raises(ToolError, match="must be a JSON object"):
        await tool.call("raw", context())


def test_aliases_are_data_from_outside() -> None:
    """Each tool carries the aliases that it was given, and none of its own."""
    tools = {tool.spec.name: tool for tool in builtin_tools({"bash": ("Bash", "shell"), "search": ("Grep",)})}

    assert tools["bash"].aliases == ("Bash", "shell")
    assert tools["search"].aliases == ("Grep",)
    assert tools["bash_input"].aliases == ()


PAGE = (Path(__file__).parents[4] / "docs" / "tools.md").read_text()


@pytest.mark.parametrize("name", list(TOOLS))
def test_the_page_says_all_there_is(name: str) -> None:
    """docs/tools.md has every tool, and every field of it."""
    assert f"| `{name}` |" in PAGE
    assert [field for field in TOOLS[name].spec.parameters["properties"] if f"| `{field}` |" not in PAGE] == []
