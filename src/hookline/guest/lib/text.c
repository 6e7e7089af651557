#include "text.h"

#include <string.h>

#include "utf8.h"

text text_of(const char *terminated) {
    return (text){terminated, strlen(terminated)};
}

maybe_text given(text value) {
    return (maybe_text){.given = true, .value = value};
}

bool text_equal(text one, text other) {
    return one.length == other.length && (one.length == 0 || memcmp(one.data, other.data, one.length) == 0);
}

bool text_is(text one, const char *terminated) {
    return text_equal(one, text_of(terminated));
}

int text_order(text one, text other) {
    size_t shared = one.length < other.length ? one.length : other.length;
    int order = shared == 0 ? 0 : memcmp(one.data, other.data, shared);
    return order != 0 ? order : (one.length > other.length) - (one.length < other.length);
}

text text_part(text whole, size_t start, size_t count) {
    if (start >= whole.length) {
        return TEXT("");
    }
    size_t rest = whole.length - start;
    return (text){whole.data + start, count < rest ? count : rest};
}

bool text_starts(text whole, const char *prefix) {
    return text_is(text_part(whole, 0, strlen(prefix)), prefix);
}

bool text_ends(text whole, const char *suffix) {
    size_t length = strlen(suffix);
    return whole.length >= length && text_is(text_part(whole, whole.length - length, length), suffix);
}

bool text_has(text whole, text part) {
    for (size_t start = 0; part.length <= whole.length - start; start++) {
        if (text_equal(text_part(whole, start, part.length), part)) {
            return true;
        }
        if (start == whole.length) {
            break;
        }
    }
    return false;
}

size_t text_find(text whole, char byte) {
    const char *found = whole.length == 0 ? NULL : memchr(whole.data, byte, whole.length);
    return found == NULL ? whole.length : (size_t)(found - whole.data);
}

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

text text_trim(text whole) {
    while (whole.length > 0 && is_blank(whole.data[whole.length - 1])) {
        whole.length--;
    }
    while (whole.length > 0 && is_blank(whole.data[0])) {
        whole = text_part(whole, 1, whole.length);
    }
    return whole;
}

text text_characters(text whole, size_t limit) {
    size_t end = 0;
    while (end < whole.length && limit > 0) {
        size_t step = utf8_length(whole, end);
        end += step == 0 ? 1 : step;
        limit--;
    }
    return text_part(whole, 0, end);
}

bool text_is_utf8(text whole) {
    for (size_t at = 0; at < whole.length;) {
        size_t step = utf8_length(whole, at);
        if (step == 0) {
            return false;
        }
        at += step;
    }
    return true;
}

text text_as_utf8(arena *memory, text whole) {
    if (text_is_utf8(whole)) {
        return whole;
    }
    buffer valid = buffer_in(memory);
    for (size_t at = 0; at < whole.length;) {
        size_t step = utf8_length(whole, at);
        put(&valid, step == 0 ? TEXT("\xEF\xBF\xBD") : text_part(whole, at, step));
        at += step == 0 ? 1 : step;
    }
    return buffer_text(&valid);
}

text text_copy(arena *memory, text whole) {
    return text_joined(memory, &whole, 1);
}

const char *text_terminated(arena *memory, text whole) {
    const text parts[] = {whole, {"", 1}};
    return text_joined(memory, parts, 2).data;
}

text text_joined(arena *memory, const text *parts, size_t count) {
    buffer joined = buffer_in(memory);
    for (size_t index = 0; index < count; index++) {
        put(&joined, parts[index]);
    }
    return buffer_text(&joined);
}

text text_of_u64(arena *memory, uint64_t number) {
    buffer digits = buffer_in(memory);
    put_u64(&digits, number);
    return buffer_text(&digits);
}
