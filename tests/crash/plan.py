"""What a life is given to do, and where it may end: both follow from a seed."""

import itertools
import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

T = TypeVar("T")


class Way(Enum):
    """How an input is given."""

    ADMIT = "admit"
    TOGETHER = "together"  # all of a group at once, each by a task of its own
    RUN = "run"  # the first of a group by `Session.run`, while the rest is admitted


@dataclass(frozen=True, slots=True)
class Given:
    """One input. `label` is its text, by which a run is known; `id` is not used where `Session.run` makes one."""

    label: str
    id: str
    key: str | None


@dataclass(frozen=True, slots=True)
class Group:
    way: Way
    given: tuple[Given, ...]


def groups(seed: int) -> tuple[Group, ...]:
    """The same for the same seed: a handful of inputs, of which some use a key that one before them has used."""
    chance = random.Random(seed)  # noqa: S311 - an order is no secret
    keys: list[str] = []
    labels = (f"work-{number}" for number in itertools.count(1))

    def given(key: str | None) -> Given:
        return Given(next(labels), str(uuid.UUID(int=chance.getrandbits(128), version=4)), key)

    def fresh() -> Given:
        keys.append(f"key-{len(keys) + 1}")
        return given(keys[-1])

    def used() -> Given:
        return given(chance.choice(keys))

    def any_of(count: int) -> list[Given]:
        return [chance.choice((fresh, used, lambda: given(None)))() for _ in range(count)]

    return (
        Group(Way.ADMIT, (fresh(),)),
        Group(Way.TOGETHER, (*any_of(2), used())),
        Group(Way.RUN, (fresh(), *any_of(1))),
        Group(Way.ADMIT, tuple(any_of(1))),
        Group(Way.RUN, (used(),)),
        Group(Way.ADMIT, (used(),)),
    )


class What(Enum):
    """What a step is."""

    STATEMENT = "statement"  # of SQLite, in the process itself
    MESSAGE = "message"  # from the process to PostgreSQL's server
    LINE = "line"  # of the log


class When(Enum):
    BEFORE = "before"
    AFTER = "after"  # of a message: when the server has answered, and the process does not know yet


@dataclass(frozen=True, slots=True)
class Point:
    """Where a life ends: at its *number*th step of a kind, counted from 1."""

    what: What
    number: int
    when: When

    @classmethod
    def of(cls, text: str) -> "Point":
        """The point that reads so."""
        when, what, number = text.split()
        return cls(What(what), int(number), When(when))

    def __str__(self) -> str:
        return f"{self.when.value} {self.what.value} {self.number}"


def points(counts: dict[What, int]) -> list[Point]:
    """Every place where a life of so many steps can end."""
    return [Point(what, number, when) for what in What for number in range(1, counts.get(what, 0) + 1) for when in When]


def share(seed: int, everything: Sequence[T], *, chunk: int, of: int) -> list[T]:
    """The part of *everything* that is a chunk's: together the chunks have each point once."""
    mixed = list(everything)
    random.Random(seed).shuffle(mixed)  # noqa: S311 - an order is no secret
    return mixed[chunk::of]
