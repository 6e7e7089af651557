"""The tools that write to other agents."""

from pathlib import Path
from typing import Annotated, Literal, TypeVar

from msgspec import Meta

from hookline._core.errors import ToolError
from hookline._core.peers import PeerError, Receipt
from hookline.session.ports import CallContext, Correspondence, Risk, ToolResult
from hookline.session.tools._base import BuiltinTool, ToolInput

PeerName = Annotated[str, Meta(min_length=1, max_length=200, description="The name of the other agent.")]
Text = Annotated[str, Meta(min_length=1, description="What to tell it.")]


class Message(ToolInput, frozen=True):
    """What `peer_message` and `peer_request` take."""

    to: PeerName
    text: Text


class Response(ToolInput, frozen=True):
    """What `peer_respond` takes."""

    to: PeerName
    request_id: Annotated[str, Meta(min_length=1, description="The id of the request that is answered.")]
    text: Text
    status: Annotated[
        Literal["progress", "completed", "failed"],
        Meta(description="`progress` while more is to come; the other two end the request."),
    ] = "completed"


Wanted = TypeVar("Wanted", bound=ToolInput)


class PeerTool(BuiltinTool[Wanted]):
    """A tool that writes to a peer. A subclass says what is sent."""

    kind = "comms"

    def reach(self, wanted: Wanted, workspace: Path) -> Risk:
        return Risk.REACHES_OUT

    async def send(self, wanted: Wanted, peers: Correspondence) -> tuple[Receipt, str]:
        """Send it; the receipt, and what it was in words."""
        raise NotImplementedError

    async def perform(self, wanted: Wanted, context: CallContext) -> ToolResult:
        try:
            receipt, what = await self.send(wanted, context.session.peers)
        except PeerError as error:
            raise ToolError(str(error)) from error
        delivery = str(receipt.delivery)
        return ToolResult(
            text=f"{what} was sent ({delivery})",
            response={"envelope_id": receipt.envelope_id, "delivery": delivery},
        )


class PeerMessage(PeerTool[Message]):
    name = "peer_message"
    description = "Send a message to another agent, and expect no answer."
    shape = Message

    async def send(self, wanted: Message, peers: Correspondence) -> tuple[Receipt, str]:
        return await peers.message(wanted.to, wanted.text), f"message to {wanted.to}"


class PeerRequest(PeerTool[Message]):
    name = "peer_request"
    description = (
        "Ask another agent for something. Its answer comes later, as an input of its own that names the request."
    )
    shape = Message

    async def send(self, wanted: Message, peers: Correspondence) -> tuple[Receipt, str]:
        receipt = await peers.request(wanted.to, wanted.text)
        return receipt, f"request {receipt.envelope_id} to {wanted.to}"


class PeerRespond(PeerTool[Response]):
    name = "peer_respond"
    description = "Answer a request of another agent."
    shape = Response

    async def send(self, wanted: Response, peers: Correspondence) -> tuple[Receipt, str]:
        receipt = await peers.respond(wanted.request_id, wanted.to, wanted.text, status=wanted.status)
        return receipt, f"response to {wanted.to}"
