"""Cases that are several runs of the program, one after the other, with packages that are installed and changed."""

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from tests.conformance.muse.running import after_the_start, stream_of
from tests.conformance.place import Ended, Place
from tests.conformance.reading import Case
from tests.package_rig import manifest

from hookline._cli.main import run

NUMBERED = re.compile(r"[A-Z][0-9]{2}")
CHANGES = frozenset({"write", "append", "remove", "link"})
GAP = " | "  # what a tab is shown as

# What verbs import when they are used: here once, and not in each fork.
USED = (
    "hookline.workbench.plugins",
    *(f"hookline.dialects.muse.plugins.{name}" for name in ("verbs", "native", "foreign", "trial", "marketplaces")),
)


def stepping(case: Case, place: Place) -> dict[str, Any]:
    """What came of each run, in order: a session's hooks with what they said, a verb's lines, its JSON."""
    place.name("packages", str(place.home / "packages"))
    place.name("store", str(place.home / ".local/share/muse/plugins"))
    place.configure(case.given["config"])
    _write(place, case.given["packages"])
    env = place.env_with(case.given.get("env", {}))
    said: list[list[str]] = []
    asides: list[str] = []
    sessions: list[dict[str, Any]] = []
    documents: list[Any] = []
    for step in case.given["steps"]:
        if isinstance(step, dict):
            _change(place, step)
            continue
        arguments = [place.filled(word) for word in shlex.split(step)]
        if arguments[0] == "exec":
            arguments[1:1] = ["--provider", "echo", "--json"]
        ended = _run(case, place, arguments, env)
        beside = [*_beside(ended, arguments, place)]
        if arguments[0] == "exec":
            records = [json.loads(line) for line in ended.stdout.splitlines()]
            sessions.append(stream_of(records) | {"heads": _heads(records)})
            asides.extend(beside)
        elif "--json" in arguments:
            documents.append(json.loads(ended.stdout))
            asides.extend(beside)
        elif "said" in case.want:
            said.append([*(line.replace("\t", GAP) for line in ended.stdout.splitlines()), *beside])
        else:
            asides.extend(beside)
    return {
        "said": said,
        "asides": asides,
        "runs": [each["runs"] for each in sessions],
        "context": [each["context"] for each in sessions],
        "heads": [_like(want, each["heads"]) for want, each in _pairs(case, "heads", sessions)],
        "json": [_like(want, each) for want, each in _pairs(case, "json", documents)],
        "files": {name: place.text(name) for name in place.filled([*case.want.get("files", {})])},
        "payloads": {
            name: [json.loads(line) for line in (place.text(name) or "").splitlines()]
            for name in case.want.get("payloads", {})
        },
        "there": {path: os.path.lexists(path) for path in place.filled([*case.want.get("there", {})])},
    }


def _pairs(case: Case, key: str, found: list[Any]) -> Iterator[tuple[Any, Any]]:
    wanted = case.want.get(key, [])
    yield from zip([*wanted, *[None] * (len(found) - len(wanted))], found, strict=False)


def _like(wanted: Any, found: Any) -> Any:
    """*found*, of each object only the members that are wanted."""
    match wanted, found:
        case dict(), dict():
            return {key: _like(want, found.get(key, "(missing)")) for key, want in wanted.items()}
        case list(), list() if len(wanted) == len(found):
            return [_like(want, have) for want, have in zip(wanted, found, strict=True)]
        case _:
            return found


def _heads(records: list[Any]) -> list[Any]:
    """How runs of hooks began: their keys, their order, and whose they are."""
    return [each["payload"] for each in records if each["payload"]["kind"] == "hook_run_started"]


def _beside(ended: Ended, arguments: Sequence[str], place: Place) -> Iterator[str]:
    """The lines of standard error, each after a `!`, and last the exit code, where that is not 0.

    Of the help that follows wrong usage the first line stands for all of it, and of a session what it begins with is
    left out.
    """
    for line in after_the_start(ended.stderr.splitlines(), arguments, place):
        yield f"! {line}"
        if line.startswith("Usage: "):
            break
    if ended.code:
        yield f"= {ended.code}"


def _write(place: Place, files: dict[str, str | dict[str, Any]]) -> None:
    """Files by their paths; a mapping is the manifest of the native package in this folder, as far as it is told."""
    for name, text in files.items():
        if isinstance(text, dict):
            told = manifest(name.rpartition("/")[2], **text)
            place.write(_path(place, name) / ".muse-plugin/plugin.json", json.dumps(told))
            continue
        path = _path(place, name.removesuffix("!"))
        place.write(path, text)
        if name.endswith("!"):
            path.chmod(0o755)


def _change(place: Place, step: dict[str, Any]) -> None:
    """Change files between two runs."""
    if unknown := step.keys() - CHANGES:
        raise ValueError(f"no step has {sorted(unknown)}")
    _write(place, step.get("write", {}))
    for name, text in step.get("append", {}).items():
        path = _path(place, name)
        path.chmod(path.stat().st_mode | 0o200)  # what is installed is closed
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    for name in step.get("remove", []):
        _path(place, name).unlink()
    for name, target in step.get("link", {}).items():
        _path(place, name).symlink_to(place.filled(target))


def _path(place: Place, name: str) -> Path:
    """Where a file of a package is; of a name with a `*` the one that it fits."""
    path = place.home / "packages" / str(place.filled(name))
    if "*" not in name:
        return path
    (found,) = Path("/").glob(str(path).removeprefix("/"))
    return found


def _run(case: Case, place: Place, arguments: list[str], env: dict[str, str]) -> Ended:
    """The program as a user has it; the verbs of cases without a number in a fork of this one, which is far quicker."""
    if NUMBERED.fullmatch(case.id) or arguments[0] != "plugins":
        return place.run(arguments, env=env)
    for name in USED:
        import_module(name)
    streams = [place.home.parent / name for name in ("stdout", "stderr")]
    child = os.fork()
    if child == 0:
        _be_the_program(place, arguments, env, [str(path) for path in streams])
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return Ended(code, *(path.read_text(encoding="utf-8") for path in streams))


def _be_the_program(place: Place, arguments: list[str], env: dict[str, str], streams: list[str]) -> NoReturn:
    try:
        os.chdir(place.workspace)
        os.environ.clear()
        os.environ.update(env)
        sys.argv = ["muse", *arguments]
        sys.stdout, sys.stderr = (open(path, "w", encoding="utf-8") for path in streams)  # noqa: PTH123, SIM115
        code = run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    finally:
        os._exit(99)
