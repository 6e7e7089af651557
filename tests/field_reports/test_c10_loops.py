"""Reports of runs that never ended: the bound is the session's, not the hook author's good manners."""

import json

from tests.field_reports.rig import Place, bash, command, document

from hookline.journal import entries as en

CAP_REACHED = "Stop hook continuation limit reached; ignoring the continuation and completing normally."
AGAIN = command("cat >> stops; echo again >&2; exit 2")


def actives(place: Place) -> list[bool]:
    """`stop_hook_active` as the Stop hook saw it each time."""
    lines = (place.project / "stops").read_text().splitlines()
    return [json.loads(line)["stop_hook_active"] for line in lines]


def test_b82_a_stop_hook_is_heard_eight_times(place: Place) -> None:
    """By default 8 continuations, then a warning, and the run completes; a repeated reason is pointed out."""
    place.write_project(document(Stop=[AGAIN]))

    told = place.exec()

    assert told.code == 0
    assert actives(place) == [False, *[True] * 8]
    assert len(told.of(en.ModelCalled)) == 9
    assert [added.text for added in told.of(en.ContextAdded)] == ["again"] * 8
    assert f"hookline: {CAP_REACHED}" in told.lines
    assert told.of(en.ReopenRefused)[0].limit == 8
    same = "hooks.json:Stop[0].hooks[0] kept the run going with the same reason as before"
    assert [noted.text for noted in told.of(en.Noted)] == [same] * 7
    assert [ended.ending for ended in told.of(en.RunEnded)] == ["completed"]


def test_b82_tool_calls_do_not_reset_the_count(place: Place) -> None:
    """A continuation that calls a tool is a continuation all the same; the next prompt begins to count anew."""
    place.write_project(document(Stop=[AGAIN]))
    place.write_settings(max_consecutive_stop_hook_continuations=2)
    steps = [{"say": "one"}, bash("true"), {"say": "two"}, bash("true"), {"say": "three"}]

    told = place.exec(*steps, prompts=("first", "second"))

    assert actives(place) == [False, True, True, False, True, True]
    assert [refused.limit for refused in told.of(en.ReopenRefused)] == [2, 2]
    assert [ended.text for ended in told.of(en.RunEnded)] == ["three", "(script is over)"]


def test_b82_the_cap_is_told_in_the_stream(place: Place) -> None:
    """With a cap of 0 the first block is ignored; the `--json` stream says so with the documented id."""
    place.write_project(document(Stop=[AGAIN]))
    place.write_settings(max_consecutive_stop_hook_continuations=0)

    told = place.exec(options=("--json",))

    assert actives(place) == [False]
    [said] = told.payloads("context_block_diagnostic")
    assert (said["id"], said["text"]) == ("hook:stop:continuation-cap", CAP_REACHED)
