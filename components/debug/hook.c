// Every completed event as one line of hook-debug.jsonl. A call that has not run yet writes nothing, nor do tasks.
#include "../lib/hook.h"

typedef struct {
    buffer line;
    json_writer out;
} entry;

static void begin(entry *one, const char *event) {
    one->line = buffer_in(&call_memory);
    one->out = json_to(&one->line);
    json_open(&one->out, '{');
    json_field(&one->out, "event", text, text_of(event));
}

static void put_list(entry *one, const char *name, text_list list) {
    json_name(&one->out, name);
    json_open(&one->out, '[');
    for (size_t index = 0; index < list.count; index++) {
        json_put_text(&one->out, list.items[index]);
    }
    json_close(&one->out, ']');
}

static hook_answer written(entry *one) {
    json_close(&one->out, '}');
    put_byte(&one->line, '\n');
    text why;
    if (!file_append(TEXT("hook-debug.jsonl"), buffer_text(&one->line), &why)) {
        return answer_err(TEXT("failed to open hook-debug.jsonl: "), why);
    }
    return answer_none();
}

hook_answer on_stage(const stage_event *event) {
    entry one;
    begin(&one, "stage");
    put_list(&one, "shell_allow", event->shell_allow);
    return written(&one);
}

hook_answer on_session_start(const session_context *event) {
    entry one;
    begin(&one, "session-start");
    json_field(&one.out, "capsule_name", text, event->capsule_name);
    json_field(&one.out, "capsule_version", text, event->capsule_version);
    json_field(&one.out, "session_id", text, event->session_id);
    json_field(&one.out, "model", text, event->model);
    put_list(&one, "capabilities", event->capabilities);
    return written(&one);
}

hook_answer on_inference(const inference_event *event) {
    entry one;
    begin(&one, "inference");
    json_field(&one.out, "turn", u64, event->turn);
    json_field(&one.out, "input_tokens", u64, event->input_tokens);
    json_field(&one.out, "output_tokens", u64, event->output_tokens);
    json_field(&one.out, "decision", text, event->decision);
    json_field(&one.out, "tool_name", maybe, event->tool_name);
    return written(&one);
}

hook_answer on_tool_call(const tool_event *event) {
    if (!event->outcome.given) {
        return answer_none();
    }
    const tool_outcome *outcome = &event->outcome.value;
    entry one;
    begin(&one, "tool-call");
    json_field(&one.out, "turn", u64, event->turn);
    json_field(&one.out, "tool_name", text, event->tool_name);
    json_field(&one.out, "input_bytes", u64, event->input_bytes);
    json_field(&one.out, "output_bytes", u64, outcome->output_bytes);
    json_field(&one.out, "duration_ms", u64, outcome->duration_ms);
    json_field(&one.out, "status", text, outcome->status);
    return written(&one);
}

hook_answer on_shell(const shell_event *event) {
    if (!event->outcome.given) {
        return answer_none();
    }
    const shell_outcome *outcome = &event->outcome.value;
    entry one;
    begin(&one, "shell");
    json_field(&one.out, "turn", u64, event->turn);
    json_field(&one.out, "command", text, event->command);
    json_field(&one.out, "exit_code", i64, outcome->exit_code);
    json_field(&one.out, "stdout_bytes", u64, outcome->stdout_bytes);
    json_field(&one.out, "stderr_bytes", u64, outcome->stderr_bytes);
    json_field(&one.out, "duration_ms", u64, outcome->duration_ms);
    return written(&one);
}

hook_answer on_compaction(const compaction_event *event) {
    entry one;
    begin(&one, "compaction");
    json_field(&one.out, "message_count", u64, event->messages.count);
    json_field(&one.out, "session_tokens", u64, event->session_tokens);
    json_field(&one.out, "threshold", f64, event->threshold);
    return written(&one);
}

hook_answer on_session_end(const session_end_event *event) {
    entry one;
    begin(&one, "session-end");
    json_field(&one.out, "total_turns", u64, event->total_turns);
    json_field(&one.out, "total_input_tokens", u64, event->total_input_tokens);
    json_field(&one.out, "total_output_tokens", u64, event->total_output_tokens);
    json_field(&one.out, "total_tool_calls", u64, event->total_tool_calls);
    json_field(&one.out, "total_shell_calls", u64, event->total_shell_calls);
    json_field(&one.out, "duration_ms", u64, event->duration_ms);
    json_field(&one.out, "exit_status", text, event->exit_status);
    return written(&one);
}
