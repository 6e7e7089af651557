"""The "Hooks running" row of a terminal: which foreground hooks are at work, and for how long."""

import time


class Labels:
    """A row that is there while hooks run and gone when they have ended. Only for a terminal."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._running: dict[str, tuple[str, float]] = {}
        self._status = self._console.status("")

    def add(self, hook: str, label: str) -> None:
        """A hook has started."""
        self._running[hook] = (label, time.monotonic())
        self._refresh()

    def remove(self, hook: str) -> None:
        """A hook has ended."""
        self._running.pop(hook, None)
        self._refresh()

    def print(self, line: str) -> None:
        """A line that stays, above the row."""
        self._console.print(line, soft_wrap=True)

    def _refresh(self) -> None:
        if not self._running:
            self._status.stop()
            return
        from rich.text import Text

        names = ", ".join(label for label, _ in self._running.values())
        row = "".join(each if each.isprintable() else " " for each in f"Hooks running: {names}")
        self._status.update(Text(row, no_wrap=True, overflow="ellipsis"))
        self._status.start()
