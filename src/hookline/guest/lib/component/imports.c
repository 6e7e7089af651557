// The host's functions as a component imports them. What they return comes to lie in the memory of the call.
#include "../host.h"

#define IMPORTED(interface, name) __attribute__((import_module(interface), import_name(name)))
#define INFERENCE "murmur:runtime/inference@0.3.0"
#define TOKENS "murmur:runtime/tokens@0.3.0"
#define TASK_IO "murmur:task-io/read@0.1.0"
#define CONVERSATION "murmur:conversation/read@0.1.0"

// result<inference-response, string>
typedef struct {
    uint8_t is_err;
    union {
        inference_response response;
        text error;
    } of;
} inference_result;
_Static_assert(sizeof(inference_result) == 40, "size");

// result<u64, io-error> and result<string, io-error>
typedef struct {
    uint8_t is_err;
    union {
        uint64_t length;
        uint8_t error;
    } of;
} length_result;

typedef struct {
    uint8_t is_err;
    union {
        text piece;
        uint8_t error;
    } of;
} piece_result;

// result<message-page, string>
typedef struct {
    uint8_t is_err;
    union {
        message_page page;
        text error;
    } of;
} page_result;
_Static_assert(sizeof(page_result) == 28, "size");

IMPORTED(INFERENCE, "run-inference")
void import_run_inference(const message *messages, size_t count, uint32_t has_prompt, const char *prompt,
                          size_t prompt_length, uint32_t has_model, const char *model, size_t model_length,
                          inference_result *result);
IMPORTED(TOKENS, "count") uint64_t import_count(const char *counted, size_t length);
IMPORTED(TASK_IO, "input-len") void import_input_len(uint32_t form, length_result *result);
IMPORTED(TASK_IO, "read-input")
void import_read_input(uint32_t form, uint64_t offset, uint64_t max_bytes, piece_result *result);
IMPORTED(TASK_IO, "output-len") void import_output_len(length_result *result);
IMPORTED(TASK_IO, "read-output") void import_read_output(uint64_t offset, uint64_t max_bytes, piece_result *result);
IMPORTED(CONVERSATION, "read-messages")
void import_read_messages(uint32_t has_cursor, const char *cursor, size_t cursor_length, uint32_t limit,
                          page_result *result);

bool run_inference(const inference_request *request, inference_response *response, text *error) {
    message *messages = arena_take(&call_memory, request->messages.count, sizeof(message));
    for (size_t index = 0; index < request->messages.count; index++) {
        messages[index] = request->messages.items[index];
        messages[index].role = text_as_utf8(&call_memory, messages[index].role);
        messages[index].content = text_as_utf8(&call_memory, messages[index].content);
    }
    inference_result result = {0};
    import_run_inference(messages, request->messages.count, request->system_prompt.given,
                         request->system_prompt.value.data, request->system_prompt.value.length, request->model.given,
                         request->model.value.data, request->model.value.length, &result);
    if (result.is_err) {
        *error = result.of.error;
        return false;
    }
    *response = result.of.response;
    return true;
}

uint64_t count_tokens(text counted) {
    counted = text_as_utf8(&call_memory, counted);
    return import_count(counted.data, counted.length);
}

// A number that the interface does not have reads as the first: nothing may be read.
static task_reading failed(uint8_t error) {
    return error < TASK_READ ? (task_reading)error : TASK_NOT_GRANTED;
}

static task_reading length_read(const length_result *result, uint64_t *length) {
    if (result->is_err) {
        return failed(result->of.error);
    }
    *length = result->of.length;
    return TASK_READ;
}

static task_reading piece_read(const piece_result *result, text *piece) {
    if (result->is_err) {
        return failed(result->of.error);
    }
    *piece = result->of.piece;
    return TASK_READ;
}

task_reading task_input_length(task_form form, uint64_t *length) {
    length_result result = {0};
    import_input_len((uint32_t)form, &result);
    return length_read(&result, length);
}

task_reading task_input(task_form form, uint64_t offset, uint64_t max_bytes, text *piece) {
    piece_result result = {0};
    import_read_input((uint32_t)form, offset, max_bytes, &result);
    return piece_read(&result, piece);
}

task_reading task_output_length(uint64_t *length) {
    length_result result = {0};
    import_output_len(&result);
    return length_read(&result, length);
}

task_reading task_output(uint64_t offset, uint64_t max_bytes, text *piece) {
    piece_result result = {0};
    import_read_output(offset, max_bytes, &result);
    return piece_read(&result, piece);
}

bool read_messages(maybe_text cursor, uint32_t limit, message_page *page, text *error) {
    page_result result = {0};
    import_read_messages(cursor.given, cursor.value.data, cursor.value.length, limit, &result);
    if (result.is_err) {
        *error = result.of.error;
        return false;
    }
    *page = result.of.page;
    return true;
}
