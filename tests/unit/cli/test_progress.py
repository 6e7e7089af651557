"""The line that says how far long work is."""

import io
from collections.abc import Iterator

from hookline._cli.progress import ERASE, FEW, Progress, told_how_far


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, times: list[float]) -> str:
    clock: Iterator[float] = iter([0.0, *times])
    progress = Progress(stream, clock=lambda: next(clock))
    for number, _ in enumerate(times):
        progress.show(lambda number=number: f"look {number}", width=80)  # type: ignore[misc]
    progress.take_away()
    progress.take_away()
    return stream.getvalue()


def test_it_comes_after_a_second_and_goes_without_a_trace(monkeypatch: object) -> None:
    """It takes its own place, no oftener than can be read."""
    assert f"{ERASE}look 1{ERASE}look 3{ERASE}" == shown(Terminal(), [0.9, 1.0, 1.05, 1.2])


def test_short_work_and_a_pipe_see_nothing_of_it() -> None:
    """What is printed there is what was asked for."""
    assert "" == shown(Terminal(), [0.1, 0.9])
    assert "" == shown(io.StringIO(), [1.0, 5.0])


def test_it_is_cut_to_the_width_of_the_terminal() -> None:
    """A line that wraps could not be taken away."""
    stream = Terminal()
    clock = iter([0.0, 2.0])
    Progress(stream, clock=lambda: next(clock)).show(lambda: "x" * 100, width=20)

    assert f"{ERASE}{'x' * 19}" == stream.getvalue()


def test_a_terminal_is_told_how_far_many_things_are() -> None:
    """A figure now and then, and nothing of it in the end; the things are the same."""
    stream, clock = Terminal(), iter([0.0, 0.5, 1.0, 2.0, 3.0])
    things = range(4 * FEW)
    progress = Progress(stream, clock=lambda: next(clock))

    taken = list(told_how_far(things, doing="at it", total=40 * FEW, size=lambda _: 10, progress=progress))

    assert list(things) == taken
    assert f"{ERASE}at it: 50%{ERASE}at it: 75%{ERASE}at it: 100%{ERASE}" == stream.getvalue()
