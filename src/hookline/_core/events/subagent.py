"""A child agent. Its own session id is the origin's; `subagent_id` is what the parent calls it."""

from dataclasses import dataclass

from hookline._core.effects import AddContext, Reopen
from hookline._core.points import Event, hook_point


@hook_point("subagent_start", admits=(AddContext,), subject="subagent_id")
@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentStart(Event):
    """A child session begins. Context goes into the child."""

    subagent_id: str
    child_session_id: str = ""


@hook_point("subagent_end", admits=(Reopen,), subject="subagent_id")
@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentEnd(Event):
    """A child wants to stop. `reopened`: a hook already kept it working."""

    subagent_id: str
    child_session_id: str = ""
    last_message: str | None = None
    reopened: bool = False
