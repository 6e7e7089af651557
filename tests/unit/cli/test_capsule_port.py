"""A capsule at its port: how many tasks it takes, and that none that it took is left undone."""

import json

import pytest
from tests.unit.cli.rig import Place, Port, Program, script

pytestmark = pytest.mark.slow

WAITS = {"call": {"tool": "bash", "input": {"command": "until test -e go; do sleep 0.02; done"}}}


def started(place: Place, lifecycle: dict[str, object], *tasks: str) -> tuple[Program, Port]:
    """A capsule whose first task goes on until there is a file `go`."""
    manifest = {
        "name": "c",
        "version": "1.0.0",
        "artifacts": [],
        "capabilities": {"shell": {"allow": ["bash"]}},
        "inference": {"model": "steps.yaml", "driver": {"artifact": "script"}},
        "lifecycle": lifecycle,
    }
    place.write("murmur.yaml", json.dumps(manifest))
    place.write("steps.yaml", script(WAITS, {"say": "first"}, {"say": "second"}, {"say": "third"}))
    (place.project / "work").mkdir()
    return place.listen("murmur.yaml", *tasks, "--workspace", "work")


def lets_go(place: Place) -> None:
    place.write("work/go", "")


@pytest.mark.parametrize("lifecycle", [{}, {"task_acceptance": "queue", "queue_depth": 4}], ids=["single", "queue"])
def test_a_capsule_that_leaves_after_a_task_takes_no_other(place: Place, lifecycle: dict[str, object]) -> None:
    """The second is refused and not lost: accepted, it would never be worked on."""
    program, port = started(place, lifecycle)
    first, second = port.post({"text": "one"}), port.post({"text": "two"})
    lets_go(place)
    ended = program.end()

    assert (202, 503) == (first.status, second.status)
    assert "this capsule ends with the task that it has" in second.body["error"]
    assert (0, "first\n") == (ended.code, ended.out), ended.err


def test_a_capsule_that_sleeps_works_on_all_that_it_took(place: Place) -> None:
    """One after the other, as many as its queue has room for."""
    program, port = started(place, {"task_acceptance": "queue", "after_task": "sleep", "queue_depth": 1})
    statuses = [port.post({"text": text}).status for text in ("one", "two", "three")]
    lets_go(place)
    program.prints("second\n")

    assert [202, 202, 503] == statuses
    assert "first\nsecond\n" == program.out()


def test_a_capsule_that_takes_none_refuses(place: Place) -> None:
    """While it works on what it was started with; and then it leaves."""
    program, port = started(place, {"task_acceptance": "none"}, "one")
    refused = port.post({"text": "two"})
    lets_go(place)
    ended = program.end()

    assert 503 == refused.status
    assert "this capsule takes no tasks" in refused.body["error"]
    assert (0, "first\n") == (ended.code, ended.out), ended.err


def test_an_error_is_said_once(place: Place) -> None:
    """What a task that ran out of turns leaves for people is the error, not the error of an error."""
    place.write(
        "murmur.yaml",
        json.dumps(
            {
                "name": "c",
                "version": "1.0.0",
                "artifacts": [],
                "inference": {"model": "steps.yaml", "max_turns": 1, "driver": {"artifact": "script"}},
                "capabilities": {"shell": {"allow": ["bash"]}},
            }
        ),
    )
    place.write("steps.yaml", script({"call": {"tool": "bash", "input": {"command": "true"}}}, {"say": "late"}))
    ended = place.run("run", "murmur.yaml", "go")
    (result,) = place.project.rglob("result.txt")

    assert 1 == ended.code
    assert "error: inference loop exceeded 1 turns" == result.read_text()
