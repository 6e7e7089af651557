#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define FIRST_CAPACITY 64

buffer buffer_in(arena *memory) {
    return (buffer){.memory = memory};
}

text buffer_text(const buffer *to) {
    return to->length == 0 ? TEXT("") : (text){to->data, to->length};
}

// Twice the size each time; what is left behind goes with the arena.
static void make_room(buffer *to, size_t wanted) {
    if (wanted <= to->capacity - to->length) {
        return;
    }
    size_t capacity = to->capacity > 0 ? to->capacity : FIRST_CAPACITY;
    while (capacity - to->length < wanted) {
        if (capacity > SIZE_MAX / 2) {
            abort();
        }
        capacity *= 2;
    }
    char *larger = arena_take(to->memory, capacity, 1);
    if (to->length > 0) {
        memcpy(larger, to->data, to->length);
    }
    to->data = larger;
    to->capacity = capacity;
}

void put(buffer *to, text piece) {
    if (piece.length > 0) {
        make_room(to, piece.length);
        memcpy(to->data + to->length, piece.data, piece.length);
        to->length += piece.length;
    }
}

void put_byte(buffer *to, char byte) {
    put(to, (text){&byte, 1});
}

void put_u64(buffer *to, uint64_t number) {
    char digits[20];  // of 2^64 - 1
    size_t start = sizeof digits;
    do {
        digits[--start] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    put(to, (text){digits + start, sizeof digits - start});
}

void put_i64(buffer *to, int64_t number) {
    if (number < 0) {
        put_byte(to, '-');
    }
    put_u64(to, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void put_f64(buffer *to, double number) {
    if (!isfinite(number)) {
        put(to, TEXT("null"));  // JSON has no word for it
        return;
    }
    char digits[40];
    int length = 0;
    for (int precision = 1; precision <= 17; precision++) {
        length = snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number) {
            break;
        }
    }
    put(to, (text){digits, (size_t)length});
    if (strpbrk(digits, ".e") == NULL) {
        put(to, TEXT(".0"));
    }
}
