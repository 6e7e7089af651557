"""Cases that are a run of the real program: what it printed, what its stream holds, what its hooks saw and left."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.conformance.muse.canned import run_line
from tests.conformance.place import Ended, Place
from tests.conformance.reading import Case

TRUST_FLAGS = {"--trust-workspace": "run-flag", "--yolo": "yolo-flag"}

ONLY_IN_TEXT = "run ended with "  # with --json the last record of a run says it

IN_STREAM = frozenset({"terminals", "runs", "context", "results", "passes"})


def running(case: Case, place: Place) -> dict[str, Any]:
    """What came of the program.

    Lines of the stream are there with `--json` alone and the final text without it alone, so a case that wants both
    is run twice, each time in fresh folders.
    """
    found: dict[str, Any] = {}
    if "stdout" in case.want or not case.want.keys() & IN_STREAM:
        ended = _run(case, place, ())
        found = _found(case, place, ended) | {"stdout": ended.stdout}
    if case.want.keys() & IN_STREAM:
        place.make()
        ended = _run(case, place, ("--json",))
        told = found.get("stderr", [])
        found |= _found(case, place, ended) | stream_of([json.loads(line) for line in ended.stdout.splitlines()])
        if [line for line in told if not line.startswith(ONLY_IN_TEXT)] == found["stderr"]:
            found["stderr"] = told
    return found


def _run(case: Case, place: Place, flags: tuple[str, ...]) -> Ended:
    given = case.given
    place.configure(given["config"])
    for name, text in given.get("files", {}).items():
        place.write(place.workspace / name, text)
    begin = ["exec", "--provider", "echo"]
    if "script" in given:
        script = place.home / "script.yaml"
        place.write(script, json.dumps(given["script"]))
        begin = ["exec", "--provider", "script", "--model", str(script)]
    env = place.env_with(given.get("env", {}))
    if "earlier" in given:
        earlier = place.run([*begin, *given["earlier"]], env=env, program=_program(case))
        if earlier.code != 0:
            raise ValueError(f"the earlier run did not complete: {earlier}")
    return place.run([*begin, *flags, *given["exec"]], env=env, program=_program(case))


def _program(case: Case) -> str:
    name: str = case.given.get("program", "muse")
    return name


def _found(case: Case, place: Place, ended: Ended) -> dict[str, Any]:
    """What can be seen however the program was asked to print."""
    found: dict[str, Any] = {"exit": ended.code, "refused": None}
    if case.want.get("refused"):
        found |= {"refused": ended.stderr.removesuffix("\n"), "stderr": []}
    else:
        arguments = ["exec", *case.given["exec"]]
        found["stderr"] = after_the_start(ended.stderr.splitlines(), arguments, place, _program(case))
    found["files"] = {name: place.text(name) for name in case.want.get("files", {})}
    found["payloads"] = {name: _payloads(place, name) for name in case.want.get("payloads", {})}
    found["dead"] = place.dead(case.want.get("dead", []))
    return found


def after_the_start(lines: list[str], arguments: Sequence[str], place: Place, program: str = "muse") -> list[str]:
    """The lines after those that say where the session is and whether that is trusted; all if those are not there."""
    start = [f"{program}: workspace root: {place.workspace} (cwd default)"]
    for flag, word in TRUST_FLAGS.items():
        if flag in arguments:
            start.append(f"{program}: workspace trust: trusted source={word}")
    return lines[len(start) :] if lines[: len(start)] == start else lines


def _payloads(place: Place, name: str) -> list[Any]:
    return [json.loads(line) for line in (place.text(name) or "").splitlines()]


def stream_of(records: list[Mapping[str, Any]]) -> dict[str, Any]:
    bodies = [record["payload"] for record in records]

    def of(kind: str) -> list[dict[str, Any]]:
        return [{key: value for key, value in body.items() if key != "kind"} for body in bodies if body["kind"] == kind]

    return {
        "terminals": of("run_terminal"),
        "runs": [
            run_line(run["event"], run["status"], run.get("effects", []), run["error"])
            for run in of("hook_run_terminal")
        ],
        "context": [block["text"] for block in of("context_block_updated")],
        "results": [f"{each['tool_name']} {each['status']}: {each['text']}" for each in of("tool_result")],
        "passes": len(of("run_output_delta")),
    }
