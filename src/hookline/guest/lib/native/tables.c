#include "../events.h"
#include "../host.h"
#include "records.h"

LIFECYCLE(DECLARE_RECORD)

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define RECORD(type, fields) {sizeof(type), fields, COUNT(fields)}
#define FIELD(type, member, name, kind) {name, kind, offsetof(type, member), NULL, 0}
#define LIST(type, member, name, inner) {name, FIELD_RECORD_LIST, offsetof(type, member), inner, 0}

static const field of_message[] = {
    FIELD(message, role, "role", FIELD_TEXT),
    FIELD(message, content, "content", FIELD_TEXT),
    FIELD(message, id, "id", FIELD_MAYBE_TEXT),
    FIELD(message, source_id, "source-id", FIELD_MAYBE_TEXT),
};
const record message_record = RECORD(message, of_message);

static const field of_manifest[] = {
    FIELD(tool_manifest, binary_name, "binary-name", FIELD_TEXT),
    FIELD(tool_manifest, content, "content", FIELD_TEXT),
};
const record manifest_record = RECORD(tool_manifest, of_manifest);

static const field of_stage[] = {
    FIELD(stage_event, shell_allow, "shell-allow", FIELD_TEXT_LIST),
};
const record stage_event_record = RECORD(stage_event, of_stage);

static const field of_session[] = {
    FIELD(session_context, capsule_name, "capsule-name", FIELD_TEXT),
    FIELD(session_context, capsule_version, "capsule-version", FIELD_TEXT),
    FIELD(session_context, session_id, "session-id", FIELD_TEXT),
    FIELD(session_context, model, "model", FIELD_TEXT),
    FIELD(session_context, capabilities, "capabilities", FIELD_TEXT_LIST),
};
const record session_context_record = RECORD(session_context, of_session);

static const field of_task_start[] = {
    FIELD(task_start_event, task_id, "task-id", FIELD_TEXT),
    FIELD(task_start_event, context_id, "context-id", FIELD_TEXT),
    FIELD(task_start_event, source, "source", FIELD_TEXT),
    FIELD(task_start_event, input_bytes, "input-bytes", FIELD_U64),
    FIELD(task_start_event, budget_tokens, "budget-tokens", FIELD_U64),
    FIELD(task_start_event, context_window, "context-window", FIELD_U64),
    FIELD(task_start_event, prior_tokens, "prior-tokens", FIELD_U64),
};
const record task_start_event_record = RECORD(task_start_event, of_task_start);

static const field of_inference[] = {
    FIELD(inference_event, turn, "turn", FIELD_U32),
    FIELD(inference_event, input_tokens, "input-tokens", FIELD_U64),
    FIELD(inference_event, output_tokens, "output-tokens", FIELD_U64),
    FIELD(inference_event, decision, "decision", FIELD_TEXT),
    FIELD(inference_event, tool_name, "tool-name", FIELD_MAYBE_TEXT),
    FIELD(inference_event, prompt, "prompt", FIELD_MAYBE_TEXT),
    FIELD(inference_event, output, "output", FIELD_MAYBE_TEXT),
    FIELD(inference_event, tools, "tools", FIELD_MAYBE_TEXT),
};
const record inference_event_record = RECORD(inference_event, of_inference);

static const field of_tool_outcome[] = {
    FIELD(tool_outcome, output_bytes, "output-bytes", FIELD_U64),
    FIELD(tool_outcome, duration_ms, "duration-ms", FIELD_U64),
    FIELD(tool_outcome, status, "status", FIELD_TEXT),
};
static const record tool_outcome_record = RECORD(tool_outcome, of_tool_outcome);

static const field of_tool[] = {
    FIELD(tool_event, turn, "turn", FIELD_U32),
    FIELD(tool_event, tool_name, "tool-name", FIELD_TEXT),
    FIELD(tool_event, input_bytes, "input-bytes", FIELD_U64),
    FIELD(tool_event, input, "input", FIELD_TEXT),
    {"outcome", FIELD_MAYBE_RECORD, offsetof(tool_event, outcome), &tool_outcome_record,
     offsetof(maybe_tool_outcome, value)},
};
const record tool_event_record = RECORD(tool_event, of_tool);

