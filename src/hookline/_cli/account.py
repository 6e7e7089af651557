"""The account of a command's sessions: each in its journal, all of them before the console's eyes."""

from hookline._cli.console import Console
from hookline._core.ports import Journals, Recorder
from hookline._core.records import Record


class Account:
    """Gives each session its journal, if journals are kept, and shows every record to the console too."""

    def __init__(self, journals: Journals | None, console: Console) -> None:
        self._journals = journals
        self._console = console

    def recorder(self, session_id: str) -> Recorder:
        journal = None if self._journals is None else self._journals.recorder(session_id)
        return _Both(journal, self._console)


class _Both:
    """Writes a record first and shows it then: what is shown has been kept."""

    def __init__(self, journal: Recorder | None, console: Console) -> None:
        self._journal = journal
        self._console = console

    def record(self, record: Record) -> None:
        if self._journal is not None:
            self._journal.record(record)
        self._console.show(record)

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()
