"""What the values in an envelope are, as JSON Schema (sections 3.1 to 3.3).

Objects are open, as whoever reads an envelope ignores the keys that it does not know; but for `provider_params`.
"""

from collections.abc import Mapping, Sequence

from hookline._core.inputs import Handling, InputKind, RejectionReason, RuntimeState
from hookline._core.peers import EnvelopeKind, Proof
from hookline.dialects._schema import (
    Schema,
    anything,
    constant,
    each,
    flag,
    mapping,
    number,
    one_of,
    open_record,
    or_null,
    record,
    text,
    whole,
    word,
)
from hookline.dialects.meerkat.content import TEXT_OF
from hookline.dialects.meerkat.faults import CATEGORIES, CLASS
from hookline.dialects.meerkat.words import HookPoint, ReasonCode

SESSION = text("The session's id.")
TURN = whole("Which model call of the run it is, from 0.")
RUN_TURN = whole("How many model calls the run had.")

PROMPT_INPUT = one_of(
    "What the run works on.",
    open_record(
        "A prompt.",
        {"kind": constant("The run has a prompt.", "content"), "content": text("The prompt.")},
    ),
    open_record(
        "No prompt.",
        {"kind": constant("The run goes on with what is there.", "pending_tool_results")},
    ),
)
PROMPT = text("The prompt as text, to be shown; left out where there is none.")

PROVIDER_PARAMS = record(
    "What is asked of the provider beside the bound, where anything is.",
    {
        "temperature": number("The sampling temperature."),
        "top_p": number("The share of probability that is sampled from."),
        "max_output_tokens": whole("The bound of the answer, in tokens."),
        "reasoning": text("What becomes of the reasoning: `emit`, `silent` or `off`."),
        "thinking_budget_tokens": whole("The bound of the reasoning, in tokens."),
        "provider_tag": mapping("Settings of one provider, which `provider` in it names."),
    },
    optional=["temperature", "top_p", "max_output_tokens", "reasoning", "thinking_budget_tokens", "provider_tag"],
)
LLM_REQUEST = open_record(
    "The request that is about to be sent.",
    {
        "max_tokens": whole("The bound of the answer, in tokens."),
        "temperature": number("The sampling temperature, where it is set."),
        "provider_params": PROVIDER_PARAMS,
        "message_count": whole("How many messages the conversation has."),
    },
    optional=["temperature", "provider_params"],
)

STOP_REASON = word(
    "Why the model stopped, left out where it does not say.",
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "content_filter",
    "cancelled",
)
USAGE = open_record(
    "What the call took, left out where nothing was counted.",
    {
        "input_tokens": whole("Tokens of the request."),
        "output_tokens": whole("Tokens of the response."),
        "cache_creation_tokens": or_null(whole("Tokens that the provider kept; null, as nobody counts them here.")),
        "cache_read_tokens": or_null(whole("Tokens that the provider had kept; null for none.")),
    },
)
SERVER_TOOL = open_record(
    "One tool that the provider itself ran.",
    {"kind": text("`web_search`, `google_search` or `provider_native`."), "name": text("What the provider calls it.")},
    optional=["name"],
)
LLM_RESPONSE = open_record(
    "The response, of which nothing has taken effect.",
    {
        "assistant_text": text("What the model said, which may be nothing."),
        "tool_call_names": each("The tools that it asks for, in the order of the calls.", {"type": "string"}),
        "stop_reason": STOP_REASON,
        "usage": USAGE,
        "server_tool_content": each("Tools that the provider ran, in order; left out for none.", SERVER_TOOL),
    },
    optional=["stop_reason", "usage", "server_tool_content"],
)

TOOL_USE_ID = text("The call's id.")
TOOL_NAME = text("The tool's name.")
PROVENANCE = open_record(
    "Where the tool comes from, left out where its definition does not say.",
    {"kind": text("What kind of tool it is, such as `builtin` or `mcp`."), "source_id": text("Who provides it.")},
)
TOOL_CALL = open_record(
    "The call that is asked about.",
    {
        "tool_use_id": TOOL_USE_ID,
        "name": TOOL_NAME,
        "args": mapping("The call's arguments."),
        "provenance": PROVENANCE,
    },
    optional=["provenance"],
)
BLOCK = open_record(
    "A piece of the result: `text`, `data`, or whatever its type has.",
    {"type": word("What kind of piece it is.", *TEXT_OF)},
)
TOOL_RESULT = open_record(
    "What came of the call.",
    {
        "tool_use_id": TOOL_USE_ID,
        "name": TOOL_NAME,
        "content": text("The result as text, to be shown."),
        "content_blocks": each("The result, left out where it is empty.", BLOCK, minItems=1),
        "is_error": flag("Whether the call failed; its error is then the result."),
        "provenance": PROVENANCE,
    },
    optional=["content_blocks", "provenance"],
)

