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


async def test_no_more_than_forty_and_the_newest_of_them() -> None:
    """Where nothing shares a word with the task, what was said last counts."""
    record = tuple(Message(role="user", text=f"message {number}", id=f"m{number}") for number in range(150))

    assert [f"m{number}" for number in range(110, 150)] == [
        source for *_, source in told(await seeds(record=record, task="?", budget=100_000))
    ]


async def test_it_looks_at_two_thousand_messages() -> None:
    """What lies further back is not found, whatever it shares with the task; what lies just within is."""
    noise = tuple(Message(role="user", text=f"message {number}", id=f"m{number}") for number in range(1999))
    within = Message(role="user", text="the parser", id="within")
    beyond = Message(role="user", text="fix the parser", id="beyond")

    sources = [source for *_, source in told(await seeds(record=(beyond, within, *noise), budget=100_000))]

    assert ("within", 40) == (sources[0], len(sources))
    assert "beyond" not in sources


async def test_without_its_task_the_newest_is_seeded() -> None:
    """Reading the task is a grant that it can do without."""
    record = (RECORD[0], Message(role="user", text="lunch is at noon", id="m3"))

    assert [("user", "lunch is at noon", "m3")] == told(
        await seeds(record=record, budget=20, grant=Grant(reads_conversation=True))
    )


async def test_only_the_first_8192_bytes_of_the_task_count() -> None:
    """A word behind them is as if it were not there, so the newest message is the one there is room for."""
    record = (RECORD[0], Message(role="user", text="lunch is at noon", id="m3"))
    near, far = "-" * 8000 + " parser", "-" * 8192 + " parser"

    assert ["m1"] == [source for *_, source in told(await seeds(record=record, task=near, budget=20))]
    assert ["m3"] == [source for *_, source in told(await seeds(record=record, task=far, budget=20))]


async def test_what_is_no_memory_is_left_out() -> None:
    """Instructions of the system and blank messages; what a developer said is told as a user's."""
    record = (
        Message(role="system", text="be brief", id="m1"),
        Message(role="user", text=" \n", id="m2"),
        Message(role="developer", text="use tabs", id="m3"),
    )

    assert [("user", "use tabs", "m3")] == told(await seeds(record=record))


async def test_five_percent_of_the_budget_stay_free() -> None:
    """A message of one counted word, and twelve tokens around it, needs 13: 95 % of 14 are 13, of 13 only 12."""
    record = (Message(role="user", text="noted", id="m1"),)

    assert ["m1"] == [source for *_, source in told(await seeds(record=record, budget=14))]
    declined = await seeds(record=record, budget=13)
    assert isinstance(declined, Yielded)
    assert "none" == declined.arm


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
