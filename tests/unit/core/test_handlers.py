"""Handlers by name: who is called by a name, and how often that has changed."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hookline._core.errors import UsageError
from hookline._core.handlers import Handlers, Registered, Revised


def first(event: Any) -> None: ...


def second(event: Any) -> None: ...


def test_a_free_name_is_registered() -> None:
    """The first handler of a name is found by it, and by no other."""
    handlers = Handlers()

    assert handlers.get("guard") is None
    assert Registered(1) == handlers.register("guard", first)
    assert first is handlers.get("guard")
    assert handlers.get("Guard") is None


def test_a_taken_name_is_revised() -> None:
    """The last handler of a name is the one that is called; what it took the place of is told by its revision."""
    handlers = Handlers()
    handlers.register("guard", first)

    assert Revised(1, 2) == handlers.register("guard", second)
    assert second is handlers.get("guard")
    assert Revised(2, 3) == handlers.register("guard", second)
    assert ("guard",) == handlers.names()


def test_revisions_count_over_all_names() -> None:
    """Each registration has a number of its own, whichever name it is for."""
    handlers = Handlers()
    said = [handlers.register(name, first) for name in ("a", "b", "a", "c", "b")]

    assert [Registered(1), Registered(2), Revised(1, 3), Registered(4), Revised(2, 5)] == said
    assert ("a", "b", "c") == handlers.names()


def test_two_registries_are_strangers() -> None:
    """Each counts from 1, and knows its own."""
    one, other = Handlers(), Handlers()
    one.register("a", first)

    assert Registered(1) == other.register("b", second)
    assert (("a",), ("b",)) == (one.names(), other.names())


@pytest.mark.parametrize("wrong", [None, "guard", 7])
def test_what_cannot_be_called_is_refused(wrong: Any) -> None:
    """A handler that is not callable is wrong use, told with its name; it takes no number and no name's place."""
    handlers = Handlers()
    with pytest.raises(UsageError, match="the handler guard has to be callable, found"):
        handlers.register("guard", wrong)

    assert () == handlers.names()
    assert Registered(1) == handlers.register("guard", first)


def test_any_thread_may_register() -> None:
    """Registered by many threads at once, every revision is given once, and each name says whom it replaced."""
    threads, each = 8, 200
    handlers = Handlers()
    together = threading.Barrier(threads)

    def register(number: int) -> list[Registered | Revised]:
        together.wait(10)
        return [handlers.register(f"{(number + turn) % 5}", first) for turn in range(each)]

    with ThreadPoolExecutor(threads) as pool:
        said = [one for many in pool.map(register, range(threads)) for one in many]

    revisions = sorted(one.revision for one in said)
    assert list(range(1, threads * each + 1)) == revisions
    replaced = [one.previous for one in said if isinstance(one, Revised)]
    assert len(replaced) == len(set(replaced)) == threads * each - 5
    assert {"0", "1", "2", "3", "4"} == set(handlers.names())
