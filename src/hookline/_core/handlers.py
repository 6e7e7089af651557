"""Handlers by name: callables of this process that a configuration may name."""

import threading
from dataclasses import dataclass

from hookline._core.errors import UsageError
from hookline._core.targets import Handler


@dataclass(frozen=True, slots=True)
class Registered:
    """The name was free."""

    revision: int


@dataclass(frozen=True, slots=True)
class Revised:
    """The name had a handler, which is not called any more."""

    previous: int
    revision: int


class Handlers:
    """The handlers that hooks may name, looked up when they are called. Any thread may register one, at any time.

    Revisions count from 1, over all names.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._revision = 0
        self._known: dict[str, tuple[int, Handler]] = {}

    def register(self, name: str, handler: Handler) -> Registered | Revised:
        """Have *handler* called by this name from now on. Raises UsageError for what is not callable."""
        if not callable(handler):
            raise UsageError(f"the handler {name} has to be callable, found {handler!r}")
        with self._lock:
            before = self._known.get(name)
            self._revision += 1
            self._known[name] = (self._revision, handler)
            return Registered(self._revision) if before is None else Revised(before[0], self._revision)

    def get(self, name: str) -> Handler | None:
        """The handler of this name, if there is one."""
        with self._lock:
            known = self._known.get(name)
        return None if known is None else known[1]

    def names(self) -> tuple[str, ...]:
        """Every name that has a handler."""
        with self._lock:
            return tuple(self._known)
