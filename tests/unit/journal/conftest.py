from collections.abc import Callable
from typing import Any

import pytest

from hookline._core.decisions import Deny
from hookline._core.effects import AddContext, Notify
from hookline._core.events import BeforeToolCall
from hookline._core.hooks import Hook, Source
from hookline._core.points import Origin
from hookline._core.targets import CommandTarget


@pytest.fixture
def origin() -> Origin:
    return Origin(session_id="s1", run_id="r1", step=2, cwd="/home/me/project", model="echo")


@pytest.fixture
def make_hook() -> Callable[..., Hook]:
    def make(id: str = "PreToolUse[0].hooks[0]", **changes: Any) -> Hook:
        return Hook(
            **{
                "id": id,
                "event": BeforeToolCall,
                "target": CommandTarget(("bash", "-c", "from-argv"), {"TOKEN": "from-env"}, written="guard"),
                "dialect": "muse",
                "source": Source(layer="project", label="hooks.json", path="/p/.muse/hooks.json", line=3),
                "key": "k1",
                "label": "guard",
                "commits": frozenset({Notify, Deny, AddContext}),
                **changes,
            }
        )

    return make
