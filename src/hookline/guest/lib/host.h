// What a hook may ask its host. A component imports only those that its code calls.
#ifndef HOOKLINE_HOST_H
#define HOOKLINE_HOST_H

#include "events.h"

// murmur:runtime/inference@0.3.0
typedef struct {
    message_list messages;  // their content is plain text here
    maybe_text system_prompt;
    maybe_text model;
} inference_request;

typedef struct {
    text answer;
    text model_used;
    uint64_t input_tokens;
    uint64_t output_tokens;
} inference_response;

bool run_inference(const inference_request *request, inference_response *response, text *error);

// murmur:runtime/tokens@0.3.0
uint64_t count_tokens(text counted);

// murmur:task-io/read@0.1.0. The errors have the numbers of the interface.
typedef enum { TASK_AS_GIVEN, TASK_ORIGINAL } task_form;
typedef enum { TASK_NOT_GRANTED, TASK_NO_TASK, TASK_NO_OUTPUT, TASK_OUT_OF_RANGE, TASK_READ } task_reading;

// As the interface spells it; "" of TASK_READ.
const char *task_reading_name(task_reading reading);
task_reading task_input_length(task_form form, uint64_t *length);
task_reading task_input(task_form form, uint64_t offset, uint64_t max_bytes, text *piece);
task_reading task_output_length(uint64_t *length);
task_reading task_output(uint64_t offset, uint64_t max_bytes, text *piece);

// murmur:conversation/read@0.1.0
typedef struct {
    message_list messages;  // the newest first
    maybe_text next_cursor;
    uint32_t total;
} message_page;

bool read_messages(maybe_text cursor, uint32_t limit, message_page *page, text *error);

#endif
