from typing import Any

from hookline.session.ports import Risk
from hookline.session.tools import builtin_tools

SPAWN = next(tool for tool in builtin_tools() if tool.spec.name == "subagent_spawn")


async def test_a_child_is_started_through_the_session(session: Any, context: Any) -> None:
    """The session is asked, and the answer is the id that it gave, before the child has done anything."""
    wanted = {"objective": "look", "role": "reviewer", "subagent_type": "explore", "command_id": "c1"}
    result = await SPAWN.call(wanted, context())

    assert session.spawned == [{"objective": "look", "role": "reviewer", "kind": "explore"}]
    assert result.text == "child agent agent-1 has started"
    assert result.seen_by_hooks() == {"subagent_id": "agent-1", "status": "accepted", "command_id": "c1"}


async def test_an_objective_is_enough(session: Any, context: Any) -> None:
    """A child without a type is of the kind `default`."""
    await SPAWN.call({"objective": "look"}, context())

    assert session.spawned == [{"objective": "look", "role": "", "kind": "default"}]


def test_starting_a_child_changes_things(workspace: Any) -> None:
    """It is approved like a program that is started."""
    assert SPAWN.risk({"objective": "look"}, workspace) is Risk.CHANGES
