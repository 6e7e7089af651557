// A hook as a program: a JSON line for each call on standard input, a line for its answer on standard output.
#include <string.h>

#include "../hook.h"
#include "lines.h"
#include "records.h"

LIFECYCLE(DECLARE_RECORD)

#define CALL(function, name, type)                                                                                     \
    static hook_answer call_##function(const void *event) {                                                            \
        return function(event);                                                                                        \
    }
LIFECYCLE(CALL)

typedef struct {
    const char *name;
    const record *argument;
    hook_answer (*call)(const void *event);
} lifecycle_function;

#define ROW(function, name, type) {name, &type##_record, call_##function},
static const lifecycle_function functions[] = {LIFECYCLE(ROW)};
#define FUNCTIONS (sizeof functions / sizeof *functions)

static const char *const arms[] = {"none",        "replace-context", "write-manifests", "artifact",
                                   "reopen-task", "seed-context",    "deny"};

static void write_payload(const hook_answer *answer, json_writer *out) {
    switch (answer->arm) {
        case ANSWER_NONE: json_put_null(out); break;
        case ANSWER_REPLACE_CONTEXT:
        case ANSWER_SEED_CONTEXT:
            records_write(&message_record, answer->messages.items, answer->messages.count, out);
            break;
        case ANSWER_WRITE_MANIFESTS:
            records_write(&manifest_record, answer->manifests.items, answer->manifests.count, out);
            break;
        default: json_put_text(out, answer->words);
    }
}

static void write_answer(const hook_answer *answer) {
    buffer line = buffer_in(&call_memory);
    json_writer out = json_to(&line);
    json_open(&out, '{');
    if (answer->arm == ANSWER_ERR) {
        json_field(&out, "err", text, answer->words);
    } else {
        json_field(&out, "ok", text, text_of(arms[answer->arm]));
        json_name(&out, "value");
        write_payload(answer, &out);
    }
    json_close(&out, '}');
    line_write(buffer_text(&line));
}

static void write_ready(void) {
    buffer line = buffer_in(&call_memory);
    json_writer out = json_to(&line);
    json_open(&out, '{');
    json_field(&out, "ready", text, TEXT("murmur:hook/lifecycle@0.8.0"));
    json_name(&out, "functions");
    json_open(&out, '[');
    for (size_t index = 0; index < FUNCTIONS; index++) {
        json_put_text(&out, text_of(functions[index].name));
    }
    json_close(&out, ']');
    json_close(&out, '}');
    line_write(buffer_text(&line));
}

static const lifecycle_function *function_named(maybe_text name) {
    for (size_t index = 0; name.given && index < FUNCTIONS; index++) {
        if (text_is(name.value, functions[index].name)) {
            return &functions[index];
        }
    }
    return NULL;
}

static hook_answer answer_to(text line) {
    text why = TEXT("");
    const json *asked = json_read(&call_memory, line, &why);
    if (asked == NULL) {
        return answer_err(TEXT("the call is no JSON: "), why);
    }
    const lifecycle_function *function = function_named(json_member_text(asked, "call"));
    if (function == NULL) {
        return answer_err(TEXT("there is no such function"));
    }
    void *event = arena_take(&call_memory, 1, function->argument->size);
    if (!record_read(function->argument, json_member(asked, "argument"), event, &why)) {
        return answer_err(TEXT("the argument of "), text_of(function->name), TEXT(" does not fit: "), why);
    }
    return function->call(event);
}

int main(void) {
    lines_open();
    write_ready();
    for (text line; line_read(&line); arena_clear(&call_memory)) {
        const hook_answer answer = answer_to(line);
        write_answer(&answer);
    }
    return 0;
}
