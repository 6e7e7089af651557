"""What a stand-in for a model counts as tokens: words."""

from hookline._core.messages import Usage
from hookline.session.ports import ModelRequest


def usage_of(request: ModelRequest, text: str) -> Usage:
    """The words of the request and of the reply."""
    read = sum(len(message.text.split()) for message in request.messages)
    return Usage(input_tokens=read, output_tokens=len(text.split()))
