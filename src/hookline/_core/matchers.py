"""Matchers: the test that an event's subjects must pass before a hook is called."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@runtime_checkable
class Matcher(Protocol):
    """Says whether any of an event's subjects is meant. Must take time linear in their length.

    Its text is what people are told of it.
    """

    def matches(self, subjects: tuple[str, ...]) -> bool: ...


@dataclass(frozen=True, slots=True)
class Everything:
    """Matches every occurrence, also of points that have no subject."""

    def __str__(self) -> str:
        return "everything"

    def matches(self, subjects: tuple[str, ...]) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Names:
    """Matches a subject that equals one of these names, case and all."""

    names: frozenset[str]

    def __str__(self) -> str:
        return "exactly " + " or ".join(sorted(self.names)) if self.names else "no name at all"

    def matches(self, subjects: tuple[str, ...]) -> bool:
        return not self.names.isdisjoint(subjects)


EVERYTHING = Everything()


def exact_names(matcher: Matcher) -> frozenset[str] | None:
    """The names that *matcher* is a list of, None for one of another kind."""
    return getattr(matcher, "names", None)


def names(*wanted: str) -> Names:
    """Match exactly these names: `names("bash", "write_file")`."""
    return Names(frozenset(wanted))
