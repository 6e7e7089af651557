"""The shipped diff-summary hook by itself: what it says has changed is what has changed, and git can apply it."""

import asyncio
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.components.shipped_rig import Shipped, shipped

from hookline._core.payload import Yielded

EDITOR = "murmur-tool-editor"


def inference(decision: str, output: str | None = None) -> dict[str, Any]:
    return {
        "turn": 0,
        "input-tokens": 1,
        "output-tokens": 1,
        "decision": decision,
        "tool-name": None,
        "prompt": None,
        "output": output,
        "tools": None,
    }


async def handed_over(hook: Shipped, path: Path, before: bytes | None, after: bytes | None) -> Any:
    """What *hook* hands over of a task that turned *before* into *after*. None is no file."""
    call = {"type": "tool_use", "name": EDITOR, "input": {"operation": "write_file", "path": path.name, "content": ""}}
    path.unlink(missing_ok=True)
    if before is not None:
        path.write_bytes(before)
    await hook.call("on-inference", inference("tool_call", json.dumps([call])))
    path.unlink(missing_ok=True)
    if after is not None:
        path.write_bytes(after)
    reply = await hook.call("on-inference", inference("end_turn"))
    assert isinstance(reply, Yielded), reply
    assert "artifact" == reply.arm
    return json.loads(reply.value)["files"]


async def summarised(folder: Path, before: bytes | None, after: bytes | None) -> Any:
    async with shipped("murmur-hook-diff-summary", scope=folder) as hook:
        return await handed_over(hook, folder / "notes.py", before, after)


def applied(folder: Path, before: bytes, diff: str) -> bytes:
    """What git makes of *before* with *diff*."""
    path = folder / "notes.py"
    path.write_bytes(before)
    told = subprocess.run(
        ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-"],
        cwd=folder,
        input=diff.encode(),
        check=False,
        capture_output=True,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)},
    )
    assert 0 == told.returncode, told.stderr.decode() + diff
    return path.read_bytes()


# Few lines that come again and again, so that there is more than one way to compare them.
LINES = st.lists(st.sampled_from("abcdefgh"), max_size=40).map("\n".join)
TEXTS = st.tuples(LINES, st.sampled_from(["", "\n"])).map("".join)


@pytest.mark.slow
@pytest.mark.timeout(120)
@settings(max_examples=6, deadline=None, derandomize=True)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=20, max_size=40))
def test_git_makes_the_new_text_of_the_old_one(changes: list[tuple[str, str]]) -> None:
    """Whatever the two texts, task after task of one instance; the counts of lines are those of the diff."""
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(each_applies(Path(place), changes))


async def each_applies(folder: Path, changes: list[tuple[str, str]]) -> None:
    async with shipped("murmur-hook-diff-summary", scope=folder) as hook:
        for before, after in changes:
            found = await handed_over(hook, folder / "notes.py", before.encode(), after.encode())
            if before == after:
                assert [] == found
                continue
            (file,) = found
            assert after.encode() == applied(folder, before.encode(), file["diff"])
            lines = [line[:1] for line in file["diff"].splitlines()[2:]]
            assert (lines.count("+"), lines.count("-")) == (file["added_lines"], file["removed_lines"])
            assert len(lines) - lines.count(" ") - lines.count("@") - lines.count("\\") == file["total_changed_lines"]


@pytest.mark.parametrize("between", range(8))
async def test_changes_that_are_close_are_one_hunk(between: int, tmp_path: Path) -> None:
    """Two changes with few lines between them: no line stands in two hunks."""
    middle = [f"line {number}" for number in range(between)]
    before = "\n".join(["old", *middle, "old", ""]).encode()
    after = "\n".join(["new", *middle, "new", ""]).encode()
    (file,) = await summarised(tmp_path, before, after)

    assert after == applied(tmp_path, before, file["diff"])
    assert (1 if between <= 4 else 2) == len(file["hunks"])  # two lines around each change


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (None, b"one\n", {"added_lines": 1, "removed_lines": 0}),
        (b"one\n", None, {"added_lines": 0, "removed_lines": 1}),
        (b"a\0b", b"text", {"binary": True}),
        (b"text", b"\xff\xfe", {"binary": True}),
        (b"x\n" * 300_000, b"y\n", {"diff": None, "truncated": True}),
        (b"".join(b"%d\n" % n for n in range(400)), b"", {"removed_lines": 400, "truncated": True}),
        ("götter\n".encode(), "gütter\n".encode(), {"added_lines": 1, "removed_lines": 1}),
    ],
    ids=["new", "gone", "binary before", "binary after", "too large", "many lines", "not ASCII"],
)
async def test_what_cannot_be_told_in_lines(
    tmp_path: Path, before: bytes | None, after: bytes | None, told: dict[str, Any]
) -> None:
    """New files, files that are gone, bytes, and more than anybody reads."""
    (file,) = await summarised(tmp_path, before, after)

    assert told == {name: file.get(name) for name in told}
