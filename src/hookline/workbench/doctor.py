"""Whether this machine is fit: each thing that hookline relies on, and what to do where it is not as it should be."""

import ctypes
import os
import platform
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from hookline._core.errors import StateError
from hookline.journal.places import state_folder
from hookline.workbench.check import check
from hookline.workbench.findings import Level

OLDEST = (3, 11)
ROOM = 100 * 1024 * 1024  # bytes that a state folder should have left; a journal of a long session has ten
DESCRIPTORS = 256  # that hooks at once, their pipes and the files of a session come to
PATIENCE = 2.0  # seconds for a server to answer
PR_SET_CHILD_SUBREAPER = 36  # of prctl; asked about by its reading twin, which is the next number

# What is lost without an extra, by its name.
EXTRAS: Mapping[str, tuple[str, str]] = {
    "http": ("aiohttp", "HTTP hooks and the web tools"),
    "nats": ("nats-py", "messages between agents of several processes"),
    "postgres": ("asyncpg", "inputs in PostgreSQL"),
    "tokens": ("bpe-openai", "windows and budgets counted in tokens of cl100k"),
    "wasm": ("wasmtime", "capsules, whose hooks are components"),
}


class State(Enum):
    """How a thing is."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing that was looked at: what was found, and what to do where that is not as it should be."""

    what: str
    state: State
    found: str
    remedy: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"what": self.what, "state": self.state.value, "found": self.found, "remedy": self.remedy}


Look = Callable[[Mapping[str, str], Path], Iterator[Seen]]


def examine_machine(env: Mapping[str, str], folder: Path) -> tuple[Seen, ...]:
    """Everything that hookline relies on, for somebody with *env* who works in *folder*. Nothing is changed."""
    return tuple(seen for look in LOOKS for seen in look(env, folder))


def _python(env: Mapping[str, str], folder: Path) -> Iterator[Seen]:
    found = f"{platform.python_implementation()} {platform.python_version()} on {sys.platform}"
    if sys.version_info < OLDEST:
        yield Seen("Python", State.PROBLEM, found, "install Python 3.11 or newer")
    else:
        yield Seen("Python", State.OK, found)


def _packages(env: Mapping[str, str], folder: Path) -> Iterator[Seen]:
    for needed in requires("hookline") or ():
        name = needed.partition(";")[0].split("[")[0].split(">")[0].split("=")[0].split("<")[0].strip()
        if "extra ==" not in needed:
            found = _version(name)
            state = State.PROBLEM if found is None else State.OK
            yield Seen(name, state, found or "not installed", "" if found else "install hookline again")
    for extra, (name, loss) in EXTRAS.items():
        found = _version(name)
        if found is None:
            remedy = f"pip install 'hookline[{extra}]'"
            yield Seen(f"{name}", State.WARNING, f"not installed: there are no {loss}", remedy)
        else:
            yield Seen(name, State.OK, f"{found}, for {loss}")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _shell(env: Mapping[str, str], folder: Path) -> Iterator[Seen]:
    shell = env.get("SHELL") or "/bin/sh"
    program = shutil.which(shell, path=env.get("PATH", os.defpath))
    if program is None:
        remedy = "set SHELL to a shell that is there, such as /bin/sh"
        yield Seen("shell", State.PROBLEM, f"{shell} cannot be started, so no shell hook can", remedy)
    else:
        yield Seen("shell", State.OK, program)


def _state(env: Mapping[str, str], folder: Path) -> Iterator[Seen]:
    try:
        place = state_folder(env)
    except StateError as error:
        yield Seen("state folder", State.PROBLEM, "there is none", str(error))
        return
    near = next(each for each in (place, *place.parents) if each.exists())
    if not os.access(near, os.W_OK | os.X_OK):
        yield Seen(
            "state folder",
            State.PROBLEM,
            f"{near} cannot be written to",
            "give yourself the right, or set XDG_STATE_HOME",
        )
        return
    mode = stat.S_IMODE(near.stat().st_mode) if near == place else 0o700
    room = shutil.disk_usage(near).free
    if mode & 0o077:
        yield Seen("state folder", State.WARNING, f"{place} is open to others (mode {mode:o})", f"chmod 700 {place}")
    elif room < ROOM:
        yield Seen(
            "state folder",
            State.WARNING,
            f"{room // 2**20} MiB are left at {near}",
            "make room: a journal that cannot be written ends its session",
        )
    else:
        yield Seen("state folder", State.OK, f"{place}, {room // 2**30} GiB left")


