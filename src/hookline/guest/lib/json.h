// JSON, strictly as in RFC 8259: read into a tree, written piece by piece.
#ifndef HOOKLINE_JSON_H
#define HOOKLINE_JSON_H

#include "text.h"

typedef enum { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT } json_kind;

// `spelled` is the value as it stood. `value` is that of a JSON_TEXT. `count` items, in order; those of an object have
// their names in `names`.
typedef struct json {
    json_kind kind;
    text spelled;
    text value;
    size_t count;
    struct json *items;
    text *names;
} json;

// NULL where *source* is no JSON, holds a name twice in one object, or nests too deep; *why* then says what is wrong.
// It keeps pointing into *source*.
const json *json_read(arena *memory, text source, text *why);

// NULL where *object* is none or has no such member. *object* may be NULL.
const json *json_member(const json *object, const char *name);
bool json_is(const json *value, json_kind kind);
// Of a member that is a text; else not given.
maybe_text json_member_text(const json *object, const char *name);
// False where *value* is no number of that kind.
bool json_u64(const json *value, uint64_t *number);
bool json_i64(const json *value, int64_t *number);
bool json_f64(const json *value, double *number);

// Writes commas by itself. What is not UTF-8 is written as U+FFFD.
typedef struct {
    buffer *to;
    bool comma;
} json_writer;

json_writer json_to(buffer *to);
void json_open(json_writer *out, char bracket);   // '{' or '['
void json_close(json_writer *out, char bracket);  // '}' or ']'
void json_name(json_writer *out, const char *name);
void json_name_text(json_writer *out, text name);
void json_put_text(json_writer *out, text value);
void json_put_maybe(json_writer *out, maybe_text value);
void json_put_u64(json_writer *out, uint64_t value);
void json_put_i64(json_writer *out, int64_t value);
void json_put_f64(json_writer *out, double value);
void json_put_bool(json_writer *out, bool value);
void json_put_null(json_writer *out);
// What is JSON already.
void json_put_spelled(json_writer *out, text value);

#define json_field(out, name, kind, value) (json_name((out), (name)), json_put_##kind((out), (value)))

// *value* as JSON, in the memory of the call.
text json_quoted(text value);

#endif
