"""The account of a command's sessions: each in its journal, all of them before the console's eyes."""

from hookline._cli.console import Console
from hookline._core.ports import Journals, Recorder
from hookline.session.account import Followed


class Account:
    """Gives each session its journal, if journals are kept, and shows every record to the console too."""

    def __init__(self, journals: Journals | None, console: Console) -> None:
        self._journals = journals
        self._console = console

    def recorder(self, session_id: str) -> Recorder:
        journal = None if self._journals is None else self._journals.recorder(session_id)
        return Followed(journal, self._console.show)
