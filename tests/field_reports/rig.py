"""What these tests stand on: the real program in folders of its own, and what its journal says afterwards."""

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import hookline as hl
from hookline.journal import Damage, Entry, read, sessions
from hookline.journal import entries as en

PROGRAM = Path(sys.executable).with_name("hookline")
PATIENCE = 15.0  # seconds: far above what anything here takes, so that a hang is a failure and not a night
BUFFER = 65_536  # bytes that a pipe holds before its writer has to wait

Json = dict[str, Any]


def command(line: str, **fields: Any) -> Json:
    """A handler."""
    return {"type": "command", "command": line, **fields}


def group(*handlers: Json, matcher: Any) -> Json:
    """Handlers behind a matcher."""
    return {"matcher": matcher, "hooks": list(handlers)}


def document(**events: list[Json]) -> Json:
    """A hook file: each event with its groups, or with handlers that get a group each."""
    return {
        "hooks": {
            name: [each if "hooks" in each else {"hooks": [each]} for each in groups] for name, groups in events.items()
        }
    }


def answering(answer: object) -> str:
    """A command line that prints this answer."""
    return f"printf %s '{json.dumps(answer)}'"


def specific(event: str, **members: Any) -> Json:
    """An answer with these members in its `hookSpecificOutput`."""
    return {"hookSpecificOutput": {"hookEventName": event, **members}}


def denying(reason: str) -> str:
    """A command line that denies a tool call."""
    answer = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason=reason)
    return answering(answer)


def rewriting(**input: Any) -> str:
    """A command line that gives a tool call this input."""
    return answering(specific("PreToolUse", permissionDecision="allow", updatedInput=input))


def call(tool: str, **input: Any) -> Json:
    """A step of the model: one tool call."""
    return {"call": {"tool": tool, "input": input}}


def bash(line: str) -> Json:
    return call("bash", command=line)


TOUCH = bash("touch MARK")

# A script in which a child agent asks for the same call.
CHILD = """
steps:
- call: {tool: subagent_spawn, input: {objective: make a mark}}
- say: done
agents:
  default:
    steps:
    - call: {tool: bash, input: {command: touch MARK}}
    - say: over
"""


# For every tool that there is, an input that it takes.
INPUTS: dict[str, Any] = {
    "bash": {"command": "touch MARK"},
    "bash_input": {"id": "bash-1", "input": "touch MARK\n"},
    "read_file": {"path": "there.txt"},
    "write_file": {"path": "MARK", "content": "x"},
    "edit_file": {"path": "there.txt", "find": "here", "replace": "there"},
    "search": {"pattern": "here"},
    "web_fetch": {"url": "http://127.0.0.1:9/"},
    "web_search": {"query": "x"},
    "subagent_spawn": {"objective": "touch MARK"},
    "read_skill": {},
}


@dataclass(frozen=True, kw_only=True)
class Told:
    """What one `hookline exec` said, and its journal."""

    code: int
    out: str
    err: str
    entries: list[Entry] = field(repr=False)

    @property
    def lines(self) -> list[str]:
        """Standard error."""
        return self.err.splitlines()

    @property
    def session(self) -> str:
        return self.entries[0].session

    def of(self, kind: type[Any]) -> list[Any]:
        """The bodies of one kind of entry."""
        return [entry.body for entry in self.entries if isinstance(entry.body, kind)]

    def dispatched(self, point: str) -> list[en.Dispatched]:
        """What came of each event at a point."""
        return [body for body in self.of(en.Dispatched) if body.event["point"] == point]

    def outcomes(self, point: str) -> list[en.Outcome]:
        """How each hook's turn ended, at every event of a point."""
        return [outcome for body in self.dispatched(point) for outcome in body.outcomes]

    def payloads(self, kind: str) -> list[Json]:
        """The payloads of one kind in the `--json` stream."""
        said = [json.loads(line)["payload"] for line in self.out.splitlines()]
        return [payload for payload in said if payload["kind"] == kind]