static const field of_shell_outcome[] = {
    FIELD(shell_outcome, exit_code, "exit-code", FIELD_S32),
    FIELD(shell_outcome, stdout_text, "stdout", FIELD_TEXT),
    FIELD(shell_outcome, stderr_text, "stderr", FIELD_TEXT),
    FIELD(shell_outcome, stdout_bytes, "stdout-bytes", FIELD_U64),
    FIELD(shell_outcome, stderr_bytes, "stderr-bytes", FIELD_U64),
    FIELD(shell_outcome, duration_ms, "duration-ms", FIELD_U64),
};
static const record shell_outcome_record = RECORD(shell_outcome, of_shell_outcome);

static const field of_shell[] = {
    FIELD(shell_event, turn, "turn", FIELD_U32),
    FIELD(shell_event, binary, "binary", FIELD_TEXT),
    FIELD(shell_event, command, "command", FIELD_TEXT),
    FIELD(shell_event, argv, "argv", FIELD_TEXT_LIST),
    FIELD(shell_event, script, "script", FIELD_MAYBE_TEXT),
    FIELD(shell_event, recipe, "recipe", FIELD_MAYBE_TEXT),
    {"outcome", FIELD_MAYBE_RECORD, offsetof(shell_event, outcome), &shell_outcome_record,
     offsetof(maybe_shell_outcome, value)},
};
const record shell_event_record = RECORD(shell_event, of_shell);

static const field of_compaction[] = {
    LIST(compaction_event, messages, "messages", &message_record),
    FIELD(compaction_event, session_tokens, "session-tokens", FIELD_U64),
    FIELD(compaction_event, threshold, "threshold", FIELD_F64),
    FIELD(compaction_event, model, "model", FIELD_MAYBE_TEXT),
    FIELD(compaction_event, system_prompt, "system-prompt", FIELD_MAYBE_TEXT),
};
const record compaction_event_record = RECORD(compaction_event, of_compaction);

static const field of_task_end[] = {
    FIELD(task_end_event, task_id, "task-id", FIELD_TEXT),
    FIELD(task_end_event, exit_status, "exit-status", FIELD_TEXT),
};
const record task_end_event_record = RECORD(task_end_event, of_task_end);

static const field of_session_end[] = {
    FIELD(session_end_event, total_turns, "total-turns", FIELD_U32),
    FIELD(session_end_event, total_input_tokens, "total-input-tokens", FIELD_U64),
    FIELD(session_end_event, total_output_tokens, "total-output-tokens", FIELD_U64),
    FIELD(session_end_event, total_tool_calls, "total-tool-calls", FIELD_U32),
    FIELD(session_end_event, total_shell_calls, "total-shell-calls", FIELD_U32),
    FIELD(session_end_event, duration_ms, "duration-ms", FIELD_U64),
    FIELD(session_end_event, exit_status, "exit-status", FIELD_TEXT),
};
const record session_end_event_record = RECORD(session_end_event, of_session_end);

static const field of_inference_request[] = {
    LIST(inference_request, messages, "messages", &message_record),
    FIELD(inference_request, system_prompt, "system-prompt", FIELD_MAYBE_TEXT),
    FIELD(inference_request, model, "model", FIELD_MAYBE_TEXT),
};
const record inference_request_record = RECORD(inference_request, of_inference_request);

static const field of_inference_response[] = {
    FIELD(inference_response, answer, "text", FIELD_TEXT),
    FIELD(inference_response, model_used, "model-used", FIELD_TEXT),
    FIELD(inference_response, input_tokens, "input-tokens", FIELD_U64),
    FIELD(inference_response, output_tokens, "output-tokens", FIELD_U64),
};
const record inference_response_record = RECORD(inference_response, of_inference_response);

static const field of_message_page[] = {
    LIST(message_page, messages, "messages", &message_record),
    FIELD(message_page, next_cursor, "next-cursor", FIELD_MAYBE_TEXT),
    FIELD(message_page, total, "total", FIELD_U32),
};
const record message_page_record = RECORD(message_page, of_message_page);
