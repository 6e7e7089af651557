// All that a hook includes. It defines those of the nine functions that concern it; the others answer none.
#ifndef HOOKLINE_HOOK_H
#define HOOKLINE_HOOK_H

#include "events.h"
#include "files.h"
#include "host.h"
#include "http.h"
#include "json.h"
#include "text.h"

// In the order of hook-output; ANSWER_ERR is the err of the result.
typedef enum {
    ANSWER_NONE,
    ANSWER_REPLACE_CONTEXT,
    ANSWER_WRITE_MANIFESTS,
    ANSWER_ARTIFACT,
    ANSWER_REOPEN_TASK,
    ANSWER_SEED_CONTEXT,
    ANSWER_DENY,
    ANSWER_ERR,
} answer_arm;

typedef struct {
    answer_arm arm;
    text words;               // of artifact, reopen-task, deny and err
    message_list messages;    // of replace-context and seed-context
    manifest_list manifests;  // of write-manifests
} hook_answer;

hook_answer answer_none(void);
hook_answer answer_artifact(text json);
hook_answer answer_reopen_task(text feedback);
hook_answer answer_replace_context(const message *items, size_t count);
hook_answer answer_seed_context(const message *items, size_t count);
hook_answer answer_write_manifests(const tool_manifest *items, size_t count);
// answer_deny(TEXT("no "), event->command): the pieces, joined.
#define answer_deny(...) ((hook_answer){.arm = ANSWER_DENY, .words = text_join(__VA_ARGS__)})
#define answer_err(...) ((hook_answer){.arm = ANSWER_ERR, .words = text_join(__VA_ARGS__)})

hook_answer on_stage(const stage_event *event);
hook_answer on_session_start(const session_context *event);
hook_answer on_task_start(const task_start_event *event);
hook_answer on_inference(const inference_event *event);
hook_answer on_tool_call(const tool_event *event);
hook_answer on_shell(const shell_event *event);
hook_answer on_compaction(const compaction_event *event);
hook_answer on_task_end(const task_end_event *event);
hook_answer on_session_end(const session_end_event *event);

// One variable of the hook's environment, such as MURMUR_OTEL_ENDPOINT.
maybe_text environment(const char *name);
// MURMUR_ARTIFACT_CONFIG, in *memory*. True: *config* is its object, or NULL where the hook has no config. False: it is
// unusable, for the reason *why*.
bool hook_config(arena *memory, const json **config, text *why);
// Nanoseconds since 1970.
uint64_t wall_clock(void);
// One line on standard error.
#define warn(...) warn_line(text_join(__VA_ARGS__))
void warn_line(text line);

#endif