ERROR_CLASS = word("What kind of failure it was.", *dict.fromkeys(CLASS.values()))
POINT = text("The point at which the hook was asked.")
REASONS = (
    *(open_record("The model failed.", {"reason_type": constant("How.", reason)}) for reason in CATEGORIES.values()),
    open_record(
        "A hook denied.",
        {
            "reason_type": constant("How the run was ended.", "hook_denied"),
            "hook_id": text("The entry's id."),
            "point": POINT,
            "reason_code": text("The hook's code, such as `policy_violation`."),
        },
    ),
    open_record(
        "A hook was out of time.",
        {
            "reason_type": constant("How the run was ended.", "hook_timeout"),
            "hook_id": text("The entry's id."),
            "timeout_ms": whole("How long it had, in milliseconds."),
        },
    ),
    open_record(
        "A hook failed otherwise.",
        {
            "reason_type": constant("How the run was ended.", "hook_execution_failed"),
            "hook_id": text("The entry's id."),
            "reason": text("How it failed."),
        },
    ),
)
ERROR_REPORT = open_record(
    "What ended the run.",
    {
        "class": ERROR_CLASS,
        "reason": one_of("More about it, where there is more.", *REASONS),
        "message": text("The failure in words."),
    },
    optional=["reason"],
)
ERROR = text("The report's message, to be shown.")


def observed(point: HookPoint, members: dict[str, Schema], *, optional: Sequence[str] = ()) -> Schema:
    """What the envelope of a settled point holds."""
    fact = open_record("The fact.", members, optional=optional)
    kind = constant("The point.", point.value)
    return open_record("What is settled.", {"observation_type": kind, "observation": fact})


INPUT = {
    "input_id": text("The input's id, a UUID."),
    "input_kind": word("What kind of input it is.", *(kind.value for kind in InputKind)),
}
ACCEPTED = {**INPUT, "handling_mode": word("Where in the queue it went.", *(mode.value for mode in Handling))}
REJECTED = {
    **INPUT,
    "reason": one_of(
        "Why it was refused.",
        open_record(
            "The runtime takes no inputs.",
            {
                "reason_type": constant("Which ground it is.", RejectionReason.NOT_READY.value),
                "state": word("How the runtime stands.", *(state.value for state in RuntimeState)),
            },
        ),
        open_record(
            "The input is not one that is taken.",
            {
                "reason_type": word(
                    "Which ground it is.",
                    *(reason.value for reason in RejectionReason if reason is not RejectionReason.NOT_READY),
                ),
                "detail": text("What is wrong with it."),
            },
        ),
    ),
}
DEDUPLICATED = {**INPUT, "existing_input_id": text("The id of the input that stands for both, a UUID.")}

PEER_ID = text("The peer's id, a UUID.")
PEER_NAME = text("What the peer is called.")
RECEIVED = {
    "kind": text("`message`, `request`, `response_progress` or `response_terminal`."),
    "peer": open_record(
        "Who sent it, left out where its id is no UUID.",
        {"id": PEER_ID, "display_name": PEER_NAME},
        optional=["display_name"],
    ),
    "request_id": text("The request that it is, or that it answers."),
    "sender_taint": text("`clean` or `tainted`, as its sender declared; left out where nothing was declared."),
}
SENT = {
    "kind": word("What was sent.", *(kind.value for kind in EnvelopeKind)),
    "peer_id": PEER_ID,
    "display_name": PEER_NAME,
    "envelope_id": text("The message's id, a UUID."),
    "delivery": one_of(
        "What is proven of it.",
        word(
            "Without the receiver's decision.",
            *(proof.value for proof in Proof if proof is not Proof.DURABLY_RESOLVED),
        ),
        open_record(
            "With it.",
            {
                Proof.DURABLY_RESOLVED.value: open_record(
                    "The receiver committed its decision.",
                    {"outcome": text("`accepted` or `deduplicated`.")},
                )
            },
        ),
    ),
    "interaction_id": text("The interaction that a request began."),
    "in_reply_to": text("The request that a response answers."),
}
COMPLETED = {
    "interaction_id": text("The input's id, a UUID."),
    "result": text("The final answer."),
    "structured_output": anything("The answer as data, where there is such."),
}

DENIAL = {
    "decision": constant("It may not go on.", "deny"),
    "hook_id": text("Has to be there; the entry's own id takes its place."),
    "reason_code": word("What kind of objection it is.", *(code.value for code in ReasonCode)),
    "message": text("Why, for whom it concerns."),
    "payload": anything("What else there is to say, for the account; null for nothing."),
}

# By member of an envelope; of the observation, and where a member is another thing at one point, by that point.
OF: Mapping[str, Schema] = {
    "turn_number": TURN,
    "prompt_input": PROMPT_INPUT,
    "llm_request": LLM_REQUEST,
    "llm_response": LLM_RESPONSE,
    "tool_call": TOOL_CALL,
    "tool_result": TOOL_RESULT,
    "error_report": ERROR_REPORT,
    "error_class": ERROR_CLASS,
}
FACTS: Mapping[HookPoint, tuple[dict[str, Schema], tuple[str, ...]]] = {  # each with what of it may be absent
    HookPoint.RUNTIME_INPUT_ACCEPTED: (ACCEPTED, ()),
    HookPoint.RUNTIME_INPUT_REJECTED: (REJECTED, ()),
    HookPoint.RUNTIME_INPUT_DEDUPLICATED: (DEDUPLICATED, ()),
    HookPoint.PEER_INGRESS_COMMITTED: (RECEIVED, ("peer", "request_id", "sender_taint")),
    HookPoint.PEER_EGRESS_COMMITTED: (SENT, ("display_name", "interaction_id", "in_reply_to")),
    HookPoint.INTERACTION_COMPLETED: (COMPLETED, ("structured_output",)),
}


def schema_of(point: HookPoint, member: str) -> Schema:
    """What *member* is in the envelope of *point*."""
    if member == "observation":
        fact, optional = FACTS[point]
        return observed(point, fact, optional=optional)
    return RUN_TURN if point is HookPoint.RUN_COMPLETED else OF[member]
