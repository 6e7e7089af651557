"""Globs over paths, as regular expressions."""

import re

import re2

TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\{[^{}]*\}|.", re.DOTALL)


def regex_of(glob: str) -> str:
    """An expression that the whole path must match.

    `*` and `?` stay within a segment, `**` does not, `{a,b}` is either. A glob without a slash is for the last segment
    alone.
    """
    anywhere = "" if "/" in glob else "(?:.*/)?"
    return "(?s)^" + anywhere + "".join(_piece(token) for token in TOKEN.findall(glob)) + "$"


def _piece(token: str) -> str:
    match token:
        case "**/":
            return "(?:.*/)?"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _ if len(token) > 1:
            inner = token[1:-1].split(",")
            return "(?:" + "|".join("".join(map(_piece, TOKEN.findall(each))) for each in inner) + ")"
        case _:
            return re2.escape(token)
