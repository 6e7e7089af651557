"""The protocol between hookline and a guest in another process: JSON lines, each a message.

The host's first line to our worker is `{"setup": ...}`; a program gets none. The guest begins with
`{"ready": interface, "functions": [...]}`, then answers each `{"call": function, "argument": {...}}` with
`{"ok": arm, "value": ...}` or `{"err": text}`; ours also with `{"failed": {...}}`, see `Broken`. Before it answers it
may say `{"ask": import, "arguments": [...]}`, and is told `{"ok": value}` or `{"err": text}`.
"""

import json
from collections.abc import Mapping
from typing import Any

LONGEST = 24 * 1024 * 1024  # of the guest's lines: the most text that is lifted, and as much again by half for escapes


def line(message: Mapping[str, Any]) -> bytes:
    """*message* as a line. Halves of characters stay as escapes, since no UTF-8 has them."""
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"
