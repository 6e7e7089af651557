"""Reports of hooks whose cost nobody could see: which one it was, how often, how long, and what was lost."""

import pytest
from tests.field_reports.rig import Place, answering, bash, command, denying, document, group

from hookline.journal import entries as en

GUARD, SLOW, CRASH, AUDITOR = (
    "hooks.json:PreToolUse[0].hooks[0]",
    "hooks.json:PreToolUse[0].hooks[1]",
    "hooks.json:PreToolUse[0].hooks[2]",
    "hooks.json:PostToolUse[0].hooks[0]",
)


@pytest.mark.slow
def test_b91_each_hook_has_its_bill(place: Place) -> None:
    """Of two hooks of the same calls the report says which one takes the time: p50, p95, the longest and the sum."""
    handlers = (command("true"), command("sleep 0.5"))
    place.write_project(document(PreToolUse=[group(*handlers, matcher="Bash")]))

    place.exec(*[bash("true")] * 2)

    rows = place.report()
    quick, slow = rows[GUARD], rows[SLOW]
    assert [SLOW, GUARD] == list(rows)  # the dearest first
    assert (2, 2, 2) == (slow["calls"], slow["matched"], slow["occurrences"])
    assert slow["ran"]["p50"] >= 495  # what a percentile may be off by is 1 %
    assert slow["ran"]["p50"] <= slow["ran"]["p95"] <= slow["ran"]["longest"] <= slow["ran"]["total"]
    assert quick["ran"]["total"] < slow["ran"]["total"]


def test_b91_the_loops_share_is_told(place: Place) -> None:
    """How much of the session was waiting for hooks; those in the background are not in it."""
    place.write_project(
        document(PreToolUse=[command("sleep 0.3")], PostToolUse=[command("sleep 0.3", **{"async": True})])
    )

    place.exec(bash("true"))

    *_, total, time = place.trace("--report").splitlines()
    assert "total  2 hooks in 1 session, 2 calls, 0 failed" == total
    assert "was waiting for hooks" in time
    assert "in the background" in time


@pytest.mark.slow
def test_b92_every_hook_is_accounted_for(place: Place) -> None:
    """Beginning and end, outcome, bytes, its event, time in the queue and at work: for each hook of a session."""
    place.write_project(
        document(
            PreToolUse=[
                group(
                    command(f"grep -q forbidden && {denying('not here')} || true"),
                    command("grep -q forever && sleep 60 || true", timeout=1),
                    command("kill -9 $$"),
                    matcher="Bash",
                )
            ],
            PostToolUse=[command("cat > seen", **{"async": True})],
        )
    )

    told = place.exec(bash("true"), bash("echo forbidden"), bash("echo forever"))

    ended = [body.outcome for body in told.of(en.HookEnded)]
    assert len(told.of(en.HookStarted)) == len(ended) == 11
    assert all(outcome.started and outcome.ran_ms and outcome.queued_ms for outcome in ended)
    assert {"before_tool_call", "after_tool_call"} == {body.event["point"] for body in told.of(en.HookEnded)}
    rows = place.report()
    assert [{"deny": 1}] * 2 == [rows[GUARD][word] for word in ("said", "decided")]
    assert ({"timeout": 1}, 1, 2) == tuple(rows[SLOW][word] for word in ("failed", "killed", "answered"))
    assert ({"signal": 3}, 2) == tuple(rows[CRASH][word] for word in ("failed", "unheard"))
    assert (2, 2, 2, True) == tuple(rows[AUDITOR][word] for word in ("calls", "answered", "occurrences", "background"))
    assert rows[AUDITOR]["bytes_in"] == sum(outcome.stdin_size for outcome in ended if outcome.hook.background)
    assert all(len(line) <= 80 for line in place.trace("--report").splitlines())


def test_b92_a_session_that_is_over_adds_to_the_next(place: Place) -> None:
    """One report over all sessions, or over those that are named."""
    place.write_project(document(PreToolUse=[command(answering({}))]))
    first = place.exec(bash("true"))
    place.exec(bash("true"), bash("true"))

    [over_all], [of_one] = place.report("--all").values(), place.report(first.session).values()
    assert (3, 1) == (over_all["calls"], of_one["calls"])
