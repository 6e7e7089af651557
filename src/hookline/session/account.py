"""Where the account of a session goes."""

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
