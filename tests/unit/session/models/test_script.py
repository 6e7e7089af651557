import asyncio
import re
from pathlib import Path

import pytest

from hookline._core.errors import ModelError
from hookline._core.messages import Message, ToolCall, Usage
from hookline.session.models.script import ScriptModel
from hookline.session.ports import ModelReply, ModelRequest

REQUEST = ModelRequest(messages=(Message(role="user", text="look around"),), tools=())

SCRIPT = """
model: demo-1
provider: demo
steps:
  - say: I will look.
    call: {tool: bash, input: {command: ls}}
  - calls:
      - {tool: read_file, input: {path: a}}
      - {tool: bash, input: "not JSON"}
      - {tool: read_skill}
  - fail: {category: rate_limit, details: too fast}
  - say: done
summary: we looked
agents:
  explore:
    model: small-1
    steps: [{call: {tool: bash, input: {command: pwd}}}]
    agents: {default: {steps: [{calls: [{tool: bash}]}]}}
  default:
    steps: [{say: hello}]
"""


@pytest.fixture
def model() -> ScriptModel:
    return ScriptModel.parse(SCRIPT)


async def replies(model: ScriptModel, count: int) -> list[ModelReply]:
    return [await model.complete(REQUEST) for _ in range(count)]


async def test_steps_are_played_in_order(model: ScriptModel) -> None:
    """Text, calls with their ids, and a failure, each for one model call."""
    first, second = await replies(model, 2)

    assert first.text == "I will look."
    assert first.calls == (ToolCall(id="call-1", name="bash", input={"command": "ls"}),)
    assert second.calls == (
        ToolCall(id="call-2", name="read_file", input={"path": "a"}),
        ToolCall(id="call-3", name="bash", input="not JSON"),
        ToolCall(id="call-4", name="read_skill", input={}),
    )
    with pytest.raises(ModelError, match="too fast") as raised:
        await model.complete(REQUEST)
    assert raised.value.category == "rate_limit"
    assert (await model.complete(REQUEST)).text == "done"


async def test_a_reply_has_what_a_model_gives(model: ScriptModel) -> None:
    """Words as tokens, an id for each response, and why it ended."""
    first = await model.complete(REQUEST)

    assert first.usage == Usage(input_tokens=2, output_tokens=3)
    assert first.response_id == "response-1"
    assert first.finish_reason == "tool_calls"
    assert (await ScriptModel.parse("steps: [{say: hi}]").complete(REQUEST)).finish_reason == "stop"


async def test_after_the_last_step_it_says_so_for_ever() -> None:
    """A session ends by itself, and what keeps it from ending needs no step for each round."""
    model = ScriptModel.parse("steps: [{say: hi}]")
    after = (await replies(model, 3))[1:]

    assert [(reply.text, reply.calls, reply.finish_reason) for reply in after] == [
        ("(script is over)", (), "stop"),
        ("(script is over)", (), "stop"),
    ]


def test_names(model: ScriptModel) -> None:
    """The script's own names, else `script`; either way the provider is known."""
    plain = ScriptModel.parse("steps: [{say: hi}]")

    assert (model.name, model.provider, model.provider_known) == ("demo-1", "demo", True)
    assert (plain.name, plain.provider, plain.provider_known) == ("script", "script", True)


async def test_a_child_plays_its_own_script_from_the_start(model: ScriptModel) -> None:
    """Each child begins anew, and no call id is given twice in a session."""
    ids = []
    await model.complete(REQUEST)
    for child in (model.for_child("explore"), model.for_child("explore")):
        ids += [call.id for reply in await replies(child, 2) for call in reply.calls]
        ids += [call.id for reply in await replies(child.for_child("any"), 1) for call in reply.calls]

    assert ids == ["agent-1-call-1", "agent-1-agent-1-call-1", "agent-2-call-1", "agent-2-agent-1-call-1"]


async def test_a_child_without_a_script_gets_the_default(model: ScriptModel) -> None:
    """Names that a child does not have are its parent's."""
    child = model.for_child("review")

    assert (await child.complete(REQUEST)).text == "hello"
    assert (child.name, child.provider) == ("demo-1", "demo")
    assert (model.for_child("explore").name, model.for_child("explore").provider) == ("small-1", "demo")


def test_a_child_that_no_script_foresees_is_an_invalid_request(model: ScriptModel) -> None:
    """The error says what to add."""
    with pytest.raises(ModelError, match="no agent `review` and none called `default`: add one") as raised:
        model.for_child("review").for_child("review")

    assert raised.value.category == "invalid_request"


async def test_the_summary_is_the_script_s(model: ScriptModel) -> None:
    """Where there is none, the beginning of the conversation is kept, as echo does."""
    plain = ScriptModel.parse("steps: [{say: hi}]")

    assert await model.summarise(REQUEST.messages) == "we looked"
    assert await plain.summarise(REQUEST.messages) == "look around\n\n[0 messages after this one left out]"


async def test_a_wait_can_be_cancelled() -> None:
    """A step that was cancelled is over: the next call plays the next one."""
    model = ScriptModel.parse("steps: [{say: slow, wait: 3600}, {say: next}]")
    call = asyncio.create_task(model.complete(REQUEST))
    await asyncio.sleep(0)  # it has begun
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert (await model.complete(REQUEST)).text == "next"


async def test_a_wait_is_waited() -> None:
    """It takes the time that the step says, no more than a test can afford."""
    model = ScriptModel.parse("steps: [{say: slow, wait: 0.05}]")
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await model.complete(REQUEST)

    assert loop.time() - begun >= 0.05


async def test_a_file_is_read(tmp_path: Path) -> None:
    """A byte order mark does no harm."""
    path = tmp_path / "script.yaml"
    path.write_bytes(b"\xef\xbb\xbfsteps: [{say: h\xc3\xa9}]\r\n")

    assert (await ScriptModel.load(path).complete(REQUEST)).text == "hé"


async def test_scalars_are_what_json_takes_them_for() -> None:
    """`no` is a word and `12:30` is no number; quotes make text of anything."""
    text = """
    steps:
      - say: no
        call:
          tool: bash
          input: {a: yes, b: 12:30, c: 0x10, d: 1, e: -1.5e2, f: true, g: null, h: "1", i: 2026-01-01, j: [~, 007]}
    """
    reply = await ScriptModel.parse(text).complete(REQUEST)

    assert reply.text == "no"
    assert reply.calls[0].input == {
        "a": "yes",
        "b": "12:30",
        "c": "0x10",
        "d": 1,
        "e": -150.0,
        "f": True,
        "g": None,
        "h": "1",
        "i": "2026-01-01",
        "j": [None, "007"],
    }


PAGE = Path(__file__).parents[4] / "docs" / "script-model.md"


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL))
def test_the_examples_of_the_page_can_be_played(block: str) -> None:
    """What docs/script-model.md shows is a script."""
    assert ScriptModel.parse(block)
