"""What every adapter does the same: failures that are not the target's to word, and the cap on a stream."""

from hookline._core.payload import CallFailed, Limits
from hookline._core.reasons import Failure

DETAIL_CHARACTERS = 1000  # an exception may carry a document; a failure is one line on a terminal


def timed_out(limits: Limits) -> CallFailed:
    """The deadline passed. Whole seconds are written as such, anything else in milliseconds."""
    seconds = limits.timeout
    text = f"{seconds:.0f}s" if float(seconds).is_integer() else f"{seconds * 1000:.0f}ms"
    return CallFailed(why=Failure.TIMEOUT, detail=f"hook timed out after {text}")


def crashed(error: BaseException) -> CallFailed:
    """A handler raised."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the exception's own code, which may do anything
        text = ""
    return CallFailed(why=Failure.CRASHED, detail=one_line(f"{name}: {text}" if text else name))


def could_not_start(detail: str) -> CallFailed:
    """The target never ran."""
    return CallFailed(why=Failure.COULD_NOT_START, detail=one_line(detail))


def closed() -> CallFailed:
    """The adapter was closed before the call began."""
    return could_not_start("no hook is started any more: the engine was closed")


def one_line(text: str) -> str:
    """One line of valid Unicode, of bounded length, whatever a name or an exception held."""
    line = " ".join(text.split())[:DETAIL_CHARACTERS]
    return line.encode("utf-8", "backslashreplace").decode()


class Capped:
    """One stream: its first *cap* bytes are kept, all that came are counted."""

    __slots__ = ("_kept", "cap", "seen")

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.seen = 0
        self._kept = bytearray()

    @property
    def kept(self) -> bytes:
        return bytes(self._kept)

    @property
    def over(self) -> bool:
        """Whether more came than is allowed; exactly the cap is allowed."""
        return self.seen > self.cap

    def take(self, chunk: bytes) -> bool:
        """Says whether more may come."""
        self._kept += chunk[: max(self.cap - self.seen, 0)]
        self.seen += len(chunk)
        return not self.over
