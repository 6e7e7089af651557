"""Output of a program, of which the head and the tail are kept when it is too much."""

LIMIT = 64 * 1024  # bytes: more than a model makes anything of, and an event about it still fits a payload
LONGEST_CHARACTER = 4  # bytes of UTF-8
CONTINUING = range(0x80, 0xC0)  # a byte within a character
LEADING = (0xC0, 0xE0, 0xF0)  # from here on, the first byte of a character of two, three, four


class Capture:
    """Takes any number of bytes and keeps the first and the last half of *limit*."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.total = 0
        self._limit = limit
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()

    @property
    def truncated(self) -> bool:
        return self.total > self._limit

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > self._limit:  # not at half already: trimming costs, so it is done once per half
            del self._tail[: -self._half]

    def text(self) -> str:
        """What was kept. A line in the middle says how much was not."""
        if not self.truncated:
            return (self._head + self._tail).decode(errors="replace")
        head = self._head[: whole_characters(self._head)]
        tail = self._tail[-self._half :]
        tail = tail[first_character(tail) :]
        left_out = self.total - len(head) - len(tail)
        middle = f"\n[... {left_out} bytes left out ...]\n"
        return head.decode(errors="replace") + middle + tail.decode(errors="replace")

    def cut(self) -> "Capture":
        """A new capture for what comes next. It begins with the character that this one was cut off in."""
        last = self._tail or self._head
        end = whole_characters(last)
        following = Capture(self._limit)
        following.add(bytes(last[end:]))
        self.total -= len(last) - end
        del last[end:]
        return following


def whole_characters(data: bytes | bytearray) -> int:
    """The length of *data* without a UTF-8 character at its end that has only begun."""
    for back in range(1, min(LONGEST_CHARACTER, len(data)) + 1):
        byte = data[-back]
        if byte not in CONTINUING:
            length = 1 + sum(byte >= first for first in LEADING)
            return len(data) - back if length > back else len(data)
    return len(data)


def first_character(data: bytes | bytearray) -> int:
    """Where in *data* the first whole UTF-8 character begins."""
    for start in range(min(LONGEST_CHARACTER, len(data))):
        if data[start] not in CONTINUING:
            return start
    return 0
