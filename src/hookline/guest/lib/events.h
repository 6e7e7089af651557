// The records of murmur:hook/lifecycle@0.8.0, field by field in the order of ../wit/murmur.wit. In a component they lie
// in memory as its caller writes them: component.c checks that.
#ifndef HOOKLINE_EVENTS_H
#define HOOKLINE_EVENTS_H

#include "text.h"

typedef struct {
    text role;
    text content;
    maybe_text id;
    maybe_text source_id;
} message;

typedef struct {
    const message *items;
    size_t count;
} message_list;

typedef struct {
    text binary_name;
    text content;
} tool_manifest;

typedef struct {
    const tool_manifest *items;
    size_t count;
} manifest_list;

typedef struct {
    text_list shell_allow;
} stage_event;

typedef struct {
    text capsule_name;
    text capsule_version;
    text session_id;
    text model;
    text_list capabilities;
} session_context;

typedef struct {
    text task_id;
    text context_id;
    text source;
    uint64_t input_bytes;
    uint64_t budget_tokens;
    uint64_t context_window;
    uint64_t prior_tokens;
} task_start_event;

typedef struct {
    uint32_t turn;
    uint64_t input_tokens;
    uint64_t output_tokens;
    text decision;
    maybe_text tool_name;
    maybe_text prompt;
    maybe_text output;
    maybe_text tools;
} inference_event;

typedef struct {
    uint64_t output_bytes;
    uint64_t duration_ms;
    text status;
} tool_outcome;

typedef struct {
    bool given;
    tool_outcome value;
} maybe_tool_outcome;

typedef struct {
    uint32_t turn;
    text tool_name;
    uint64_t input_bytes;
    text input;
    maybe_tool_outcome outcome;  // not given: the call has not run
} tool_event;

typedef struct {
    int32_t exit_code;
    text stdout_text;
    text stderr_text;
    uint64_t stdout_bytes;
    uint64_t stderr_bytes;
    uint64_t duration_ms;
} shell_outcome;

typedef struct {
    bool given;
    shell_outcome value;
} maybe_shell_outcome;

typedef struct {
    uint32_t turn;
    text binary;
    text command;
    text_list argv;
    maybe_text script;
    maybe_text recipe;
    maybe_shell_outcome outcome;  // not given: the command has not run
} shell_event;

typedef struct {
    message_list messages;
    uint64_t session_tokens;
    double threshold;
    maybe_text model;
    maybe_text system_prompt;
} compaction_event;

typedef struct {
    text task_id;
    text exit_status;
} task_end_event;

typedef struct {
    uint32_t total_turns;
    uint64_t total_input_tokens;
    uint64_t total_output_tokens;
    uint32_t total_tool_calls;
    uint32_t total_shell_calls;
    uint64_t duration_ms;
    text exit_status;
} session_end_event;

// Every function of the interface: its name here, its name there, its record.
#define LIFECYCLE(each)                                                                                                \
    each(on_stage, "on-stage", stage_event) each(on_session_start, "on-session-start", session_context)                \
        each(on_task_start, "on-task-start", task_start_event) each(on_inference, "on-inference", inference_event)     \
            each(on_tool_call, "on-tool-call", tool_event) each(on_shell, "on-shell", shell_event)                     \
                each(on_compaction, "on-compaction", compaction_event)                                                 \
                    each(on_task_end, "on-task-end", task_end_event)                                                   \
                        each(on_session_end, "on-session-end", session_end_event)

#endif
