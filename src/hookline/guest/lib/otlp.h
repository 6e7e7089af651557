// What OTLP in JSON is made of: identities, attributes, times.
#ifndef HOOKLINE_OTLP_H
#define HOOKLINE_OTLP_H

#include "hook.h"

// 32 hex digits that are the same for the same session: two FNV-1a-64 hashes, the second going on from the first.
text otlp_trace_id(arena *memory, text session_id);
// The root span for 0, else the child of this number: the first 12 digits of the trace, and 4 of its own.
text otlp_span_id(arena *memory, text trace_id, unsigned number);

// Attributes stand between these two.
void otlp_open_attributes(json_writer *out);
void otlp_close_attributes(json_writer *out);
void otlp_text(json_writer *out, const char *key, text value);
// As a text, which is how sizes and counts of tokens are sent.
void otlp_size(json_writer *out, const char *key, uint64_t value);
// As a number.
void otlp_number(json_writer *out, const char *key, int64_t value);
void otlp_nanoseconds(json_writer *out, const char *name, uint64_t value);

// A request with the records of one capsule, which stand between these two. *scope* is the hook's name, empty for none.
typedef struct {
    const char *resources, *scopes, *records;
} otlp_signal;
extern const otlp_signal OTLP_SPANS, OTLP_LOGS;
void otlp_open_request(json_writer *out, const otlp_signal *signal, text capsule, text version, text scope);
void otlp_close_request(json_writer *out);
// The collector's address for one kind of signal, such as "/v1/traces".
text otlp_address(text endpoint, const char *path);
// Posts *body*. False: *why* says what went wrong.
bool otlp_post(text url, text body, text *why);

#endif
