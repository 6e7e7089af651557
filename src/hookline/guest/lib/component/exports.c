// The nine functions as a component exports them. Up to 16 plain values a record comes in pieces, beyond that as a
// pointer to it. All that comes lies in the memory of the call, and so does all that goes back.
#include <stddef.h>

#include "../hook.h"

#define AT(record, field, offset) _Static_assert(offsetof(record, field) == (offset), #record "." #field)
_Static_assert(sizeof(text) == 8 && sizeof(maybe_text) == 12 && sizeof(message) == 40, "sizes");
_Static_assert(sizeof(tool_manifest) == 16, "size");
AT(message, id, 16);
AT(message, source_id, 28);
AT(inference_event, input_tokens, 8);
AT(inference_event, decision, 24);
AT(inference_event, tool_name, 32);
AT(inference_event, tools, 68);
AT(shell_event, argv, 20);
AT(shell_event, recipe, 40);
AT(shell_event, outcome, 56);
AT(maybe_shell_outcome, value, 8);
AT(shell_outcome, stderr_text, 12);
AT(shell_outcome, stdout_bytes, 24);

// result<hook-output, string>
typedef struct {
    uint8_t is_err;
    union {
        text error;
        struct {
            uint8_t arm;
            text payload;  // or a list: a pointer and a count just the same
        } output;
    } of;
} lowered;
_Static_assert(sizeof(lowered) == 16, "size");
AT(lowered, of.output.arm, 4);
AT(lowered, of.output.payload, 8);

// A host refuses text that is no UTF-8, and with it the whole answer.
static text sent(text words) {
    return text_as_utf8(&call_memory, words);
}

static text sent_messages(message_list list) {
    message *copies = arena_take(&call_memory, list.count, sizeof(message));
    for (size_t index = 0; index < list.count; index++) {
        const message *from = &list.items[index];
        copies[index] = (message){
            .role = sent(from->role),
            .content = sent(from->content),
            .id = {from->id.given, sent(from->id.value)},
            .source_id = {from->source_id.given, sent(from->source_id.value)},
        };
    }
    return (text){(const char *)copies, list.count};
}

static text sent_manifests(manifest_list list) {
    tool_manifest *copies = arena_take(&call_memory, list.count, sizeof(tool_manifest));
    for (size_t index = 0; index < list.count; index++) {
        copies[index] = (tool_manifest){sent(list.items[index].binary_name), sent(list.items[index].content)};
    }
    return (text){(const char *)copies, list.count};
}

static lowered *answered(hook_answer answer) {
    static lowered area;
    area = (lowered){.is_err = answer.arm == ANSWER_ERR};
    if (answer.arm == ANSWER_ERR) {
        area.of.error = sent(answer.words);
        return &area;
    }
    area.of.output.arm = (uint8_t)answer.arm;
    switch (answer.arm) {
        case ANSWER_REPLACE_CONTEXT:
        case ANSWER_SEED_CONTEXT: area.of.output.payload = sent_messages(answer.messages); break;
        case ANSWER_WRITE_MANIFESTS: area.of.output.payload = sent_manifests(answer.manifests); break;
        default: area.of.output.payload = sent(answer.words);
    }
    return &area;
}

#define EXPORTED(name) __attribute__((export_name("murmur:hook/lifecycle@0.8.0#" name)))

EXPORTED("on-stage") lowered *export_on_stage(const text *allowed, size_t count) {
    const stage_event event = {.shell_allow = {allowed, count}};
    return answered(on_stage(&event));
}

EXPORTED("on-session-start")
lowered *export_on_session_start(const char *name, size_t name_length, const char *version, size_t version_length,
                                 const char *session, size_t session_length, const char *model, size_t model_length,
                                 const text *capabilities, size_t count) {
    const session_context event = {
        .capsule_name = {name, name_length},
        .capsule_version = {version, version_length},
        .session_id = {session, session_length},
        .model = {model, model_length},
        .capabilities = {capabilities, count},
    };
    return answered(on_session_start(&event));
}

EXPORTED("on-task-start")
lowered *export_on_task_start(const char *task, size_t task_length, const char *context, size_t context_length,
                              const char *source, size_t source_length, uint64_t input_bytes, uint64_t budget_tokens,
                              uint64_t context_window, uint64_t prior_tokens) {
    const task_start_event event = {
        .task_id = {task, task_length},
        .context_id = {context, context_length},
        .source = {source, source_length},
        .input_bytes = input_bytes,
        .budget_tokens = budget_tokens,
        .context_window = context_window,
        .prior_tokens = prior_tokens,
    };
    return answered(on_task_start(&event));
}

EXPORTED("on-inference") lowered *export_on_inference(const inference_event *event) {
    return answered(on_inference(event));
}

EXPORTED("on-tool-call")
lowered *export_on_tool_call(uint32_t turn, const char *name, size_t name_length, uint64_t input_bytes,
                             const char *input, size_t input_length, uint32_t has_run, uint64_t output_bytes,
                             uint64_t duration_ms, const char *status, size_t status_length) {
    const tool_event event = {
        .turn = turn,
        .tool_name = {name, name_length},
        .input_bytes = input_bytes,
        .input = {input, input_length},
        .outcome = {has_run != 0, {output_bytes, duration_ms, {status, status_length}}},
    };
    return answered(on_tool_call(&event));
}

EXPORTED("on-shell") lowered *export_on_shell(const shell_event *event) {
    return answered(on_shell(event));
}

EXPORTED("on-compaction")
lowered *export_on_compaction(const message *messages, size_t count, uint64_t session_tokens, double threshold,
                              uint32_t has_model, const char *model, size_t model_length, uint32_t has_prompt,
                              const char *prompt, size_t prompt_length) {
    const compaction_event event = {
        .messages = {messages, count},
        .session_tokens = session_tokens,
        .threshold = threshold,
        .model = {has_model != 0, {model, model_length}},
        .system_prompt = {has_prompt != 0, {prompt, prompt_length}},
    };
    return answered(on_compaction(&event));
}

EXPORTED("on-task-end")
lowered *export_on_task_end(const char *task, size_t task_length, const char *status, size_t status_length) {
    const task_end_event event = {.task_id = {task, task_length}, .exit_status = {status, status_length}};
    return answered(on_task_end(&event));
}

EXPORTED("on-session-end")
lowered *export_on_session_end(uint32_t turns, uint64_t input_tokens, uint64_t output_tokens, uint32_t tool_calls,
                               uint32_t shell_calls, uint64_t duration_ms, const char *status, size_t status_length) {
    const session_end_event event = {
        .total_turns = turns,
        .total_input_tokens = input_tokens,
        .total_output_tokens = output_tokens,
        .total_tool_calls = tool_calls,
        .total_shell_calls = shell_calls,
        .duration_ms = duration_ms,
        .exit_status = {status, status_length},
    };
    return answered(on_session_end(&event));
}

// Called when the host has taken the answer.
#define ENDS_CALL(function, name, record)                                                                              \
    __attribute__((export_name("cabi_post_murmur:hook/lifecycle@0.8.0#" name))) void end_##function(lowered *area) {   \
        (void)area;                                                                                                    \
        arena_clear(&call_memory);                                                                                     \
    }
LIFECYCLE(ENDS_CALL)
