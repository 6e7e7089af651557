import asyncio
import os
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hookline._core.errors import ToolError
from hookline.session.ports import Risk
from hookline.session.tools import _files, builtin_tools, files

TOOLS = {tool.spec.name: tool for tool in builtin_tools()}
READ, WRITE, EDIT = (TOOLS[name] for name in ("read_file", "write_file", "edit_file"))
INPUTS: dict[str, dict[str, Any]] = {
    "read_file": {},
    "write_file": {"content": "new"},
    "edit_file": {"find": "a", "replace": "b"},
}


@pytest.mark.parametrize(
    ("path", "inside"),
    [("a", True), ("sub/../a", True), ("../a", False), ("/etc/passwd", False), ("link/a", False), ("near-link", True)],
)
@pytest.mark.parametrize("name", list(INPUTS))
def test_risk_follows_links(name: str, path: str, inside: bool, workspace: Path) -> None:
    """What counts is where a path leads: inside, reading and changing; outside, both reach out."""
    (workspace / "link").symlink_to("/")
    (workspace / "near-link").symlink_to("a")
    near = Risk.READS if name == "read_file" else Risk.CHANGES

    risk = TOOLS[name].risk({"path": path, **INPUTS[name]}, workspace)

    assert risk is (near if inside else Risk.REACHES_OUT)


async def test_reading_gives_the_text_as_it_stands(workspace: Path, context: Any) -> None:
    """Every character, line ends included, so that it can be searched for exactly."""
    (workspace / "a").write_bytes(b"one\r\ntwo\x0c\xc3\xa9\n\nlast")

    assert (await READ.call({"path": "a"}, context())).text == "one\r\ntwo\x0cé\n\nlast"


async def test_reading_in_parts(workspace: Path, context: Any) -> None:
    """`offset` and `limit` count lines; what is left is said, with how to read on."""
    (workspace / "a").write_text("1\n2\n3\n4\n")

    assert (await READ.call({"path": "a", "offset": 2, "limit": 2}, context())).text == (
        "2\n3\n[line 3 of 4; read on with `offset` 4]\n"
    )
    assert (await READ.call({"path": "a", "offset": 4}, context())).text == "4\n"
    with pytest.raises(ToolError, match="has 4 lines; `offset` is 5"):
        await READ.call({"path": "a", "offset": 5}, context())


async def test_reading_an_empty_file(workspace: Path, context: Any) -> None:
    """Nothing is a text too."""
    (workspace / "a").touch()

    assert (await READ.call({"path": "a"}, context())).text == ""


