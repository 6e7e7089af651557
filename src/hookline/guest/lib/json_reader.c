#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "utf8.h"

#define DEPTH 128  // deeper than any real document, and a small part of a component's stack

typedef struct {
    arena *memory;
    text source;
    size_t at;
    int depth;
    const char *wrong;
} reader;

static bool fails(reader *in, const char *wrong) {
    if (in->wrong == NULL) {
        in->wrong = wrong;
    }
    return false;
}

// The byte that is next, or NUL at the end.
static char peek(const reader *in) {
    return in->at < in->source.length ? in->source.data[in->at] : '\0';
}

static bool accept(reader *in, char byte) {
    if (in->at >= in->source.length || peek(in) != byte) {
        return false;
    }
    in->at++;
    return true;
}

static void skip_blanks(reader *in) {
    while (accept(in, ' ') || accept(in, '\t') || accept(in, '\n') || accept(in, '\r')) {
    }
}

static bool accept_digits(reader *in) {
    size_t start = in->at;
    while (peek(in) >= '0' && peek(in) <= '9') {
        in->at++;
    }
    return in->at > start;
}

static bool read_number(reader *in) {
    (void)accept(in, '-');
    if (!accept(in, '0') && !accept_digits(in)) {
        return fails(in, "a value is expected");
    }
    if (accept(in, '.') && !accept_digits(in)) {
        return fails(in, "a digit is expected after the point");
    }
    if (accept(in, 'e') || accept(in, 'E')) {
        (void)(accept(in, '+') || accept(in, '-'));
        if (!accept_digits(in)) {
            return fails(in, "a digit is expected in the exponent");
        }
    }
    return true;
}

static bool read_hex(reader *in, uint32_t *code) {
    *code = 0;
    for (int digit = 0; digit < 4; digit++) {
        char byte = peek(in);
        uint32_t value = byte >= '0' && byte <= '9'   ? (uint32_t)(byte - '0')
                         : byte >= 'a' && byte <= 'f' ? (uint32_t)(byte - 'a' + 10)
                         : byte >= 'A' && byte <= 'F' ? (uint32_t)(byte - 'A' + 10)
                                                      : 16;
        if (value == 16) {
            return fails(in, "four hexadecimal digits are expected");
        }
        *code = *code * 16 + value;
        in->at++;
    }
    return true;
}

