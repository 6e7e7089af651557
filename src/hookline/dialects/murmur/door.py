"""What whoever gave a task hears of it (section 13): an event for each artifact, and at last how the task ended."""

from hookline._core.records import ArtifactEmitted, Record, RunEnded, RunStarted
from hookline.dialects.murmur import ids
from hookline.dialects.murmur.wire import json_of

STATES = {"ok": "completed"}  # any other status of a task has failed


def events_of(record: Record) -> list[tuple[str, str]]:
    """The names and the JSON of the events that *record* gives rise to, none for most."""
    match record:
        case RunStarted(origin=origin):
            return [("status", json_of({"id": ids.task_id(origin.run_id), "state": "working"}))]
        case ArtifactEmitted(origin=origin, hook=hook, content=content):
            told = {"id": ids.task_id(origin.run_id), "artifact": {"tool_name": hook, "content": content}}
            return [("artifact", json_of(told))]
        case RunEnded(origin=origin, totals=totals) if totals is not None:
            told = {"id": ids.task_id(origin.run_id), "state": STATES.get(totals.status, "failed")}
            return [("status", json_of({**told, "exit_status": totals.status}))]
        case _:
            return []