async def test_an_answer_is_bounded(workspace: Path, context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are given while there is room; a line that alone is too long is cut, and the answer says so."""
    monkeypatch.setattr(files, "MAX_SHOWN", 10)
    (workspace / "a").write_text("12345\n12345\n12345678901234\n")

    assert (await READ.call({"path": "a"}, context())).text == "12345\n[line 1 of 3; read on with `offset` 2]\n"
    assert (await READ.call({"path": "a", "offset": 3}, context())).text == (
        "1234567890\n[line 3 goes on: it has 15 characters]\n"
    )


def names_in(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


def link_in_a_circle(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("make", [Path.mkdir, make_pipe, make_socket, link_in_a_circle])
@pytest.mark.parametrize("name", list(INPUTS))
async def test_what_is_no_file_is_refused(
    name: str, make: Callable[[Path], None], workspace: Path, context: Any
) -> None:
    """A directory, a pipe that nobody writes to, a socket, a circle of links: refused at once and left alone."""
    make(workspace / "odd")
    before = (workspace / "odd").lstat()  # all but the time of the last access: looking at a link counts as one
    with pytest.raises(ToolError, match="odd"):
        await TOOLS[name].call({"path": "odd", **INPUTS[name]}, context())

    assert (workspace / "odd").lstat()[:7] == before[:7]
    assert (workspace / "odd").lstat().st_mtime_ns == before.st_mtime_ns
    assert names_in(workspace) == {"odd"}


@pytest.mark.parametrize("name", list(INPUTS))
async def test_a_device_is_refused(name: str, context: Any) -> None:
    """A device has no end and no content to replace."""
    with pytest.raises(ToolError, match="/dev/zero is a device, not a file"):
        await TOOLS[name].call({"path": "/dev/zero", **INPUTS[name]}, context())


@pytest.mark.parametrize("name", ["read_file", "edit_file"])
@pytest.mark.parametrize(
    ("data", "said"),
    [(b"ab\xff", "not UTF-8 text: byte 0xff at offset 2"), (b"a\0b", "holds a NUL character at offset 1")],
)
async def test_a_binary_file_is_refused(name: str, data: bytes, said: str, workspace: Path, context: Any) -> None:
    """What is no text is neither shown nor edited, and the error says why it is none."""
    (workspace / "a").write_bytes(data)
    with pytest.raises(ToolError, match=said):
        await TOOLS[name].call({"path": "a", **INPUTS[name]}, context())

    assert (workspace / "a").read_bytes() == data


@pytest.mark.parametrize("name", ["read_file", "edit_file"])
async def test_a_file_that_is_not_there_is_said_to_be_so(name: str, context: Any) -> None:
    """The error names the file."""
    with pytest.raises(ToolError, match="/none does not exist"):
        await TOOLS[name].call({"path": "none", **INPUTS[name]}, context())


async def test_sizes_are_bounded(workspace: Path, context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One byte over is too much, to read as to write; a file that is too large stays as it is."""
    monkeypatch.setattr(_files, "MAX_BYTES", 4)
    await WRITE.call({"path": "a", "content": "1234"}, context())
    assert (await READ.call({"path": "a"}, context())).text == "1234"
    with pytest.raises(ToolError, match="has 5 bytes; at most 4"):
        await WRITE.call({"path": "a", "content": "12345"}, context())
    assert (workspace / "a").read_text() == "1234"
    (workspace / "a").write_text("12345")
    with pytest.raises(ToolError, match="holds more than 4 bytes"):
        await READ.call({"path": "a"}, context())


async def test_writing_makes_the_directories_it_needs(workspace: Path, context: Any) -> None:
    """A new file gets the mode that the umask leaves, and its folders are made."""
    before = os.umask(0o027)
    try:
        result = await WRITE.call({"path": "sub/deep/a", "content": "é"}, context())
    finally:
        os.umask(before)

    assert (workspace / "sub" / "deep" / "a").read_bytes() == b"\xc3\xa9"
    assert stat.S_IMODE((workspace / "sub" / "deep" / "a").stat().st_mode) == 0o640
    assert result.text == "created sub/deep/a: 2 bytes"


@pytest.mark.parametrize("name", ["write_file", "edit_file"])
async def test_a_file_keeps_its_mode_and_its_place(name: str, workspace: Path, context: Any) -> None:
    """What is executable stays so, a link goes on leading there, and nothing else is left in the folder."""
    (workspace / "real").write_text("a")
    (workspace / "real").chmod(0o754)
    (workspace / "link").symlink_to("real")
    await TOOLS[name].call({"path": "link", **INPUTS[name]}, context())

    assert (workspace / "link").is_symlink()
    assert (workspace / "real").read_text() == INPUTS[name].get("content", "b")
    assert stat.S_IMODE((workspace / "real").stat().st_mode) == 0o754
    assert names_in(workspace) == {"real", "link"}


async def test_a_reader_sees_the_old_text_or_the_new(workspace: Path, context: Any) -> None:
    """A file is replaced, not rewritten: who has it open keeps what it was."""
    (workspace / "a").write_text("old")
    with (workspace / "a").open() as reader:
        await WRITE.call({"path": "a", "content": "new"}, context())

        assert reader.read() == "old"


async def test_a_write_that_fails_leaves_nothing(workspace: Path, context: Any) -> None:
    """Where a file stands in the way of a folder, nothing is made and the error says so."""
    (workspace / "a").write_text("old")
    with pytest.raises(ToolError, match="a/b"):
        await WRITE.call({"path": "a/b", "content": "new"}, context())

    assert names_in(workspace) == {"a"}


async def test_a_write_protected_file_stays(workspace: Path, context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replacing a file is no way around its mode."""
    (workspace / "a").write_text("old")
    (workspace / "a").chmod(0o444)
    if os.geteuid() == 0:  # whom the system lets write everything
        monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    with pytest.raises(ToolError, match="write-protected"):
        await WRITE.call({"path": "a", "content": "new"}, context())


async def test_an_edit_answers_with_a_patch(workspace: Path, context: Any) -> None:
    """The response has the shape that Muse hooks know."""
    (workspace / "a").write_text("one\ntwo\n")
    result = await EDIT.call({"path": "a", "find": "two", "replace": "2"}, context())

    assert (workspace / "a").read_text() == "one\n2\n"
    assert result.text == "edited a: 1 replacement"
    assert result.seen_by_hooks() == {
        "filePath": str(workspace / "a"),
        "structuredPatch": [
            {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" one", "-two", "+2"]}
        ],
    }


async def test_all_replaces_every_occurrence(workspace: Path, context: Any) -> None:
    """As many as there are, and the answer counts them."""
    (workspace / "a").write_text("x x\nx\n")
    result = await EDIT.call({"path": "a", "find": "x", "replace": "xx", "all": True}, context())

    assert (workspace / "a").read_text() == "xx xx\nxx\n"
    assert result.text == "edited a: 3 replacements"


@pytest.mark.parametrize(
    ("text", "find", "said"),
    [
        ("b\n", "a", "does not stand in"),
        ("a\nb\na\n", "a", "more than once in .*/a, at lines 1, 3;"),
        ("aaa\n", "aa", "more than once"),
        ("a\n" * 20, "a", r"at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, \.\.\.;"),
        ("a\r\nb\r\n", "a\nb", r"end in \\r\\n"),
    ],
    ids=["absent", "twice", "overlapping", "many", "other line ends"],
)
async def test_an_edit_that_is_not_clear_changes_nothing(
    text: str, find: str, said: str, workspace: Path, context: Any
) -> None:
    """The text to find has to stand there exactly once; the error says what to do."""
    (workspace / "a").write_bytes(text.encode())
    with pytest.raises(ToolError, match=said):
        await EDIT.call({"path": "a", "find": find, "replace": "new"}, context())

    assert (workspace / "a").read_bytes() == text.encode()


async def test_an_edit_to_the_same_text_is_a_mistake(workspace: Path, context: Any) -> None:
    """A model that changes nothing should know."""
    (workspace / "a").write_text("a")
    with pytest.raises(ToolError, match="nothing would change"):
        await EDIT.call({"path": "a", "find": "a", "replace": "a"}, context())


async def test_a_cancelled_call_is_cancelled_whatever_came_of_it(monkeypatch: Any) -> None:
    """A call that fails while it is being cancelled has not failed: the cancellation is not lost."""
    begun, go_on = threading.Event(), threading.Event()

    def work(*_: Any) -> Any:
        begun.set()
        go_on.wait()
        raise ToolError("there is no such file")

    tool = files.ReadFile()
    monkeypatch.setattr(tool, "work", work)
    context: Any = SimpleNamespace(session=SimpleNamespace(workspace=Path("/")))
    call = asyncio.ensure_future(tool.perform(files.Reading(path="x"), context))
    await asyncio.to_thread(begun.wait)
    call.cancel()
    go_on.set()
    await asyncio.wait([call])

    assert call.cancelled()
