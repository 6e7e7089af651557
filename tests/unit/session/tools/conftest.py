import os
import select
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hookline.session.ports import CallContext

Context = Callable[..., CallContext]
Gone = Callable[[int], bool]


@dataclass
class FakeSession:
    """The part of a session that tools may use, and an account of what they asked of it."""

    workspace: Path
    spawned: list[dict[str, str]] = field(default_factory=list)

    async def spawn(self, *, objective: str, role: str, kind: str) -> str:
        self.spawned.append({"objective": objective, "role": role, "kind": kind})
        return f"agent-{len(self.spawned)}"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder.resolve()


@pytest.fixture
def session(workspace: Path) -> FakeSession:
    return FakeSession(workspace)


@pytest.fixture
def context(session: FakeSession) -> Context:
    def make(*, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> CallContext:
        environment = {"PATH": os.environ["PATH"]} if env is None else env
        return CallContext(session=session, cwd=cwd or session.workspace, env=environment)

    return make


@pytest.fixture
def gone() -> Gone:
    """Whether a process ends, if it has not yet. Waits on the process itself, for ten seconds at most."""

    def ends(pid: int) -> bool:
        try:
            pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            return True
        try:
            poll = select.poll()
            poll.register(pidfd, select.POLLIN)
            return bool(poll.poll(10_000))
        finally:
            os.close(pidfd)

    return ends
