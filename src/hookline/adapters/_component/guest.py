"""A guest that can be called, wherever it runs."""

from collections.abc import Mapping
from typing import Any, Protocol

from hookline._core.guests import GuestCall
from hookline._core.payload import CallFailed, Yielded
from hookline._core.reasons import Failure
from hookline.adapters._component.broken import Broken
from hookline.adapters._limits import could_not_start, one_line

START = 30.0  # seconds for a guest to become ready: an interpreter needs one or two


class Guest(Protocol):
    """One instance, called by one task at a time. `alive`: nothing has broken it yet."""

    @property
    def interface(self) -> str: ...
    @property
    def functions(self) -> frozenset[str]:
        """Those of the interface that can be called."""
        ...

    @property
    def alive(self) -> bool: ...
    @property
    def ended(self) -> bool:
        """Whether nothing of it is left to be ended."""
        ...

    @property
    def stderr(self) -> bytes:
        """The last of what it wrote to its standard error, as far as it has one."""
        ...

    async def call(self, call: GuestCall, deadline: float) -> Mapping[str, Any]:
        """Its answer, a message with `ok` or `err`. Raises Broken, and TimeoutError at *deadline* (loop time).

        Whatever is raised, cancellation too, the guest may be of no more use; `alive` says so.
        """
        ...

    async def end(self) -> None:
        """Have it gone. Whoever calls it at the moment is told so."""
        ...

    def abandon(self) -> None:
        """Have it gone, without its loop, which is gone."""
        ...


def as_reply(answer: Mapping[str, Any]) -> Yielded | CallFailed:
    """A guest's answer as the reply of its call."""
    if "err" in answer:
        return CallFailed(why=Failure.ERROR, detail=one_line(answer["err"]))
    return Yielded(arm=answer["ok"], value=answer.get("value"))


def as_failure(broken: Broken) -> CallFailed:
    """Why there is no answer, as the reply of a call."""
    if broken.why is Failure.COULD_NOT_START and not broken.stream:
        return could_not_start(broken.detail)
    return CallFailed(why=broken.why, detail=one_line(broken.detail), stream=broken.stream, size=broken.size)