def _temporary(env: Mapping[str, str], folder: Path) -> Iterator[Seen]:
    try:
        with tempfile.TemporaryDirectory(prefix="hookline-") as made:
            program = Path(made, "program")
            program.write_text("#!/bin/sh\nexit 0\n")
            program.chmod(0o700)
            runs = os.access(program, os.X_OK)
    except OSError as error:
        yield Seen(
            "temporary folder",
            State.PROBLEM,
            f"it cannot be written to: {error.strerror}",
            "set TMPDIR to a folder that can",
        )
        return
    where = tempfile.gettempdir()
    if runs:
        yield Seen("temporary folder", State.OK, where)
    else:
        yield Seen(
            "temporary folder",
            State.WARNING,
            f"nothing in {where} can be run",
            "set TMPDIR, for hooks that are programs of a capsule",
        )


def _processes(env: Mapping[str, str], folder: Path) -> Iterator[Seen]:
    if sys.platform != "linux":
        found = "this is no Linux: a process that leaves its group outlives its hook"
        yield Seen("processes", State.WARNING, found, "run agents with hooks that you do not know in a container")
        return
    missing = [
        name
        for name, is_there in (("pidfd_open", hasattr(os, "pidfd_open")), ("subreaper", _has_subreaper()))
        if not is_there
    ]
    if missing:
        yield Seen(
            "processes",
            State.WARNING,
            f"without {' and '.join(missing)} some descendants may outlive a hook",
            "use a newer kernel",
        )
    else:
        yield Seen("processes", State.OK, "whatever a hook starts is found and ended")


def _has_subreaper() -> bool:
    value = ctypes.c_int()
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return int(libc.prctl(PR_SET_CHILD_SUBREAPER + 1, ctypes.byref(value), 0, 0, 0)) == 0
    except (OSError, AttributeError):
        return False


def _limits(env: Mapping[str, str], folder: Path) -> Iterator[Seen]:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    cores = os.cpu_count() or 1
    if soft != resource.RLIM_INFINITY and soft < DESCRIPTORS:
        yield Seen("descriptors", State.WARNING, f"a process may open {soft}", f"ulimit -n {DESCRIPTORS}, at least")
    else:
        yield Seen("descriptors", State.OK, f"{soft} may be open at once; {cores} cores")


def _servers(env: Mapping[str, str], folder: Path) -> Iterator[Seen]:
    for variable, usual in (("HOOKLINE_NATS", 4222), ("HOOKLINE_STORE", 5432)):
        given = env.get(variable, "")
        if "://" in given:
            yield _answers(variable, given, usual)


def _answers(variable: str, url: str, usual: int) -> Seen:
    """Whether something answers at *url*, of which neither user nor password is told."""
    import socket
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or usual
    except ValueError as error:
        return Seen(variable, State.PROBLEM, f"it is no URL: {error}", "write it as in nats://127.0.0.1:4222")
    try:
        socket.create_connection((host, port), timeout=PATIENCE).close()
    except OSError as error:
        why = error.strerror or str(error)
        return Seen(
            variable, State.PROBLEM, f"{host}:{port} does not answer: {why}", "start the server, or mend the URL"
        )
    return Seen(variable, State.OK, f"{host}:{port} answers")


def _hooks(env: Mapping[str, str], folder: Path) -> Iterator[Seen]:
    checked = check(workspace=folder, env=env)
    if not checked.files:
        yield Seen("hook files", State.OK, "there is none here")
    for file in checked.files:
        found = [each for each in checked.findings if each.where.file == str(file.path)]
        errors = sum(each.level is Level.ERROR for each in found)
        warnings = sum(each.level is Level.WARNING for each in found)
        state = State.PROBLEM if errors else State.WARNING if warnings else State.OK
        told = f"{file.hooks} {'hook' if file.hooks == 1 else 'hooks'}, {errors} errors, {warnings} warnings"
        yield Seen(str(file.path), state, told, "" if state is State.OK else f"hookline check {file.path}")


LOOKS: tuple[Look, ...] = (
    _python,
    _packages,
    _shell,
    _state,
    _temporary,
    _processes,
    _limits,
    _servers,
    _hooks,
)
