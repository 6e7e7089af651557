"""The same of hooks under Meerkat, and of those that its pool had no room for."""

import pytest
from tests.field_reports.meerkat_rig import BACKGROUND, QUIET, configuration, denial, entry, guard, printing, runs
from tests.field_reports.rig import Place, bash

GUARD, AUDITOR = "meerkat:guard", "meerkat:auditor"


@pytest.mark.slow
def test_b91_each_hook_has_its_bill(place: Place) -> None:
    """The one that sleeps is the one that costs."""
    other = entry("other", runs(f"sleep 0.5; {QUIET}"), capability="guardrail", priority=2)
    place.write_rkat(configuration(guard(QUIET, priority=1), other))

    place.exec(bash("true"), bash("true"))

    rows = place.report()
    assert ["meerkat:other", GUARD] == list(rows)
    assert rows["meerkat:other"]["ran"]["p50"] >= 495
    assert [(2, 2, 2)] * 2 == [(row["calls"], row["answered"], row["occurrences"]) for row in rows.values()]


def test_b92_every_hook_is_accounted_for(place: Place) -> None:
    """A denial that counted, and a failure that failed its run, are those of the hook that they came from."""
    judge = f"grep -q forbidden && {printing(denial())} || exit 3"
    place.write_rkat(configuration(guard(judge)))

    told = place.exec(bash("echo forbidden"), bash("true"))

    assert 1 == told.code
    row = place.report()[GUARD]
    assert ({"deny": 1}, {"deny": 1}) == (row["said"], row["decided"])
    assert ({"exit_code": 1}, 1, 0) == (row["failed"], row["failed_runs"], row["unheard"])
    assert row["bytes_in"] > row["bytes_out"] > 0


def test_f11_what_a_full_lane_drops_is_counted(place: Place) -> None:
    """A pool of one is busy with the first event when the others come: each that it misses is in the report."""
    wait = "while ! test -e MARK; do sleep 0.02; done"
    auditor = entry("auditor", runs(f"{wait}; {QUIET}"), **BACKGROUND)
    place.write_rkat(configuration(auditor, background_max_concurrency=1))

    place.exec(bash("true"), bash("true"), bash("touch MARK"))

    row = place.report()[AUDITOR]
    assert (3, 1, 1, {"lane_full": 2}) == (row["matched"], row["calls"], row["answered"], row["skipped"])
    assert "skipped 2 (lane_full 2)" in place.trace("--report")
