// The host's functions as a native program asks for them: a line for the question, the next line for its answer.
#include <stdlib.h>

#include "../host.h"
#include "lines.h"
#include "records.h"

typedef struct {
    buffer line;
    json_writer out;
} question;

static void begin(question *asked, const char *name) {
    asked->line = buffer_in(&call_memory);
    asked->out = json_to(&asked->line);
    json_open(&asked->out, '{');
    json_field(&asked->out, "ask", text, text_of(name));
    json_name(&asked->out, "arguments");
    json_open(&asked->out, '[');
}

// The value of "ok", or NULL where the host said "err" (then in *error*) or something else.
static const json *answer_to(question *asked, text *error) {
    json_close(&asked->out, ']');
    json_close(&asked->out, '}');
    line_write(buffer_text(&asked->line));
    text line;
    if (!line_read(&line)) {
        exit(0);  // the host has gone in the middle of a call
    }
    const json *reply = json_read(&call_memory, line, error);
    if (reply == NULL) {
        return NULL;
    }
    const json *value = json_member(reply, "ok");
    if (value == NULL) {
        maybe_text said = json_member_text(reply, "err");
        *error = said.given ? said.value : TEXT("the host's answer is neither ok nor err");
    }
    return value;
}

static bool record_asked(question *asked, const record *what, void *into, text *error) {
    const json *value = answer_to(asked, error);
    *error = value == NULL ? *error : TEXT("");
    return value != NULL && record_read(what, value, into, error);
}

bool run_inference(const inference_request *request, inference_response *response, text *error) {
    question asked;
    begin(&asked, "murmur:runtime/inference@0.3.0#run-inference");
    record_write(&inference_request_record, request, &asked.out);
    return record_asked(&asked, &inference_response_record, response, error);
}

uint64_t count_tokens(text counted) {
    question asked;
    begin(&asked, "murmur:runtime/tokens@0.3.0#count");
    json_put_text(&asked.out, counted);
    text error;
    uint64_t count;
    if (!json_u64(answer_to(&asked, &error), &count)) {
        abort();  // counting cannot fail: a component would trap here
    }
    return count;
}

static task_reading failed(text error) {
    for (task_reading one = TASK_NOT_GRANTED; one < TASK_READ; one++) {
        if (text_is(error, task_reading_name(one))) {
            return one;
        }
    }
    abort();  // the interface has no other error: a component would trap here
}

static task_reading length_asked(question *asked, uint64_t *length) {
    text error;
    const json *value = answer_to(asked, &error);
    if (value == NULL) {
        return failed(error);
    }
    if (!json_u64(value, length)) {
        abort();
    }
    return TASK_READ;
}

static task_reading piece_asked(question *asked, text *piece) {
    text error;
    const json *value = answer_to(asked, &error);
    if (value == NULL) {
        return failed(error);
    }
    if (!json_is(value, JSON_TEXT)) {
        abort();
    }
    *piece = value->value;
    return TASK_READ;
}

static text form_name(task_form form) {
    return form == TASK_ORIGINAL ? TEXT("original") : TEXT("as-given");
}

task_reading task_input_length(task_form form, uint64_t *length) {
    question asked;
    begin(&asked, "murmur:task-io/read@0.1.0#input-len");
    json_put_text(&asked.out, form_name(form));
    return length_asked(&asked, length);
}

task_reading task_input(task_form form, uint64_t offset, uint64_t max_bytes, text *piece) {
    question asked;
    begin(&asked, "murmur:task-io/read@0.1.0#read-input");
    json_put_text(&asked.out, form_name(form));
    json_put_u64(&asked.out, offset);
    json_put_u64(&asked.out, max_bytes);
    return piece_asked(&asked, piece);
}

task_reading task_output_length(uint64_t *length) {
    question asked;
    begin(&asked, "murmur:task-io/read@0.1.0#output-len");
    return length_asked(&asked, length);
}

task_reading task_output(uint64_t offset, uint64_t max_bytes, text *piece) {
    question asked;
    begin(&asked, "murmur:task-io/read@0.1.0#read-output");
    json_put_u64(&asked.out, offset);
    json_put_u64(&asked.out, max_bytes);
    return piece_asked(&asked, piece);
}

bool read_messages(maybe_text cursor, uint32_t limit, message_page *page, text *error) {
    question asked;
    begin(&asked, "murmur:conversation/read@0.1.0#read-messages");
    json_put_maybe(&asked.out, cursor);
    json_put_u64(&asked.out, limit);
    return record_asked(&asked, &message_page_record, page, error);
}
