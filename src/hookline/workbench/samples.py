"""One event of every hook point."""

from hookline._core import events as ev
from hookline._core.commands import ResolvedCommand
from hookline._core.inputs import InputKind, RejectionReason
from hookline._core.messages import CallResult, Message, ToolCall, ToolSpec
from hookline._core.peers import Delivery, EnvelopeKind, Peer, Proof
from hookline._core.points import Event, Origin

ORIGIN = Origin(session_id="session-1", run_id="run-1", step=2, cwd="/", model="model-1", provider="provider-1")

TOOL = {"tool_name": "bash", "input": {"command": "ls"}, "call_id": "call-1", "aliases": ("Bash",), "origin": ORIGIN}
REQUEST = {
    "provider": "provider-1",
    "request_id": "run-1:2:1",
    "step": 2,
    "messages": (Message(role="user", text="fix the build"),),
    "tools": (ToolSpec(name="bash", description="Run a command", parameters={"type": "object"}),),
    "origin": ORIGIN,
}
INPUT, EARLIER = "0190a7e0-0000-7000-8000-000000000002", "0190a7e0-0000-7000-8000-000000000001"
CHILD = {"subagent_id": "agent-1", "child_session_id": "session-2", "origin": ORIGIN}

COMMAND = ResolvedCommand(program="/bin/bash", arguments=("-c", "ls"), text="ls", script="ls")

_ALL: tuple[Event, ...] = (
    ev.SessionStart(source="startup", origin=ORIGIN),
    ev.SessionEnd(reason="other", origin=ORIGIN),
    ev.BeforeStage(shell_allow=("bash",), origin=ORIGIN),
    ev.BeforeRun(prompt="fix the build", origin=ORIGIN),
    ev.StepEnd(tool_calls=1, origin=ORIGIN),
    ev.BeforeRunEnd(last_message="done", origin=ORIGIN),
    ev.RunCompleted(text="done", origin=ORIGIN),
    ev.RunFailed(category="rate_limit", details="slow down", last_message="so far", origin=ORIGIN),
    ev.BeforeModelCall(**REQUEST),  # type: ignore[arg-type]  # shared fields, spelled once
    ev.AfterModelCall(
        **REQUEST,  # type: ignore[arg-type]
        response_id="response-1",
        finish_reason="stop",
        output_text="done",
        calls=(ToolCall(id="call-1", name="bash", input={"command": "ls"}),),
    ),
    ev.BeforeToolCall(**TOOL),  # type: ignore[arg-type]
    ev.PermissionRequest(**TOOL),  # type: ignore[arg-type]
    ev.BeforeDispatch(**TOOL, command=COMMAND),  # type: ignore[arg-type]
    ev.AfterToolCall(**TOOL, response="there.txt", duration=0.1),  # type: ignore[arg-type]
    ev.AfterShell(**TOOL, command=COMMAND, stdout="there.txt\n", duration=0.1),  # type: ignore[arg-type]
    ev.ToolCallFailed(**TOOL, error="exit code 1", duration=0.1),  # type: ignore[arg-type]
    ev.AfterToolBatch(
        calls=(CallResult(tool_name="bash", input={"command": "ls"}, call_id="call-1", response="there.txt"),),
        origin=ORIGIN,
    ),
    ev.BeforeCompaction(trigger="manual", origin=ORIGIN),
    ev.AfterCompaction(trigger="manual", origin=ORIGIN),
    ev.SubagentStart(**CHILD),  # type: ignore[arg-type]
    ev.SubagentEnd(**CHILD, last_message="found it"),  # type: ignore[arg-type]
    ev.InputAccepted(input_id=INPUT, input_kind=InputKind.PROMPT, origin=ORIGIN),
    ev.InputRejected(
        input_id=INPUT,
        input_kind=InputKind.PROMPT,
        reason=RejectionReason.NOT_READY,
        detail="stopped",
        origin=ORIGIN,
    ),
    ev.InputDeduplicated(input_id=INPUT, input_kind=InputKind.PROMPT, existing_input_id=EARLIER, origin=ORIGIN),
    ev.PeerReceived(
        input_kind=InputKind.PEER_REQUEST,
        peer_id=Peer("reviewer").id,
        peer_name="reviewer",
        request_id="request-1",
        taint="clean",
        origin=ORIGIN,
    ),
    ev.PeerSent(
        kind=EnvelopeKind.REQUEST,
        peer=Peer("reviewer"),
        envelope_id=INPUT,
        delivery=Delivery(Proof.ACKED),
        interaction_id=INPUT,
        origin=ORIGIN,
    ),
    ev.InteractionCompleted(interaction_id=INPUT, result="done", origin=ORIGIN),
    ev.Notification(notification_type="permission_prompt", title="title", message="message", origin=ORIGIN),
)

SAMPLES: dict[type[Event], Event] = {type(event): event for event in _ALL}