static bool read_code(reader *in, buffer *to) {
    uint32_t code, low;
    if (!read_hex(in, &code)) {
        return false;
    }
    if (code >= 0xD800 && code < 0xE000) {
        if (code >= 0xDC00 || !accept(in, '\\') || !accept(in, 'u')) {
            return fails(in, "half of a surrogate pair");
        }
        if (!read_hex(in, &low)) {
            return false;
        }
        if (low < 0xDC00 || low >= 0xE000) {
            return fails(in, "half of a surrogate pair");
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    put_code(to, code);
    return true;
}

static bool read_escape(reader *in, buffer *to) {
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char byte = peek(in);
    if (accept(in, 'u')) {
        return read_code(in, to);
    }
    const char *named = byte == '\0' ? NULL : strchr(names, byte);
    if (named == NULL) {
        return fails(in, "no such escape");
    }
    in->at++;
    put_byte(to, meant[named - names]);
    return true;
}

// After the opening quote. A text without escapes is not copied.
static bool read_text(reader *in, text *into) {
    buffer unescaped = buffer_in(in->memory);
    size_t plain = in->at;
    while (!accept(in, '"')) {
        size_t step = utf8_length(in->source, in->at);
        if (step == 0) {
            return fails(in, in->at < in->source.length ? "not UTF-8" : "a text without end");
        }
        if ((unsigned char)peek(in) < 0x20) {
            return fails(in, "a control character in a text");
        }
        if (peek(in) != '\\') {
            in->at += step;
            continue;
        }
        put(&unescaped, text_part(in->source, plain, in->at - plain));
        in->at++;
        if (!read_escape(in, &unescaped)) {
            return false;
        }
        plain = in->at;
    }
    text rest = text_part(in->source, plain, in->at - 1 - plain);
    if (unescaped.capacity == 0) {
        *into = rest;
    } else {
        put(&unescaped, rest);
        *into = buffer_text(&unescaped);
    }
    return true;
}

static void *grown(reader *in, void *old, size_t count, size_t size) {
    if (count > 0 && (count & (count - 1)) != 0) {
        return old;  // there is room up to the next power of two
    }
    void *larger = arena_take(in->memory, count == 0 ? 1 : count * 2, size);
    return count == 0 ? larger : memcpy(larger, old, count * size);
}

static int name_order(const void *one, const void *other) {
    return text_order(*(const text *)one, *(const text *)other);
}

static bool names_differ(reader *in, const json *object) {
    if (object->count < 2) {
        return true;
    }
    text *sorted = arena_take(in->memory, object->count, sizeof(text));
    memcpy(sorted, object->names, object->count * sizeof(text));
    qsort(sorted, object->count, sizeof(text), name_order);
    for (size_t index = 1; index < object->count; index++) {
        if (text_equal(sorted[index - 1], sorted[index])) {
            return fails(in, "a name stands twice in one object");
        }
    }
    return true;
}

static bool read_value(reader *in, json *into);

static bool read_member(reader *in, json *object) {
    skip_blanks(in);
    if (!accept(in, '"')) {
        return fails(in, "a name is expected");
    }
    object->names = grown(in, object->names, object->count, sizeof(text));
    if (!read_text(in, &object->names[object->count])) {
        return false;
    }
    skip_blanks(in);
    return accept(in, ':') || fails(in, "a colon is expected");
}

// After the opening bracket.
static bool read_items(reader *in, json *into, char closing) {
    skip_blanks(in);
    if (accept(in, closing)) {
        return true;
    }
    do {
        if (into->kind == JSON_OBJECT && !read_member(in, into)) {
            return false;
        }
        into->items = grown(in, into->items, into->count, sizeof(json));
        if (!read_value(in, &into->items[into->count])) {
            return false;
        }
        into->count++;
        skip_blanks(in);
    } while (accept(in, ','));
    if (!accept(in, closing)) {
        return fails(in, "a comma or the closing bracket is expected");
    }
    return into->kind == JSON_ARRAY || names_differ(in, into);
}

static bool read_nested(reader *in, json *into, char closing) {
    if (in->depth == DEPTH) {
        return fails(in, "nested too deep");
    }
    in->depth++;
    bool fine = read_items(in, into, closing);
    in->depth--;
    return fine;
}

static bool read_word(reader *in, const char *word) {
    size_t length = strlen(word);
    if (!text_is(text_part(in->source, in->at, length), word)) {
        return fails(in, "a value is expected");
    }
    in->at += length;
    return true;
}

static bool read_kind(reader *in, json *into) {
    switch (peek(in)) {
        case '{': in->at++; into->kind = JSON_OBJECT; return read_nested(in, into, '}');
        case '[': in->at++; into->kind = JSON_ARRAY; return read_nested(in, into, ']');
        case '"': in->at++; into->kind = JSON_TEXT; return read_text(in, &into->value);
        case 't': into->kind = JSON_TRUE; return read_word(in, "true");
        case 'f': into->kind = JSON_FALSE; return read_word(in, "false");
        case 'n': into->kind = JSON_NULL; return read_word(in, "null");
        default: into->kind = JSON_NUMBER; return read_number(in);
    }
}

static bool read_value(reader *in, json *into) {
    skip_blanks(in);
    size_t start = in->at;
    *into = (json){.kind = JSON_NULL};
    if (!read_kind(in, into)) {
        return false;
    }
    into->spelled = text_part(in->source, start, in->at - start);
    return true;
}

const json *json_read(arena *memory, text source, text *why) {
    reader in = {.memory = memory, .source = source};
    json *root = arena_take(memory, 1, sizeof(json));
    bool fine = read_value(&in, root);
    skip_blanks(&in);
    if (fine && in.at < source.length) {
        fine = fails(&in, "more after the value");
    }
    if (!fine) {
        const text parts[] = {text_of(in.wrong), TEXT(", at byte "), text_of_u64(memory, in.at)};
        *why = text_joined(memory, parts, 3);
    }
    return fine ? root : NULL;
}

bool json_is(const json *value, json_kind kind) {
    return value != NULL && value->kind == kind;
}

const json *json_member(const json *object, const char *name) {
    if (!json_is(object, JSON_OBJECT)) {
        return NULL;
    }
    for (size_t index = 0; index < object->count; index++) {
        if (text_is(object->names[index], name)) {
            return &object->items[index];
        }
    }
    return NULL;
}

maybe_text json_member_text(const json *object, const char *name) {
    const json *member = json_member(object, name);
    return json_is(member, JSON_TEXT) ? given(member->value) : NO_TEXT;
}

static bool read_digits(text digits, uint64_t *number) {
    *number = 0;
    for (size_t at = 0; at < digits.length; at++) {
        if (digits.data[at] < '0' || digits.data[at] > '9') {
            return false;
        }
        uint64_t digit = (uint64_t)(digits.data[at] - '0');
        if (*number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *number = *number * 10 + digit;
    }
    return digits.length > 0;
}

bool json_u64(const json *value, uint64_t *number) {
    return json_is(value, JSON_NUMBER) && read_digits(value->spelled, number);
}

bool json_i64(const json *value, int64_t *number) {
    if (!json_is(value, JSON_NUMBER)) {
        return false;
    }
    bool negative = text_starts(value->spelled, "-");
    uint64_t size;
    if (!read_digits(text_part(value->spelled, negative, value->spelled.length), &size)) {
        return false;
    }
    if (size > (uint64_t)INT64_MAX + negative) {
        return false;
    }
    *number = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

bool json_f64(const json *value, double *number) {
    if (!json_is(value, JSON_NUMBER)) {
        return false;
    }
    char digits[64];  // longer spellings are no number that anyone means
    if (value->spelled.length >= sizeof digits) {
        return false;
    }
    memcpy(digits, value->spelled.data, value->spelled.length);
    digits[value->spelled.length] = '\0';
    errno = 0;
    *number = strtod(digits, NULL);
    return errno == 0;
}
