#include "hook.h"

hook_answer answer_none(void) {
    return (hook_answer){.arm = ANSWER_NONE};
}

hook_answer answer_artifact(text json) {
    return (hook_answer){.arm = ANSWER_ARTIFACT, .words = json};
}

hook_answer answer_reopen_task(text feedback) {
    return (hook_answer){.arm = ANSWER_REOPEN_TASK, .words = feedback};
}

hook_answer answer_replace_context(const message *items, size_t count) {
    return (hook_answer){.arm = ANSWER_REPLACE_CONTEXT, .messages = {items, count}};
}

hook_answer answer_seed_context(const message *items, size_t count) {
    return (hook_answer){.arm = ANSWER_SEED_CONTEXT, .messages = {items, count}};
}

hook_answer answer_write_manifests(const tool_manifest *items, size_t count) {
    return (hook_answer){.arm = ANSWER_WRITE_MANIFESTS, .manifests = {items, count}};
}

// What a hook does not define itself.
#define ANSWERS_NONE(function, name, record)                                                                           \
    __attribute__((weak)) hook_answer function(const record *event) {                                                  \
        (void)event;                                                                                                   \
        return answer_none();                                                                                          \
    }
LIFECYCLE(ANSWERS_NONE)
