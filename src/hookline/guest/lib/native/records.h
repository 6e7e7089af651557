// Records as JSON objects, by tables of their fields.
#ifndef HOOKLINE_RECORDS_H
#define HOOKLINE_RECORDS_H

#include "../json.h"

typedef enum {
    FIELD_U32,
    FIELD_U64,
    FIELD_S32,
    FIELD_F64,
    FIELD_TEXT,
    FIELD_MAYBE_TEXT,
    FIELD_TEXT_LIST,
    FIELD_RECORD_LIST,
    FIELD_MAYBE_RECORD,
} field_kind;

// `inner` is the record of a FIELD_RECORD_LIST or of a FIELD_MAYBE_RECORD, whose value lies `inside` bytes further on.
typedef struct {
    const char *name;
    field_kind kind;
    size_t offset;
    const struct record *inner;
    size_t inside;
} field;

typedef struct record {
    size_t size;
    const field *fields;
    size_t count;
} record;

extern const record message_record;
extern const record manifest_record;
extern const record inference_request_record;
extern const record inference_response_record;
extern const record message_page_record;
// Those of the events, by the name of the C type: stage_event_record, ...
#define DECLARE_RECORD(function, name, type) extern const record type##_record;

// False where *from* is no such object: a field is missing, unknown or of another kind. Options may be null or missing.
bool record_read(const record *what, const json *from, void *into, text *why);
void record_write(const record *what, const void *from, json_writer *out);
void records_write(const record *what, const void *items, size_t count, json_writer *out);

#endif
