#include "records.h"

#include <string.h>

#include "../events.h"

// As every list of records is laid out.
typedef struct {
    const void *items;
    size_t count;
} record_list;

static bool read_unsigned(const json *from, uint64_t limit, uint64_t *number) {
    return json_u64(from, number) && *number <= limit;
}

static bool read_signed(const json *from, int32_t *into) {
    int64_t number;
    if (!json_i64(from, &number) || number < INT32_MIN || number > INT32_MAX) {
        return false;
    }
    *into = (int32_t)number;
    return true;
}

static bool read_text(const json *from, text *into) {
    *into = from->value;
    return from->kind == JSON_TEXT;
}

static bool read_texts(const json *from, text_list *into) {
    text *items = arena_take(&call_memory, from->count, sizeof(text));
    for (size_t index = 0; index < from->count; index++) {
        if (!read_text(&from->items[index], &items[index])) {
            return false;
        }
    }
    *into = (text_list){items, from->count};
    return from->kind == JSON_ARRAY;
}

static bool read_records(const record *what, const json *from, record_list *into, text *why) {
    char *items = arena_take(&call_memory, from->count, what->size);
    for (size_t index = 0; index < from->count; index++) {
        if (!record_read(what, &from->items[index], items + index * what->size, why)) {
            return false;
        }
    }
    *into = (record_list){items, from->count};
    return from->kind == JSON_ARRAY;
}

static bool read_field(const field *one, const json *from, char *into, text *why) {
    uint64_t number;
    switch (one->kind) {
        case FIELD_U32:
            if (!read_unsigned(from, UINT32_MAX, &number)) {
                return false;
            }
            *(uint32_t *)into = (uint32_t)number;
            return true;
        case FIELD_U64: return read_unsigned(from, UINT64_MAX, (uint64_t *)into);
        case FIELD_S32: return read_signed(from, (int32_t *)into);
        case FIELD_F64: return json_f64(from, (double *)into);
        case FIELD_TEXT: return read_text(from, (text *)into);
        case FIELD_MAYBE_TEXT:
            ((maybe_text *)into)->given = true;
            return read_text(from, &((maybe_text *)into)->value);
        case FIELD_TEXT_LIST: return read_texts(from, (text_list *)into);
        case FIELD_RECORD_LIST: return read_records(one->inner, from, (record_list *)into, why);
        case FIELD_MAYBE_RECORD: *(bool *)into = true; return record_read(one->inner, from, into + one->inside, why);
    }
    return false;
}

static bool is_option(const field *one) {
    return one->kind == FIELD_MAYBE_TEXT || one->kind == FIELD_MAYBE_RECORD;
}

bool record_read(const record *what, const json *from, void *into, text *why) {
    size_t met = 0;
    memset(into, 0, what->size);  // what is absent is not given
    for (size_t index = 0; index < what->count; index++) {
        const field *one = &what->fields[index];
        const json *member = json_member(from, one->name);
        met += member != NULL;
        if (is_option(one) && (member == NULL || member->kind == JSON_NULL)) {
            continue;
        }
        if (member == NULL || !read_field(one, member, (char *)into + one->offset, why)) {
            if (why->length == 0) {
                *why = text_join(TEXT("field '"), text_of(one->name), TEXT("' is missing or of another kind"));
            }
            return false;
        }
    }
    if (!json_is(from, JSON_OBJECT) || met != from->count) {
        *why = TEXT("a field that the record does not have");
        return false;
    }
    return true;
}

static void write_texts(const text_list *list, json_writer *out) {
    json_open(out, '[');
    for (size_t index = 0; index < list->count; index++) {
        json_put_text(out, list->items[index]);
    }
    json_close(out, ']');
}

static void write_field(const field *one, const char *from, json_writer *out) {
    switch (one->kind) {
        case FIELD_U32: json_put_u64(out, *(const uint32_t *)from); break;
        case FIELD_U64: json_put_u64(out, *(const uint64_t *)from); break;
        case FIELD_S32: json_put_i64(out, *(const int32_t *)from); break;
        case FIELD_F64: json_put_f64(out, *(const double *)from); break;
        case FIELD_TEXT: json_put_text(out, *(const text *)from); break;
        case FIELD_MAYBE_TEXT: json_put_maybe(out, *(const maybe_text *)from); break;
        case FIELD_TEXT_LIST: write_texts((const text_list *)from, out); break;
        case FIELD_RECORD_LIST: {
            const record_list *list = (const record_list *)from;
            records_write(one->inner, list->items, list->count, out);
            break;
        }
        case FIELD_MAYBE_RECORD:
            if (*(const bool *)from) {
                record_write(one->inner, from + one->inside, out);
            } else {
                json_put_null(out);
            }
    }
}

void record_write(const record *what, const void *from, json_writer *out) {
    json_open(out, '{');
    for (size_t index = 0; index < what->count; index++) {
        const field *one = &what->fields[index];
        json_name(out, one->name);
        write_field(one, (const char *)from + one->offset, out);
    }
    json_close(out, '}');
}

void records_write(const record *what, const void *items, size_t count, json_writer *out) {
    json_open(out, '[');
    for (size_t index = 0; index < count; index++) {
        record_write(what, (const char *)items + index * what->size, out);
    }
    json_close(out, ']');
}
