"""What a hook that runs as a guest may ask its host, and how it is called: plain data, whoever carries it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hookline._core.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestCall:
    """One call of a function of a guest's interface. *argument* is its one record: JSON values, by field name."""

    function: str
    argument: Mapping[str, Any] = field(default_factory=dict)


class GuestError(Exception):  # not ours: the text is what the guest is told
    """What a guest asked for cannot be had. The text is its answer."""


class GuestHost(Protocol):
    """What a guest may ask of the session that it serves: one function for each import that is not WASI's.

    *name* is the import, such as `murmur:runtime/tokens@0.3.0#count`, *arguments* its arguments as JSON values. The
    result is a JSON value in the shape of the import's own, of a `result` the value of its `ok`; the `err` of one is
    raised as GuestError. Asked from a task of the event loop, and cancelled when the call that asked is over.
    """

    def imports(self) -> frozenset[str]:
        """Every name that may be asked for."""
        ...

    async def ask(self, name: str, arguments: tuple[Any, ...]) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """What the model answered, the model that was asked, and the tokens of both ways."""

    text: str
    model: str
    input_tokens: int
    output_tokens: int


class Surroundings(Protocol):
    """The session around a guest, in its own words. What a dialect's guests may ask of it is the dialect's to say.

    Each raises GuestError where it cannot be had.
    """

    async def infer(self, hook: str, messages: Sequence[Message], system: str, model: str | None) -> Inferred:
        """Have the capsule's model answer *messages*, on behalf of *hook*. *model* None means the capsule's own."""
        ...

    def count_tokens(self, text: str) -> int: ...

    def task_input(self, *, original: bool) -> str | None:
        """The task in scope, as this attempt received it or before any feedback; None where there is none."""
        ...

    def task_output(self) -> str | None:
        """What this attempt came to; None where it has not ended."""
        ...

    async def conversation(self) -> Sequence[Message]:
        """The kept record of the conversation in scope, oldest first."""
        ...
