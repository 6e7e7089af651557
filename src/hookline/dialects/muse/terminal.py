"""Text that a hook wrote, made fit for a terminal: it may say anything, and move nothing."""

import unicodedata

LONGEST_LINE = 200  # characters; enough to recognise a key by


def one_line(text: str) -> str:
    """*text* on one line: a space for every control character, and cut where nobody reads on."""
    return _without_controls(text, kept="")[:LONGEST_LINE]


def some_lines(text: str) -> str:
    """*text* with a space for every control character but the newline."""
    return _without_controls(text, kept="\n")


def last_line(text: str) -> str:
    """The last line of *text* that says anything, or nothing."""
    return one_line(next((line.strip() for line in reversed(text.splitlines()) if line.strip()), ""))


def _without_controls(text: str, kept: str) -> str:
    if text.isprintable():
        return text
    return "".join(" " if unicodedata.category(each) == "Cc" and each not in kept else each for each in text)
