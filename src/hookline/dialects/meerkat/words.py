"""The closed vocabularies of Meerkat, as they are spelled in files and on the wire (section 1)."""

from enum import Enum

DIALECT = "meerkat"


class HookPoint(Enum):
    """The fourteen points, in the order of the document's table."""

    RUN_STARTED = "run_started"
    PRE_LLM_REQUEST = "pre_llm_request"
    POST_LLM_RESPONSE = "post_llm_response"
    PRE_TOOL_EXECUTION = "pre_tool_execution"
    POST_TOOL_EXECUTION = "post_tool_execution"
    TURN_BOUNDARY = "turn_boundary"
    RUN_COMPLETED = "run_completed"
    RUN_FAILED = "run_failed"
    RUNTIME_INPUT_ACCEPTED = "runtime_input_accepted"
    RUNTIME_INPUT_REJECTED = "runtime_input_rejected"
    RUNTIME_INPUT_DEDUPLICATED = "runtime_input_deduplicated"
    PEER_INGRESS_COMMITTED = "peer_ingress_committed"
    PEER_EGRESS_COMMITTED = "peer_egress_committed"
    INTERACTION_COMPLETED = "interaction_completed"


# The last six report facts that are settled: there is nothing left to refuse.
POST_COMMIT = frozenset(
    {
        HookPoint.RUNTIME_INPUT_ACCEPTED,
        HookPoint.RUNTIME_INPUT_REJECTED,
        HookPoint.RUNTIME_INPUT_DEDUPLICATED,
        HookPoint.PEER_INGRESS_COMMITTED,
        HookPoint.PEER_EGRESS_COMMITTED,
        HookPoint.INTERACTION_COMPLETED,
    }
)
AGENT_LOOP = frozenset(HookPoint) - POST_COMMIT


class Mode(Enum):
    """Whether the loop waits for the hook."""

    FOREGROUND = "foreground"
    BACKGROUND = "background"


class Capability(Enum):
    """What a hook may do: look, or also deny."""

    OBSERVE = "observe"
    GUARDRAIL = "guardrail"


class ReasonCode(Enum):
    """Why a hook denies. The engine itself never gives the last two; a hook may."""

    POLICY_VIOLATION = "policy_violation"
    SAFETY_VIOLATION = "safety_violation"
    SCHEMA_VIOLATION = "schema_violation"
    TIMEOUT = "timeout"
    RUNTIME_ERROR = "runtime_error"


class AdapterType(Enum):
    """What an entry calls."""

    IN_PROCESS = "in_process"
    COMMAND = "command"
    HTTP = "http"


class ToolDenial(Enum):
    """What a denied tool call does: fail alone, with the reason for the model, or end the run. A word of hookline's."""

    TOOL_ERROR = "tool_error"
    FAIL_RUN = "fail_run"
