"""The shipped memory hook by itself, against the host's real functions and a record that a test writes."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.components.shipped_rig import shipped
from tests.unit.dialects.murmur.test_imports import Around

from hookline._core.capsule import Grant
from hookline._core.messages import Message
from hookline._core.payload import CallFailed, Yielded
from hookline._core.reasons import Failure
from hookline.dialects.murmur.imports import Host

RECORD = (
    Message(role="user", text="the parser lives in reader.c", id="m1"),
    Message(role="assistant", text="noted", id="m2"),
    Message(role="user", text="lunch is at noon", id="m3"),
    Message(role="tool", text="exit 0", call_id="c", id="m4"),
)
GRANTED = Grant(reads_task=True, reads_conversation=True)


async def seeds(
    *,
    record: tuple[Message, ...] = RECORD,
    task: str = "fix the parser",
    budget: int = 1000,
    prior: int = 0,
    config: Mapping[str, Any] | None = None,
    grant: Grant = GRANTED,
) -> Yielded | CallFailed:
    """What the hook says of a task that begins."""
    around = Around(messages=list(record), original=task)
    env = {} if config is None else {"MURMUR_ARTIFACT_CONFIG": json.dumps(config)}
    event = {
        "task-id": "t",
        "context-id": "c",
        "source": "local",
        "input-bytes": len(task),
        "budget-tokens": budget,
        "context-window": 4000,
        "prior-tokens": prior,
    }
    async with shipped("murmur-hook-memory", env=env, host=Host(around, "murmur-hook-memory", grant)) as hook:
        return await hook.call("on-task-start", event)


def told(reply: Yielded | CallFailed) -> list[tuple[str, str, str]]:
    """Role, text and source of each message that is to be seeded, oldest first."""
    assert isinstance(reply, Yielded), reply
    assert "seed-context" == reply.arm
    return [(each["role"], json.loads(each["content"]), each["source-id"]) for each in reply.value]


async def test_what_was_said_before_is_seeded_oldest_first() -> None:
    """Each message with the id of the one it was; a tool's result is told as a user's, as a call would be missing."""
    assert [
        ("user", "the parser lives in reader.c", "m1"),
        ("assistant", "noted", "m2"),
        ("user", "lunch is at noon", "m3"),
        ("user", "exit 0", "m4"),
    ] == told(await seeds())


async def test_with_little_room_what_concerns_the_task_is_seeded() -> None:
    """The oldest message is the one that shares a word with the task; the budget has room for one."""
    assert [("user", "the parser lives in reader.c", "m1")] == told(await seeds(budget=20))


async def test_only_the_roles_that_are_asked_for() -> None:
    """`seed_roles` of its configuration."""
    assert [("assistant", "noted", "m2")] == told(await seeds(config={"seed_roles": ["assistant"]}))


async def test_what_was_seeded_once_is_not_seeded_again() -> None:
    """A message that a hook joined to another is a copy of it."""
    copy = Message(role="user", text="the parser lives in reader.c", id="m9", source_id="m1")

    assert ["m1"] == [source for *_, source in told(await seeds(record=(RECORD[0], copy)))]


@pytest.mark.parametrize("why", [{"budget": 0}, {"prior": 7}, {"record": ()}], ids=["no room", "a history", "new"])
async def test_it_declines(why: dict[str, Any]) -> None:
    """Without room, where the conversation is loaded anyway, and where nothing was said before."""
    assert Yielded(arm="none", interface="murmur:hook/lifecycle@0.8.0") == await seeds(**why)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"grant": Grant()}, "grant capabilities.conversation.read"),
        ({"config": {"roles": ["user"]}}, "there is no key `roles`"),
        ({"config": {"seed_roles": []}}, "has to be a list that is not empty"),
        ({"config": {"seed_roles": ["system"]}}, 'holds what is no role: "system"'),
    ],
    ids=["no grant", "unknown key", "no role", "not a role"],
)
async def test_what_keeps_it_from_its_work_is_said(wrong: dict[str, Any], said: str) -> None:
    """An error with what to write."""
    reply = await seeds(**wrong)

    assert isinstance(reply, CallFailed)
    assert Failure.ERROR is reply.why
    assert said in reply.detail
