import io
from itertools import count

from hookline._cli.progress import FEW, told_how_far


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_how_far_it_is() -> None:
    """Nothing in the first second, then a figure now and then, and an empty line in the end."""
    terminal, ticks = Terminal(), count(0, 0.6)
    things = range(4 * FEW)

    taken = list(
        told_how_far(things, doing="at it", total=40 * FEW, size=lambda _: 10, terminal=terminal, clock=ticks.__next__)
    )

    assert list(things) == taken
    assert "at it: 50%\rat it: 75%\rat it: 100%\r           \r" == terminal.getvalue()


def test_a_pipe_and_quick_work_are_told_nothing() -> None:
    """Whoever reads a pipe wants what was asked for."""
    pipe, terminal = io.StringIO(), Terminal()

    for stream in (pipe, terminal):
        list(told_how_far(range(9), doing="at it", total=9, size=lambda _: 1, terminal=stream))

    assert ("", "") == (pipe.getvalue(), terminal.getvalue())
