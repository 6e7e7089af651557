from hookline._core.messages import Message, Usage
from hookline.session.models.echo import EchoModel
from hookline.session.ports import ModelRequest

TALK = (
    Message(role="user", text="hello there"),
    Message(role="assistant", text="echo: hello there"),
    Message(role="user", text="and now"),
    Message(role="developer", text="a hook's context"),
)


async def test_it_says_back_what_the_user_said_last() -> None:
    """Not what the developer said, and with no call; tokens are words."""
    reply = await EchoModel().complete(ModelRequest(messages=TALK, tools=(), request_id="r:0:1"))

    assert reply.text == "echo: and now"
    assert reply.calls == ()
    assert reply.finish_reason == "stop"
    assert reply.response_id == "echo:r:0:1"
    assert reply.usage == Usage(input_tokens=10, output_tokens=3)


async def test_with_nothing_said_there_is_nothing_to_say() -> None:
    """An empty conversation is answered too."""
    assert (await EchoModel().complete(ModelRequest(messages=(), tools=()))).text == "echo: "


def test_it_stands_in_for_a_model() -> None:
    """The names are those of the Muse captures; events carry no provider."""
    model = EchoModel()

    assert (model.name, model.provider, model.provider_known) == ("unknown", "model.unknown.response", False)
    assert model.for_child("any").provider == "model.unknown.response"


async def test_a_summary_keeps_the_beginning() -> None:
    """The first thing that the user said stays, and how much does not is said; twice the same makes the same."""
    model = EchoModel()

    assert await model.summarise(TALK) == "hello there\n\n[3 messages after this one left out]"
    assert await model.summarise(TALK[1:2]) == "[1 messages left out]"
    assert await model.summarise(TALK) == await model.summarise(TALK)