class Place:
    """A home, a project and a state folder that only this test's programs know."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "project"
        self.sessions = root / "state" / "hookline" / "sessions"
        self.project.mkdir()
        self.env = {
            "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(root / "home"),
            "XDG_CONFIG_HOME": str(root / "config"),
            "XDG_STATE_HOME": str(root / "state"),
            "SHELL": "/bin/sh",
        }
        self._started: list[subprocess.Popen[str]] = []

    @property
    def mark(self) -> bool:
        """Whether the tool call that makes MARK took effect."""
        return (self.project / "MARK").exists()

    def write_project(self, hooks: Json | bytes) -> Path:
        return self._write("project/.muse/hooks.json", hooks)

    def write_settings(self, hooks: Json | None = None, **members: Any) -> Path:
        return self._write("config/muse/settings.json", {"schema_version": 1, **(hooks or {}), **members})

    def write_managed(self, hooks: Json | bytes) -> Path:
        """A managed file, which the settings have to name: `managed_hooks_path="managed.json"`."""
        return self._write("config/muse/managed.json", hooks)

    def write_rkat(self, config: str) -> Path:
        """The project's hooks in Meerkat's form."""
        return self._write("project/.rkat/config.toml", config.encode())

    def write_users_rkat(self, config: str) -> Path:
        """The user's, too."""
        return self._write("home/.rkat/config.toml", config.encode())

    def exec(self, *steps: Json, **how: Any) -> Told:
        """Run the program to its end; see `arguments` for *how*."""
        done = self.start(*steps, **how)
        out, err = done.communicate(timeout=PATIENCE)
        return Told(code=done.returncode, out=out, err=err, entries=self.entries())

    def start(
        self,
        *steps: Json,
        script: str = "",
        program: Path = PROGRAM,
        env: Mapping[str, str] | None = None,
        **how: Any,
    ) -> subprocess.Popen[str]:
        """The program, running. *script* is YAML, in the place of *steps*."""
        file = self._write("script.yaml", script.encode() or {"steps": list(steps) or [{"say": "done"}]})
        started = subprocess.Popen(
            [program, *_arguments(file, **how)],
            cwd=self.project,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._started.append(started)
        return started

    def trace(self, *options: str) -> str:
        """What `hookline trace` shows of the last session."""
        shown = subprocess.run(
            [PROGRAM, "trace", *options], env=self.env, capture_output=True, text=True, check=True, timeout=PATIENCE
        )
        return shown.stdout

    def run(self, *arguments: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        """Any command of the program, in the project, to its end."""
        return subprocess.run(
            [PROGRAM, *arguments],
            cwd=self.project,
            env={**self.env, **env},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    def findings(self, *paths: str) -> dict[str, Json]:
        """What `hookline check` finds, by code; of several of one code the first."""
        found: dict[str, Json] = {}
        for each in json.loads(self.run("check", "--format", "json", *paths).stdout)["findings"]:
            found.setdefault(each["code"], each)
        return found

    def report(self, *options: str) -> dict[str, Json]:
        """The rows of `hookline trace --report`, by the ids of their hooks. The last session's by default."""
        made: Json = json.loads(self.trace("--report", "--json", *options))
        return {row["id"]: row for row in made["hooks"]}

    def entries(self) -> list[Entry]:
        """The journal that was last written to. No line of it may be damaged."""
        recorded = sessions(self.sessions)
        found = list(read(recorded[0])) if recorded else []
        assert [each for each in found if isinstance(each, Damage)] == []
        return [each for each in found if isinstance(each, Entry)]

    def close(self) -> None:
        """End what a test that failed has left running."""
        for started in self._started:
            if started.poll() is None:
                started.kill()
            with started:
                pass

    def _write(self, name: str, content: Json | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content, ensure_ascii=False).encode())
        return path


def _arguments(
    script: Path, *, prompts: tuple[str, ...] = ("go",), options: tuple[str, ...] = (), trusted: bool = True
) -> list[str]:
    trust = ["--trust-workspace"] if trusted else []
    approval = [] if "--approval-mode" in options else ["--approval-mode", "never"]
    return ["exec", *trust, *approval, "--provider", "script", "--model", str(script), *options, *prompts]


def engine_for(path: Path, hooks: Json, *, timeout: float | None = None, strict: bool = False) -> hl.HookEngine:
    """An engine with the hooks of one file. *timeout* is for all of them: a file cannot ask for less than a second."""
    file = path / "hooks.json"
    file.write_text(json.dumps(hooks))
    loaded = hl.load(file, env={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(path)}, strict=strict)
    if timeout is None:
        return loaded
    return hl.new_engine(hooks=[replace(hook, timeout=timeout) for hook in loaded.hooks()], strict=strict)


def bash_call(line: str = "ls", **more: Any) -> hl.BeforeToolCall:
    """The event of a shell call that the model asked for."""
    return hl.BeforeToolCall(tool_name="bash", input={"command": line}, aliases=("Bash", "shell"), **more)


def wait_for_end(pid: int) -> bool:
    """Whether a process ends before our patience does. One that only waits to be reaped has ended."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            return bool(poll.poll(PATIENCE * 1000))
        finally:
            os.close(descriptor)
    return True


def is_alive(pid: int) -> bool:
    """Whether a process runs now."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")
