"""Content blocks, and the text that stands for them where only text fits (section 3.2)."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Block = Mapping[str, Any]

# What each kind of block is as text. A tool's result that is a list of these is taken as blocks, anything else as data.
TEXT_OF: dict[str, Callable[[Block], str]] = {
    "text": lambda block: str(block.get("text", "")),
    "image": lambda block: f"[image: {block.get('media_type', '')}]",
    "video": lambda block: f"[video: {block.get('media_type', '')}]",
    "structured": lambda block: _json(block.get("data")),
    "skill_context": lambda block: str(block.get("text", "")),
}


def text_of(content: str | Sequence[Block]) -> str:
    """The text projection: a newline between two blocks only where both say something."""
    if isinstance(content, str):
        return content
    text = ""
    for block in content:
        said = _text_of(block)
        text += ("\n" if text and said else "") + said
    return text


def _text_of(block: Block) -> str:
    projection = TEXT_OF.get(str(block.get("type")))
    return "" if projection is None else projection(block)


def blocks_of(result: Any) -> list[Block]:
    """What a tool gave back, as blocks."""
    match result:
        case None | "":
            return []
        case str():
            return [{"type": "text", "text": result}]
        case list() | tuple() if result and all(_is_block(each) for each in result):
            return list(result)
        case _:
            return [{"type": "structured", "data": _sorted(result)}]


def _is_block(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(kind := value.get("type"), str) and kind in TEXT_OF


def _sorted(value: Any) -> Any:
    """The same with the keys of every object in order."""
    match value:
        case Mapping():
            return {str(key): _sorted(value[key]) for key in sorted(value, key=str)}
        case list() | tuple():
            return [_sorted(each) for each in value]
        case _:
            return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
