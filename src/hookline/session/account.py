"""Where the account of a session goes."""

from collections.abc import Callable

from hookline._core.ports import Recorder
from hookline._core.records import Record


class Account:
    """Where the account of a session goes: nowhere until the session opens, and nowhere if nobody keeps one."""

    def __init__(self) -> None:
        self.to: Recorder | None = None

    def record(self, record: Record) -> None:
        if self.to is not None:
            self.to.record(record)

    def close(self) -> None:
        if self.to is not None:
            self.to.close()


class Followed:
    """An account, if one is kept, that somebody follows: a record that *then* hears of has been written."""

    def __init__(self, kept: Recorder | None, then: Callable[[Record], None]) -> None:
        self._kept = kept
        self._then = then

    def record(self, record: Record) -> None:
        if self._kept is not None:
            self._kept.record(record)
        self._then(record)

    def close(self) -> None:
        if self._kept is not None:
            self._kept.close()
