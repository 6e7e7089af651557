"""Journals in memory, for tests that look at the account of a session."""

from typing import Any

from hookline._core.ports import Recorder
from hookline._core.records import Record


class Kept:
    """Every record of every session, in order. Implements Journals, and Recorder."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def recorder(self, session_id: str) -> Recorder:
        return self

    def record(self, record: Record) -> None:
        self.records.append(record)

    def close(self) -> None:
        """Nothing to let go of."""

    def of(self, kind: type[Any]) -> list[Any]:
        """The records of one kind."""
        return [record for record in self.records if isinstance(record, kind)]
