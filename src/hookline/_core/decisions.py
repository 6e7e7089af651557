"""What a hook may say about the pending action."""

from dataclasses import dataclass


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
    """The action does not happen. Nothing that any other hook answers can undo it."""

    reason: str


Decision = Allow | Ask | Deny

DECISIONS: tuple[type[Decision], ...] = (Allow, Ask, Deny)  # weakest first: the fold takes the last that anyone made
