"""What the adapters share."""

import pytest

from hookline._core.components import ComponentTarget
from hookline._core.packages import PackagedTarget
from hookline._core.payload import CallFailed, Limits
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget, FunctionTarget, HttpTarget, NamedTarget
from hookline.adapters import builtin
from hookline.adapters._limits import Capped, crashed, timed_out


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1, "1s"), (1.0, "1s"), (600.0, "600s"), (0.0, "0s"), (1.5, "1500ms"), (0.025, "25ms"), (0.0004, "0ms")],
)
def test_limits_are_written_as_people_write_them(seconds: float, text: str) -> None:
    """Whole seconds are written in seconds, anything else in milliseconds."""
    assert timed_out(Limits(seconds)) == CallFailed(why=Failure.TIMEOUT, detail=f"hook timed out after {text}")


def test_a_crash_is_one_line() -> None:
    """The text of an exception is one line, however it was written."""
    assert crashed(ValueError("a\n\n  b\tc ")).detail == "ValueError: a b c"


@pytest.mark.parametrize("chunks", [[5], [2, 3], [1] * 5, [0, 5, 0]])
def test_exactly_the_cap_fits(chunks: list[int]) -> None:
    """Up to the cap everything is kept, in whatever pieces it comes."""
    stream = Capped(5)
    for size in chunks:
        stream.take(b"x" * size)

    assert (stream.kept, stream.seen, stream.over) == (b"xxxxx", 5, False)


@pytest.mark.parametrize("chunks", [[6], [5, 1], [3, 3], [6, 0]])
def test_more_than_the_cap_is_cut(chunks: list[int]) -> None:
    """Past the cap nothing is kept, and all of it is counted."""
    stream = Capped(5)
    for size in chunks:
        stream.take(b"x" * size)

    assert (stream.kept, stream.seen, stream.over) == (b"xxxxx", 6, True)


async def test_builtin_adapters_are_new_each_time() -> None:
    """Every engine has adapters of its own, one for each kind of target."""
    one, other = builtin(), builtin()

    kinds = {FunctionTarget, NamedTarget, CommandTarget, PackagedTarget, HttpTarget, ComponentTarget}
    assert kinds == set(one) == set(other)
    assert all(one[kind] is not other[kind] for kind in one)
    for adapter in (*one.values(), *other.values()):
        await adapter.aclose()
