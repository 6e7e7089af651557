"""Places within a document: how they are named, and where a key stands."""

import json
import re

from hookline._core.strictjson import Part, Path

_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")


def key_of(at: Path) -> Path:
    """The place of a key, where *at* is its value's."""
    return (*at, Part.KEY)


def path_text(at: Path) -> str:
    """A path as people write it: `hooks.PreToolUse[0].hooks[1].timeout`."""
    text = ""
    for step in at:
        if isinstance(step, int):
            text += f"[{step}]"
        elif isinstance(step, str):
            text += f".{step}" if _WORD.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"
    return text.removeprefix(".")
