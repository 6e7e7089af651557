"""Why there is no guest, or no answer of it. Raised within, a value outside."""

from typing import Any

from hookline._core.reasons import Failure


class Broken(Exception):  # caught where a call is made, and in the worker; a failed call of our callers
    """There is no answer. The fields are those of `CallFailed`.

    With `COULD_NOT_START` nothing of the guest has run, and its instance is as good as before; else it is lost.
    """

    def __init__(self, why: Failure, detail: str, *, stream: str = "", size: int = 0) -> None:
        super().__init__(detail)
        self.why = why
        self.detail = detail
        self.stream = stream
        self.size = size

    def as_message(self) -> dict[str, Any]:
        """The worker's line for it."""
        return {"failed": {"why": self.why.value, "detail": self.detail, "stream": self.stream, "size": self.size}}


def unusable(detail: str) -> Broken:
    """The guest cannot be had."""
    return Broken(Failure.COULD_NOT_START, detail)


def closed() -> Broken:
    """It was ended in the middle of a call."""
    return Broken(Failure.SIGNAL, "ended because the engine was closed")
