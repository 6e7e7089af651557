"""What a guest's strings and numbers can carry: UTF-8 without lone surrogates, and integers of a fixed width."""

import json
import re
from typing import Any

from hookline._core import strictjson

U32, U64, S32 = 2**32 - 1, 2**64 - 1, 2**31 - 1

_LONE = re.compile("[\ud800-\udfff]")
_ESCAPED = "\\ud"  # how a lone surrogate begins where JSON is written; a backslash of the text itself is doubled


def is_text(text: str) -> bool:
    """Whether *text* can be carried as it is."""
    return _LONE.search(text) is None


def text_of(text: str) -> str:
    """*text* as it can be carried: what is no character of Unicode is replaced."""
    return _LONE.sub("\ufffd", text)


def cut(text: str, most: int) -> str:
    """As much of *text* from its beginning as *most* bytes of UTF-8 can hold."""
    data = text_of(text).encode()
    return data.decode() if len(data) <= most else data[:most].decode("utf-8", "ignore")


def size_of(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text_of(text).encode())


def unsigned(number: float, most: int = U64) -> int:
    """*number* as an unsigned integer of at most *most*."""
    return max(0, min(int(number), most))


def signed(number: int) -> int:
    return max(-S32 - 1, min(number, S32))


def milliseconds(seconds: float) -> int:
    return unsigned(seconds * 1000 + 0.5)


def exact_json(value: Any) -> str | None:
    """*value* in compact JSON that loses nothing of it; None where there is none. A lone surrogate is an escape."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return None
    return text.encode("utf-8", "backslashreplace").decode()


def json_of(value: Any) -> str:
    """*value* in compact JSON that any reader takes, whatever it holds: for what is read, and not decided on."""
    text = strictjson.encode(value, spaced=False).decode()
    if _ESCAPED not in text:
        return text
    return strictjson.encode(_in_text(json.loads(text)), spaced=False).decode()


def _in_text(value: Any) -> Any:
    match value:
        case str():
            return text_of(value)
        case dict():
            return {text_of(key): _in_text(inner) for key, inner in value.items()}
        case list():
            return [_in_text(inner) for inner in value]
        case _:
            return value
