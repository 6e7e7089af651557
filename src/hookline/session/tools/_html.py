"""The readable text of an HTML page, found in one pass: no page, however it was made, may hold us up."""

import html
import re
import string
from contextlib import suppress

UNSEEN = frozenset({"script", "style", "noscript", "template", "svg"})
INLINE = frozenset({"a", "abbr", "b", "code", "em", "i", "kbd", "q", "s", "small", "span", "strong", "sub", "sup", "u"})
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # keeps every offset, as str.lower does not

_TAG_NAME = re.compile(r"</?([a-z][a-z0-9]*)")
_ADDRESS = re.compile(r"""\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_SPACES = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r"\n{3,}")


def readable(page: str) -> str:
    """The text of *page*, a line for each block, each link with its address before it."""
    lowered = page.translate(LOWER)
    pieces: list[str] = []
    at = 0
    while (start := page.find("<", at)) >= 0:
        pieces.append(page[at:start])
        piece, at = _markup(page, lowered, start)
        pieces.append(piece)
    text = "".join((*pieces, page[at:]))
    with suppress(ValueError):  # a number too long for an int stays as it is
        text = html.unescape(text)
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def _markup(page: str, lowered: str, start: int) -> tuple[str, int]:
    """What the markup at *start* stands for, and where the page goes on. What never ends takes all the rest."""
    if page.startswith("<!--", start):
        return "", _after(page, "-->", start + 4)
    named = _TAG_NAME.match(lowered, start)
    if named is None:
        return ("", _after(page, ">", start)) if page.startswith(("<!", "<?"), start) else ("<", start + 1)
    end = _after(page, ">", start)
    name = named[1]
    if name in UNSEEN and page[start + 1] != "/":
        return "", _after(page, ">", _after(lowered, f"</{name}", end))
    if name == "a":
        return _address(page[start:end]), end
    return "" if name in INLINE else "\n", end


def _after(page: str, wanted: str, start: int) -> int:
    at = page.find(wanted, start)
    return len(page) if at < 0 else at + len(wanted)


def _address(tag: str) -> str:
    """Where a link leads, unless that is within the page or a script."""
    found = _ADDRESS.search(tag)
    address = next(filter(None, found.groups()), "") if found else ""
    return "" if not address or address.startswith(("#", "javascript:")) else f"[{address}] "
