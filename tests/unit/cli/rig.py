"""The real program in folders of its own: run to its end, or started and talked to."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hookline.journal import Entry, read

ENOUGH = 18.0  # seconds: none of these programs takes more than a few, and a test has twenty

TOKEN = "open-sesame"

PASSED_ON = ("PYTHONPATH", "PATH")  # the program under test is the one that the tests import


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that has ended by itself, or by our signal."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> list[str]:
        """What it said of itself, but for where it works."""
        return [line for line in self.err.splitlines() if "workspace root:" not in line]


class Program:
    """One that runs. What it prints is collected as it comes, so that it is never held up."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: int) -> None:
        self.process = subprocess.Popen(
            argv, cwd=cwd, env=dict(env), stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._news = threading.Condition()
        self._printed: dict[str, list[str]] = {"out": [], "err": []}
        self._readers = [
            threading.Thread(target=self._collect, args=(name, stream))
            for name, stream in (("out", self.process.stdout), ("err", self.process.stderr))
        ]
        for reader in self._readers:
            reader.start()

    def _collect(self, name: str, stream: Any) -> None:
        with stream:
            for line in stream:
                with self._news:
                    self._printed[name].append(line)
                    self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def out(self) -> str:
        return "".join(self._printed["out"])

    def err(self) -> str:
        return "".join(self._printed["err"])

    def prints(self, text: str, *, times: int = 1) -> None:
        """Wait until it has printed *text* so often, on either stream."""
        with self._news:
            known = self._news.wait_for(lambda: (self.out() + self.err()).count(text) >= times, ENOUGH)
        assert known, f"{text!r} was not printed:\n{self.out()}\n{self.err()}"

    def write(self, text: str) -> None:
        """Give it *text* on standard input."""
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def end(self, number: signal.Signals | None = None) -> Ended:
        """Wait for its end, brought about by a signal, or by the end of its standard input."""
        if number is not None:
            self.process.send_signal(number)
        elif self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(ENOUGH)
        for reader in self._readers:
            reader.join(ENOUGH)
        return Ended(self.process.returncode, self.out(), self.err())

    def kill(self) -> None:
        """Whatever it is at."""
        if self.process.poll() is None:
            self.process.kill()
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait(ENOUGH)
        for reader in self._readers:
            reader.join(ENOUGH)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a port answered."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Port:
    """The port of a program that listens."""

    number: int
    token: str = TOKEN
    host: str = "127.0.0.1"

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.number, timeout=ENOUGH)

    def ask(
        self, method: str, path: str, body: str | bytes | None = None, *, token: str | None = None, **headers: str
    ) -> Answer:
        """One request; the words of *headers* are parted by underscores."""
        given = {"Authorization": f"Bearer {self.token if token is None else token}"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = self.connect()
        try:
            connection.request(method, path, body, given)
            response = connection.getresponse()
            text = response.read()
            return Answer(response.status, json.loads(text), dict(response.getheaders()))
        finally:
            connection.close()

    def post(self, given: Any, **headers: str) -> Answer:
        """One input."""
        return self.ask("POST", "/inputs", json.dumps(given), **{"Content_Type": "application/json", **headers})

    def ended(self, input_id: str) -> Any:
        """The completion of an input, once the log of events has it."""
        for event in self.events():
            if event.data["interaction_id"] == input_id:
                return self.ask("GET", f"/inputs/{input_id}").body
        raise AssertionError("the events ended without it")

    def events(self, *, last: str | None = None, kind: str = "interaction") -> Generator["Event"]:
        """The events as they come. Closing the generator goes away."""
        connection = self.connect()
        headers = {"Authorization": f"Bearer {self.token}"} | ({} if last is None else {"Last-Event-ID": last})
        try:
            connection.request("GET", "/events", headers=headers)
            response = connection.getresponse()
            assert response.status == 200, response.read()
            yield from (event for event in events_in(response) if event.kind == kind)
        finally:
            connection.close()


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event."""

    kind: str
    data: Any
    id: str = ""


def events_in(response: http.client.HTTPResponse) -> Iterator[Event]:
    fields: dict[str, str] = {}
    while line := response.readline():
        if text := line.decode().rstrip("\n"):
            name, _, value = text.partition(": ")
            fields[name] = value
        elif "data" in fields:
            yield Event(fields.get("event", ""), json.loads(fields["data"]), fields.get("id", ""))
            fields = {}


class Place:
    """A home and a project. What is run here knows of nothing else, and is gone when the test is over."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.home = self.root / "home"
        self.project = self.root / "project"
        self.sessions = self.home / ".local/state/hookline/sessions"
        self.inputs = self.home / ".local/state/hookline/inputs.sqlite3"
        for folder in (self.home, self.project):
            folder.mkdir()
        self._started: list[Program] = []

    def write(self, name: str, text: str | bytes) -> Path:
        """A file in the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def env(self, **more: str) -> dict[str, str]:
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return passed | {"HOME": str(self.home), "TMPDIR": str(self.root), "COLUMNS": "80", "SHELL": "/bin/sh"} | more

    def run(self, *arguments: str, given: str | bytes = "", env: Mapping[str, str] | None = None) -> Ended:
        """Run the program to its end, with *given* in a pipe on its standard input."""
        ended = subprocess.run(
            [sys.executable, "-m", "hookline", *arguments],
            cwd=self.project,
            env=self.env(**(env or {})),
            input=given.encode() if isinstance(given, str) else given,
            capture_output=True,
            timeout=ENOUGH,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def start(self, *arguments: str, stdin: int = subprocess.DEVNULL, env: Mapping[str, str] | None = None) -> Program:
        argv = [sys.executable, "-m", "hookline", *arguments]
        program = Program(argv, cwd=self.project, env=self.env(**(env or {})), stdin=stdin)
        self._started.append(program)
        return program

    def listen(self, *arguments: str, env: Mapping[str, str] | None = None) -> tuple[Program, Port]:
        """Start `run` at a free port, and wait until it takes requests."""
        program = self.start("run", "--listen", "0", *arguments, env={"HOOKLINE_TOKEN": TOKEN, **(env or {})})
        return program, port_of(program)

    def journal(self, session: str | None = None) -> list[dict[str, Any]]:
        """The records of a session, the only one by default."""
        path = next(self.sessions.glob(f"{session or ''}*.jsonl"))
        return [json.loads(entry.text) for entry in read(path) if isinstance(entry, Entry)]

    def close(self) -> None:
        for program in self._started:
            program.kill()


def port_of(program: Program) -> Port:
    """Where it listens, once it says so."""
    program.prints("listening on ")
    found = re.search(r"listening on http://(.*):(\d+), token: (.*)", program.err())
    assert found is not None
    token = TOKEN if "HOOKLINE_TOKEN" in found[3] else found[3]
    return Port(int(found[2]), token, found[1].strip("[]"))


def lines(*inputs: Any) -> str:
    """Each input as a line of JSON."""
    return "".join(f"{json.dumps(each)}\n" for each in inputs)


def script(*steps: Any) -> str:
    """A script for the model; JSON is YAML too."""
    return json.dumps({"steps": list(steps)})
