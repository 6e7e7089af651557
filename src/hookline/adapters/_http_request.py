"""What can be said against an HTTP request before any of it is sent. Needs no library."""

import re

from hookline._core.targets import HttpTarget

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")

# They say where the request ends and when its body is sent. A wrong one would have the server wait for what never
# comes, or take a part of the body for another request.
_FRAMING = frozenset({"content-length", "expect", "transfer-encoding"})


def objection_to(target: HttpTarget) -> str:
    """Why this method and these headers cannot be sent, empty if they can. Quotes no header's value.

    Nor a name that is none: such a line may be a whole header, with its credentials, in the wrong field.
    """
    if not _TOKEN.fullmatch(target.method):
        return f"invalid HTTP method {target.method!r}: it may hold letters, digits and !#$%&'*+-.^_`|~ only"
    for number, (name, value) in enumerate(target.headers, start=1):
        if not _TOKEN.fullmatch(name):
            return f"request: header {number}: its name is empty or holds what no name may, such as a space or a colon"
        if _UNSENDABLE.search(value):
            return f"request: header {name!r}: its value holds a control character, such as a line break"
        if name.lower() in _FRAMING:
            return f"request: header {name!r}: leave it out, it is made from the body that is sent"
    return ""
