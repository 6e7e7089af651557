"""Any value as one line of JSON. What hooks and models hand us must not be able to keep a line from being written."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

DEPTH = 200  # levels of nesting that are written: more than any file or reply of ours may have, and few to a reader
LONGEST_INT = 4000  # digits; Python reads no more than 4300 of them
MOST_PLAIN = 16 * 1024 * 1024  # bytes of a value as JSON: as much as a line of a journal may have
MOST_BYTES_A_CHARACTER = 12  # a character beyond the basic plane, as two escapes


def line_of(value: object, *, limit: int) -> bytes:
    """*value* as JSON of at most *limit* bytes. Never raises.

    What JSON has no form for is written as its repr, a lone surrogate as its escape. A value that would be longer is
    cut, texts and collections from the point where the room ends.
    """
    try:
        line = FAST.encode(value)
    except Exception:  # noqa: BLE001  whatever a foreign object raises, the slower way does not trip over it
        line = _spelled_out(value, room=limit)
    return line if len(line) <= limit else _spelled_out(value, room=limit // MOST_BYTES_A_CHARACTER // 2)


def plain(value: object) -> Any:
    """*value* as JSON has it: objects, lists, texts, numbers, true, false and null. Never raises."""
    return msgspec.json.decode(line_of(value, limit=MOST_PLAIN))


def _spelled_out(value: object, *, room: int) -> bytes:
    data = _Walk(room).plain(value)
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")


def _shown(value: object) -> str:
    """The repr of a value that has no JSON form."""
    try:
        return str.__str__(repr(value))
    except Exception:  # noqa: BLE001  a repr may raise anything, and the line is still written
        return f"<{type(value).__name__}>"


def _nearest(value: object) -> Any:
    """The plain type that a value of a type unknown to msgspec stands for."""
    match value:
        case str():
            return str.__str__(value)
        case int():
            return int.__int__(value)
        case float():
            return float.__float__(value)
        case Mapping():
            return dict(value)
        case Sequence() | AbstractSet():
            return list(value)
        case _:
            return _shown(value)


FAST = msgspec.json.Encoder(enc_hook=_nearest)


class _Walk:
    """One walk through a value that takes no more than *room* characters out of it, nor more levels than DEPTH."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.above: list[int] = []  # ids of the collections around the current value

    def plain(self, value: object) -> Any:
        match value:
            case None | bool():
                self.room -= 5
                return value
            case str():
                return self._text(str.__str__(value))
            case int():
                return self._whole(int.__int__(value))
            case float():
                self.room -= 24
                return float.__float__(value) if math.isfinite(value) else None
            case _ if id(value) in self.above or len(self.above) >= DEPTH:
                return self._text("...")
            case _:
                self.room -= 2
                self.above.append(id(value))
                try:
                    return self._collection(value)
                finally:
                    self.above.pop()

    def _text(self, text: str) -> str:
        kept = text if len(text) <= self.room else text[: max(self.room, 0)] + "..."
        self.room -= len(kept) + 3
        return kept

    def _whole(self, number: int) -> Any:
        if number.bit_length() > LONGEST_INT * 3:
            return self._text(hex(number))
        self.room -= number.bit_length() // 3 + 2
        return number

    def _collection(self, value: object) -> Any:
        match value:
            case msgspec.Struct():  # ours: every field stands, so that the line can be read back
                return {name: self.plain(getattr(value, name)) for name in value.__struct_fields__}
            case Mapping():
                return self._members(value.items())
            case list() | tuple() | AbstractSet() | Sequence() if not isinstance(value, bytes | bytearray):
                return self._items(value)
            case _ if is_dataclass(value):
                return {each.name: self.plain(getattr(value, each.name)) for each in fields(value)}
            case _:
                return self._leaf(value)

    def _items(self, values: Iterable[object]) -> list[Any]:
        kept = []
        for value in values:
            if self.room <= 0:
                break
            kept.append(self.plain(value))
        return kept

    def _members(self, pairs: Iterable[tuple[object, object]]) -> dict[str, Any]:
        kept = {}
        for key, value in pairs:
            if self.room <= 0:
                break
            name = self._text(str.__str__(key) if isinstance(key, str) else _shown(key))
            kept[name] = self.plain(value)
        return kept

    def _leaf(self, value: object) -> Any:
        """Bytes, times and the like as the fast way writes them."""
        try:
            data = msgspec.to_builtins(value, enc_hook=_shown)
        except Exception:  # noqa: BLE001  as in line_of
            data = _shown(value)
        return self.plain(data if isinstance(data, str | int | float) else _shown(value))
