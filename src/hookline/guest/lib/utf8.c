#include "utf8.h"

static unsigned char byte_at(text whole, size_t at) {
    return at < whole.length ? (unsigned char)whole.data[at] : 0;
}

static bool continues(text whole, size_t at, size_t count) {
    for (size_t index = 1; index < count; index++) {
        if ((byte_at(whole, at + index) & 0xC0) != 0x80) {
            return false;
        }
    }
    return true;
}

size_t utf8_length(text whole, size_t at) {
    unsigned char first = byte_at(whole, at), second = byte_at(whole, at + 1);
    size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    bool too_long = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    bool surrogate = first == 0xED && second > 0x9F;
    bool too_high = first == 0xF4 && second > 0x8F;
    if (at >= whole.length || length == 0 || too_long || surrogate || too_high || !continues(whole, at, length)) {
        return 0;
    }
    return length;
}

void put_code(buffer *to, uint32_t code) {
    if (code < 0x80) {
        put_byte(to, (char)code);
        return;
    }
    if (code < 0x800) {
        put_byte(to, (char)(0xC0 | code >> 6));
    } else {
        if (code < 0x10000) {
            put_byte(to, (char)(0xE0 | code >> 12));
        } else {
            put_byte(to, (char)(0xF0 | code >> 18));
            put_byte(to, (char)(0x80 | (code >> 12 & 0x3F)));
        }
        put_byte(to, (char)(0x80 | (code >> 6 & 0x3F)));
    }
    put_byte(to, (char)(0x80 | (code & 0x3F)));
}
