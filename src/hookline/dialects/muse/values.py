"""What the values in a payload are, as JSON Schema (sections 11.2 and 11.3)."""

from collections.abc import Mapping

from hookline.dialects._schema import (
    Schema,
    anything,
    constant,
    each,
    flag,
    mapping,
    or_null,
    record,
    text,
    whole,
    word,
)
from hookline.dialects.muse.keys import PREVIEW

SESSION = text("The session; where a child agent starts or stops, the child's.")
RUN = text("The run, which is one prompt up to its final answer; where a child agent starts or stops, its session.")
CWD = text("The folder that the hook starts in: the call's own for a tool call, else the workspace.")
TRANSCRIPT_PATH = constant("There is no transcript of this form.", None)
MODEL = text("The model's id, `unknown` for one that has none.")
PERMISSION_MODE = word("`bypassPermissions` where no call waits for approval.", "default", "bypassPermissions")
MODEL_PROVIDER = text("Who serves the model, where that is known.")
AGENT_ID = text("The child agent that this happened in.")
AGENT_TYPE = text("What kind of child agent that is.")

SOURCE = word("How the session came to begin.", "startup", "resume", "clear", "compact", "fork")
PROMPT = text("The prompt as it was submitted.")

TOOL_NAME = text("The tool's own name, whatever a matcher calls it.")
TOOL_INPUT = anything("The call's arguments: parsed, {} for none, or the text as it is where that is no JSON.")
TOOL_USE_ID = text("The call's id.")
TOOL_RESPONSE = anything("The tool's own result.")
ERROR = text("Why the call failed, as the model reads it.")
IS_INTERRUPT = flag("Whether the call was cut off.")
DURATION_MS = whole("How long the call took, in milliseconds.")
TOOL_CALLS = each(
    "The calls of the step, refused ones too, in the order in which the model asked for them.",
    record(
        "One call and what came of it.",
        {"tool_name": TOOL_NAME, "tool_input": TOOL_INPUT, "tool_use_id": TOOL_USE_ID, "tool_response": TOOL_RESPONSE},
    ),
)

PROVIDER = text("Who serves the model.")
REQUEST_ID = text("The request's id.")
ATTEMPT = whole("Which attempt at this request it is, from 1.", least=1)
STEP = whole("Which model call of the run it is, from 0.")
MESSAGES = each(
    "The conversation that the model is given.",
    record(
        "One message, in short.",
        {
            "role": text("Who speaks: `user`, `assistant`, `developer` or `tool`."),
            "text_preview": text(f"The first {PREVIEW} characters of it.", maxLength=PREVIEW),
        },
    ),
)
MESSAGE_COUNT = whole("How many messages there are.")
TOOLS = each(
    "The tools that the model is offered.",
    record(
        "One tool.",
        {
            "name": text("Its name."),
            "description": text("What the model is told of it."),
            "has_parameters": flag("Whether it takes any arguments."),
            "strict": flag("Whether it takes no others than it declares."),
        },
    ),
)
TOOL_COUNT = whole("How many tools there are.")
OPTIONS = mapping("What else is asked of the provider.")
STATUS = text("How the model call ended, `success` where it did.")
RESPONSE_ID = text("The provider's id of its response.")
USAGE = record(
    "What the model call took.",
    {
        "input_tokens": whole("Tokens of the request."),
        "output_tokens": whole("Tokens of the response."),
        "cached_tokens": whole("Tokens of the request that the provider had kept."),
        "reasoning_tokens": whole("Tokens of the response that were reasoning."),
    },
)
FINISH_REASON = or_null(text("Why the model stopped, in its provider's words; null where it does not say."))
MODEL_ERROR = or_null(text("What went wrong with the model call; null for nothing."))
OUTPUT_TEXT_PREVIEW = text(f"The first {PREVIEW} characters of what the model said.", maxLength=PREVIEW)
TOOL_CALL_COUNT = whole("How many tool calls the model asks for.")

TRIGGER = word(
    "Why the conversation is shortened; the last two in a capsule only.", "soft", "hard", "manual", "threshold", "seed"
)

SUBAGENT_ID = text("What the parent calls the child agent.")
CHILD_SESSION_ID = text("The child's session.")
STOP_HOOK_ACTIVE = flag("Whether a hook has kept the run going already.")
LAST_MESSAGE = or_null(text("What the model said last; null for nothing."))

CATEGORY = text("What kind of failure ended the run, such as `rate_limit`.")
DETAILS = text("What the provider said of it.")
LAST_WORDS = text("What the model said last, where it said something.")
REASON = word("Why the session is over.", "other", "clear", "interrupted", "terminated")

NOTIFICATION_TYPE = text("What a person is wanted for, such as `permission_prompt`.")
TITLE = text("The notification's heading.")
MESSAGE = text("What the notification says.")

# By member; and where a member is another thing at one event, by that and the event.
OF: Mapping[str, Schema] = {
    "source": SOURCE,
    "prompt": PROMPT,
    "tool_name": TOOL_NAME,
    "tool_input": TOOL_INPUT,
    "tool_use_id": TOOL_USE_ID,
    "tool_response": TOOL_RESPONSE,
    "error": ERROR,
    "is_interrupt": IS_INTERRUPT,
    "duration_ms": DURATION_MS,
    "tool_calls": TOOL_CALLS,
    "provider": PROVIDER,
    "request_id": REQUEST_ID,
    "attempt": ATTEMPT,
    "step": STEP,
    "messages": MESSAGES,
    "message_count": MESSAGE_COUNT,
    "tools": TOOLS,
    "tool_count": TOOL_COUNT,
    "options": OPTIONS,
    "status": STATUS,
    "response_id": RESPONSE_ID,
    "usage": USAGE,
    "finish_reason": FINISH_REASON,
    "output_text_preview": OUTPUT_TEXT_PREVIEW,
    "tool_call_count": TOOL_CALL_COUNT,
    "trigger": TRIGGER,
    "subagent_id": SUBAGENT_ID,
    "child_session_id": CHILD_SESSION_ID,
    "stop_hook_active": STOP_HOOK_ACTIVE,
    "last_assistant_message": LAST_MESSAGE,
    "error_details": DETAILS,
    "reason": REASON,
    "notification_type": NOTIFICATION_TYPE,
    "title": TITLE,
    "message": MESSAGE,
}
OF_EVENT: Mapping[tuple[str, str], Schema] = {
    ("PostLLMCall", "error"): MODEL_ERROR,
    ("StopFailure", "error"): CATEGORY,
    ("StopFailure", "last_assistant_message"): LAST_WORDS,
}


def schema_of(event: str, member: str) -> Schema:
    """What *member* is in the payload of *event*."""
    return OF_EVENT.get((event, member)) or OF[member]
