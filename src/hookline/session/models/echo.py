"""The model that is none: it says back what the user said."""

from collections.abc import Sequence

from hookline._core.messages import Message
from hookline.session.models._words import usage_of
from hookline.session.ports import ModelReply, ModelRequest


class EchoModel:
    """Answers `echo: <the last user message>` and calls nothing."""

    name = "unknown"
    provider = "model.unknown.response"
    provider_known = False

    async def complete(self, request: ModelRequest) -> ModelReply:
        said = next((message.text for message in reversed(request.messages) if message.role == "user"), "")
        text = f"echo: {said}"
        return ModelReply(
            text=text,
            usage=usage_of(request, text),
            response_id=f"echo:{request.request_id}",
            finish_reason="stop",
        )

    async def summarise(self, messages: Sequence[Message]) -> str:
        return first_words(messages)

    def for_child(self, kind: str) -> "EchoModel":
        return self


def first_words(messages: Sequence[Message]) -> str:
    """A summary that needs no model: the first thing that the user said, and how much is left out."""
    first = next((message for message in messages if message.role == "user"), None)
    if first is None:
        return f"[{len(messages)} messages left out]"
    return f"{first.text}\n\n[{len(messages) - 1} messages after this one left out]"
