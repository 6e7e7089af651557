"""What a hook may say about the pending action."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Allow:
    """The action needs no further approval. Only a point where approval is pending admits it."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """A person decides, whatever the approval mode says."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Deny:
    """The action does not happen. Nothing that any other hook answers can undo it.

    `code` is a closed word of the hook's dialect for the reason, where it has such words; `data` is for programs.
    """

    reason: str
    code: str = ""
    data: Any = field(default=None, hash=False)


Decision = Allow | Ask | Deny

DECISIONS: tuple[type[Decision], ...] = (Allow, Ask, Deny)  # weakest first: the fold takes the last that anyone made
