"""The law of crashes finds what it is there to find: one planted fault each."""

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.crash.law import Life, Line, Row, State, breaches
from tests.crash.plan import Given, Group, Point, Way, What, When, groups, points, share

GROUPS = (Group(Way.ADMIT, (Given("one", "1", "key"),)), Group(Way.RUN, (Given("two", "2", "key"),)))
QUEUED = Row("1", "key", "queued", 0, "one")
STAGED = replace(QUEUED, phase="staged", attempt=1)
CONSUMED = replace(STAGED, phase="consumed")
EVENT = Line(1, "1", json.dumps({"type": "interaction_complete", "interaction_id": "1", "result": "did one"}))
KEPT = Line(1, "1", phase="published")
DONE = State((CONSUMED,), (KEPT,), (EVENT,), 1)
ADMITTED = (("accepted", "1"), ("returned", "1"))
WORKED = (("run", "one"), ("ran", "one"), ("completed", "1", "did_one"))
GIVEN_AGAIN = (("existing", "one", "1"), ("existing", "two", "1"), ("answered", "two", "completed", "did_one"))

KILLED = Life((*ADMITTED, ("run", "one")), State((STAGED,)), was_killed=True)
RECOVERED = Life(WORKED, replace(DONE, inputs=(replace(CONSUMED, attempt=2),)))
GAVE_AGAIN = Life(GIVEN_AGAIN, RECOVERED.state, gave_all=True)
LIVES = (KILLED, RECOVERED, GAVE_AGAIN)


def test_what_ought_to_happen_breaks_nothing() -> None:
    """A process dies at work, the next one tries that work again, and the one after finds it done."""
    assert [] == breaches(LIVES, GROUPS)


@pytest.mark.parametrize(
    ("which", "change", "found"),
    [
        pytest.param(0, {"state": State()}, "accepted 1, which is not in the store", id="told before it was committed"),
        pytest.param(
            0, {"lines": (*KILLED.lines, ("completed", "1"))}, "which is in no event", id="completed before it was kept"
        ),
        pytest.param(1, {"state": State()}, "the input 1 is lost", id="lost"),
        pytest.param(
            1,
            {"state": State((replace(CONSUMED, attempt=2),), (replace(KEPT, seq=None, phase="finalised"),))},
            "one has no event",
            id="never published",
        ),
        pytest.param(1, {"state": State((replace(STAGED, attempt=2),))}, "one is still staged", id="never ended"),
        pytest.param(
            1, {"state": replace(RECOVERED.state, published=2)}, "the runtime counts 2 events", id="a number too many"
        ),
        pytest.param(
            1,
            {"state": replace(RECOVERED.state, events=(replace(EVENT, seq=2),))},
            "the event log has the numbers [2]",
            id="a gap",
        ),
        pytest.param(
            1,
            {"state": replace(RECOVERED.state, events=(EVENT, replace(EVENT, seq=2)))},
            "more than one event of 1",
            id="published twice",
        ),
        pytest.param(1, {"state": DONE}, "one has been run 2 times", id="run without an attempt"),
        pytest.param(2, {"lines": (*GIVEN_AGAIN, ("run", "one"))}, "is run again, which was consumed", id="run again"),
        pytest.param(1, {"lines": (*WORKED, ("run", "one"))}, "life 1 runs one twice", id="run twice"),
        pytest.param(1, {"lines": ()}, "one has never been run to its end", id="not run"),
        pytest.param(2, {"lines": (*GIVEN_AGAIN, ("accepted", "1"))}, "accepted 1 more than once", id="accepted twice"),
        pytest.param(2, {"lines": (*GIVEN_AGAIN, WORKED[-1])}, "completed 1 is told again", id="completed twice"),
        pytest.param(
            2,
            {"state": replace(DONE, inputs=(replace(CONSUMED, id="2", label="two", attempt=2),))},
            "the key key has gone from 1 to 2",
            id="another owner",
        ),
        pytest.param(
            2,
            {"state": replace(RECOVERED.state, events=(replace(EVENT, payload=EVENT.payload.replace("one", "two")),))},
            "the event log that was there has changed",
            id="another result",
        ),
        pytest.param(2, {"lines": GIVEN_AGAIN[:2]}, "two stands for one and was answered []", id="no answer"),
        pytest.param(0, {"lines": (("rejected", "one"),)}, "rejected one", id="rejected"),
    ],
)
def test_what_ought_not_to_happen_is_found(which: int, change: dict[str, Any], found: str) -> None:
    """A fault that is planted in one of three lives has its own words in what was broken."""
    lives = [replace(life, **change) if number == which else life for number, life in enumerate(LIVES)]

    assert any(found in breach for breach in breaches(lives, GROUPS)), breaches(lives, GROUPS)


def test_the_chunks_have_every_point_once() -> None:
    """Between them the chunks of one seed have each point, before and after each step, once."""
    everything = points({What.STATEMENT: 20, What.LINE: 5})

    shares = [share(1, everything, chunk=chunk, of=3) for chunk in range(3)]
    assert 50 == len(everything)
    assert sorted(map(str, everything)) == sorted(str(point) for part in shares for point in part)
    assert Point(What.LINE, 5, When.AFTER) in everything


def test_what_is_given_has_keys_that_are_used_twice() -> None:
    """Whatever the seed, an input that is run, and one that is admitted, use a key of one before them."""
    for seed in range(50):
        given = [(group.way, each) for group in groups(seed) for each in group.given]
        keys = [each.key for _, each in given if each.key is not None]
        used = {(way, each.key in keys[: keys.index(each.key)]) for way, each in given if each.key is not None}
        again = {way for n, (way, each) in enumerate(given) if each.key in {key.key for _, key in given[:n]} - {None}}

        assert {Way.ADMIT, Way.TOGETHER, Way.RUN} <= again
        assert used
