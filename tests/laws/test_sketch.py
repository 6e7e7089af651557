"""Laws of the sketch: its percentiles are as near as it says, and its memory is bounded."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookline.workbench.sketch import ERROR, LARGEST, SMALLEST, Sketch

values = st.floats(SMALLEST, LARGEST)
shares = st.floats(0, 1)


def sketched(several: list[float]) -> Sketch:
    sketch = Sketch()
    for value in several:
        sketch.add(value)
    return sketch


@given(st.lists(values, min_size=1), shares)
@example([SMALLEST], 0.5)
@example([LARGEST], 0.5)
@example([1.0] * 19 + [2.0], 0.95)
def test_a_percentile_is_as_near_as_promised(several: list[float], share: float) -> None:
    """Within ERROR of the value that stands there when all are put in order, and never above the largest."""
    truth = sorted(several)[max(1, math.ceil(share * len(several))) - 1]
    found = sketched(several).percentile(share)

    assert pytest.approx(truth, rel=ERROR + 1e-9) == found
    assert found <= max(several)


@given(st.lists(values, min_size=1), shares, shares)
def test_percentiles_do_not_cross(several: list[float], one: float, other: float) -> None:
    """A larger share never has a smaller percentile."""
    sketch = sketched(several)
    low, high = sorted((one, other))

    assert sketch.percentile(low) <= sketch.percentile(high)


@given(st.lists(values))
def test_what_needs_no_sketch_is_exact(several: list[float]) -> None:
    """How many there were, their sum, the largest."""
    sketch = sketched(several)

    assert (len(several), max(several, default=0.0)) == (sketch.count, sketch.largest)
    assert math.fsum(several) == pytest.approx(sketch.total)


@given(st.lists(st.floats(allow_nan=False)), shares)
def test_any_number_is_taken(several: list[float], share: float) -> None:
    """Whatever a foreign journal has for a time: what is below the range is 0, what is above it the largest."""
    found = sketched(several).percentile(share)

    assert found == 0 or SMALLEST * (1 - ERROR) <= found <= LARGEST


def test_many_values_take_no_more_room_than_few() -> None:
    """One bucket for each hundredth, from the smallest to the largest: 1,400, however many come."""
    most = sketched([SMALLEST * 1.0001**power for power in range(300_000) if SMALLEST * 1.0001**power <= LARGEST])

    assert len(most._buckets) < 1_400 < most.count
