#include "json.h"
#include "utf8.h"

json_writer json_to(buffer *to) {
    return (json_writer){.to = to};
}

static void separate(json_writer *out) {
    if (out->comma) {
        put_byte(out->to, ',');
    }
    out->comma = true;
}

static void put_escaped(buffer *to, unsigned char byte) {
    static const char hex[] = "0123456789abcdef";
    switch (byte) {
        case '"': put(to, TEXT("\\\"")); break;
        case '\\': put(to, TEXT("\\\\")); break;
        case '\b': put(to, TEXT("\\b")); break;
        case '\f': put(to, TEXT("\\f")); break;
        case '\n': put(to, TEXT("\\n")); break;
        case '\r': put(to, TEXT("\\r")); break;
        case '\t': put(to, TEXT("\\t")); break;
        default:
            put(to, TEXT("\\u00"));
            put_byte(to, hex[byte >> 4]);
            put_byte(to, hex[byte & 15]);
    }
}

static bool needs_escape(unsigned char byte) {
    return byte < 0x20 || byte == '"' || byte == '\\';
}

static void put_quoted(buffer *to, text value) {
    value = text_as_utf8(to->memory, value);
    put_byte(to, '"');
    size_t plain = 0;
    for (size_t at = 0; at < value.length; at++) {
        unsigned char byte = (unsigned char)value.data[at];
        if (needs_escape(byte)) {
            put(to, text_part(value, plain, at - plain));
            put_escaped(to, byte);
            plain = at + 1;
        }
    }
    put(to, text_part(value, plain, value.length - plain));
    put_byte(to, '"');
}

void json_open(json_writer *out, char bracket) {
    separate(out);
    put_byte(out->to, bracket);
    out->comma = false;
}

void json_close(json_writer *out, char bracket) {
    put_byte(out->to, bracket);
    out->comma = true;
}

void json_name_text(json_writer *out, text name) {
    separate(out);
    put_quoted(out->to, name);
    put_byte(out->to, ':');
    out->comma = false;
}

void json_name(json_writer *out, const char *name) {
    json_name_text(out, text_of(name));
}

void json_put_text(json_writer *out, text value) {
    separate(out);
    put_quoted(out->to, value);
}

void json_put_spelled(json_writer *out, text value) {
    separate(out);
    put(out->to, value);
}

void json_put_null(json_writer *out) {
    json_put_spelled(out, TEXT("null"));
}

void json_put_maybe(json_writer *out, maybe_text value) {
    if (value.given) {
        json_put_text(out, value.value);
    } else {
        json_put_null(out);
    }
}

void json_put_u64(json_writer *out, uint64_t value) {
    separate(out);
    put_u64(out->to, value);
}

void json_put_i64(json_writer *out, int64_t value) {
    separate(out);
    put_i64(out->to, value);
}

void json_put_f64(json_writer *out, double value) {
    separate(out);
    put_f64(out->to, value);
}

void json_put_bool(json_writer *out, bool value) {
    json_put_spelled(out, value ? TEXT("true") : TEXT("false"));
}

text json_quoted(text value) {
    buffer quoted = buffer_in(&call_memory);
    put_quoted(&quoted, value);
    return buffer_text(&quoted);
}
