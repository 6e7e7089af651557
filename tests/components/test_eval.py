"""The shipped eval hook by itself: each scorer at its bound, and what becomes of a configuration that is none."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.components.shipped_rig import shipped

from hookline._core.payload import Yielded

CONTEXT = {"session-id": "s", "capsule-name": "c", "capsule-version": "1.0.0", "model": "m", "capabilities": []}
END = {
    "total-turns": 3,
    "total-input-tokens": 60,
    "total-output-tokens": 40,
    "total-tool-calls": 2,
    "total-shell-calls": 0,
    "duration-ms": 10,
    "exit-status": "ok",
}


async def scored(folder: Path, config: str, **end: Any) -> list[dict[str, Any]]:
    """The lines of eval.jsonl, without their times; of a session with calls of the tools `read` and `write`."""
    async with shipped("murmur-hook-eval", env={"MURMUR_EVAL_CONFIG": config}, scope=folder) as hook:
        replies = [await hook.call("on-session-start", CONTEXT)]
        for name in ("read", "write"):
            outcome = {"output-bytes": 0, "duration-ms": 1, "status": "ok"}
            call = {"turn": 0, "tool-name": name, "input-bytes": 2, "input": "{}", "outcome": outcome}
            replies.append(await hook.call("on-tool-call", call))
        replies.append(await hook.call("on-session-end", {**END, **end}))
    assert {"none"} == {reply.arm for reply in replies if isinstance(reply, Yielded)}, replies
    assert len(replies) == sum(isinstance(reply, Yielded) for reply in replies), replies
    path = folder / "eval.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [{name: value for name, value in json.loads(line).items() if name != "ts"} for line in lines]


@pytest.mark.parametrize(
    ("scorer", "end", "result", "score"),
    [
        ({"type": "exit_ok"}, {}, "pass", 1.0),
        ({"type": "exit_ok"}, {"exit-status": "failed"}, "fail", 0.0),
        ({"type": "max_turns", "max": 3}, {}, "pass", 1.0),
        ({"type": "max_turns", "max": 2}, {}, "fail", 0.0),
        ({"type": "max_tokens", "max": 100}, {}, "pass", 1.0),
        ({"type": "max_tokens", "max": 99}, {}, "fail", 0.0),
        ({"type": "tool_sequence", "expected": ["read", "write"]}, {}, "pass", 1.0),
        ({"type": "tool_sequence", "expected": ["write"]}, {}, "pass", 1.0),
        ({"type": "tool_sequence", "expected": ["read", "read", "write"]}, {}, "fail", 0.333),
        ({"type": "tool_sequence", "expected": []}, {}, "pass", 1.0),
    ],
)
async def test_each_scorer_at_its_bound(
    tmp_path: Path, scorer: dict[str, Any], end: dict[str, Any], result: str, score: float
) -> None:
    """One line of its own, and one of the whole run."""
    one, whole = await scored(tmp_path, json.dumps({"scorers": [scorer]}), **end)

    assert (scorer["type"], result, score) == (one["scorer"], one["result"], one["score"])
    assert (result, {scorer["type"]: score}) == (whole["overall"], whole["scores"])


async def test_one_that_fails_fails_the_run(tmp_path: Path) -> None:
    """The overall result is that of all of them; a scorer that nobody knows has no score."""
    scorers = [{"type": "exit_ok", "name": "ended"}, {"type": "max_turns", "max": 1}, {"type": "judged_by_a_model"}]
    *each, whole = await scored(tmp_path, json.dumps({"scorers": scorers}))

    assert ["ended", "max_turns"] == [one["scorer"] for one in each]
    assert "fail" == whole["overall"]


@pytest.mark.parametrize("config", ["", "{", "[]", '{"scorers": 7}', '{"scorers": [{"type": "unknown"}]}'])
async def test_what_is_no_configuration_scores_nothing(tmp_path: Path, config: str) -> None:
    """Nothing is written of it, and nothing fails."""
    assert [] == await scored(tmp_path, config)
