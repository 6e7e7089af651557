"""What crosses to a hook and back, uninterpreted."""

from dataclasses import dataclass, field
from typing import Any

from hookline._core.made import made
from hookline._core.points import Event
from hookline._core.reasons import Failure, Skip


@made()
class Payload:
    """One event on its way to one hook: the event itself, its bytes in the dialect's form, and where to run.

    `value` is what a callable known by its name is given; without one it is given the event.
    """

    event: Event
    body: bytes = field(default=b"", repr=False)
    cwd: str = ""
    value: object = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A payload that must not be sent, with the closed reason."""

    why: Skip
    detail: str


@made()
class Returned:
    """A function returned this value."""

    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Exited:
    """A process ended by itself. `stdin_read` is how many bytes of the payload it had read, None if unknown.

    `left_behind` counts processes of its that were still alive and holding its output when it ended; they are killed.
    """

    code: int
    stdout: bytes = b""
    stderr: bytes = b""
    stdin_read: int | None = None
    stdin_size: int = 0
    left_behind: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailed:
    """There is no reply, and this is why. What was captured until then is kept for the record.

    Of what went over a cap `stream` says which (stdout, stderr or body; memory or table of a guest) and `size` how
    many bytes had come by then, or were wanted; 0 where that is not known. `interface` and `fresh` as in Yielded.
    """

    why: Failure
    detail: str
    code: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    left_behind: int = 0
    stream: str = ""
    size: int = 0
    interface: str = ""
    fresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Responded:
    """A server answered: its status, the words beside it, its headers with their names in lower case, and its body."""

    status: int
    reason: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Yielded:
    """A guest returned one case of its answer's variant: `arm`, with its payload as JSON values.

    `interface` is the one that it was called through. `fresh`: the instance was new, because what the one before it
    kept in memory was lost.
    """

    arm: str
    value: Any = None
    interface: str = ""
    fresh: bool = False


Reply = Returned | Exited | Responded | Yielded | CallFailed


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one call. Seconds; bytes apply to each output stream by itself."""

    timeout: float
    output_bytes: int = 16_384
