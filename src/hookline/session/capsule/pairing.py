"""Calls and their results belong together: no model takes a conversation with one of them by itself."""

from collections.abc import Sequence

from hookline._core.messages import Message


def is_paired(messages: Sequence[Message]) -> bool:
    """Whether the calls of the model's messages are just those that the tools' messages answer."""
    asked = {call.id for each in messages if each.role == "assistant" for call in each.calls}
    answered = {each.call_id for each in messages if each.role == "tool"}
    return asked == answered
