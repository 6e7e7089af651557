// Text, the memory that it lives in, and a buffer that grows. Text is bytes and a length: it may hold NUL.
#ifndef HOOKLINE_TEXT_H
#define HOOKLINE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *data;
    size_t length;
} text;

typedef struct {
    bool given;
    text value;
} maybe_text;

typedef struct {
    const text *items;
    size_t count;
} text_list;

#define TEXT(literal) ((text){(literal), sizeof(literal) - 1})
#define NO_TEXT ((maybe_text){.given = false})

// Memory that is given back all at once. Zero-initialised it is empty and ready.
typedef struct arena {
    struct chunk *last;
} arena;

// What is taken from here lasts until the current call of the hook has been answered.
extern arena call_memory;

// Zeroed. Never NULL: where there is no memory the hook ends, and a guard that ends refuses.
void *arena_take(arena *memory, size_t count, size_t size);
void arena_clear(arena *memory);

text text_of(const char *terminated);
maybe_text given(text value);
bool text_is(text one, const char *terminated);
bool text_equal(text one, text other);
int text_order(text one, text other);
bool text_starts(text whole, const char *prefix);
bool text_ends(text whole, const char *suffix);
bool text_has(text whole, text part);
// Where the first *byte* is, or the length of *whole*.
size_t text_find(text whole, char byte);
// *count* bytes from *start*, as far as there are any.
text text_part(text whole, size_t start, size_t count);
// Without blanks, tabs and line ends at either side.
text text_trim(text whole);
// At most so many characters (not bytes) of valid UTF-8.
text text_characters(text whole, size_t limit);
bool text_is_utf8(text whole);
// Itself if it is UTF-8, else with U+FFFD where it is not.
text text_as_utf8(arena *memory, text whole);

text text_copy(arena *memory, text whole);
const char *text_terminated(arena *memory, text whole);
text text_joined(arena *memory, const text *parts, size_t count);
text text_of_u64(arena *memory, uint64_t number);

// text_join(TEXT("a "), some_text, ...) in the memory of the call.
#define text_join(...)                                                                                                 \
    text_joined(&call_memory, (const text[]){__VA_ARGS__}, sizeof((const text[]){__VA_ARGS__}) / sizeof(text))

typedef struct {
    arena *memory;
    char *data;
    size_t length;
    size_t capacity;
} buffer;

buffer buffer_in(arena *memory);
// The text so far. It is not moved by what is put later, but may be outgrown by it.
text buffer_text(const buffer *to);
void put(buffer *to, text piece);
void put_byte(buffer *to, char byte);
void put_u64(buffer *to, uint64_t number);
void put_i64(buffer *to, int64_t number);
// The shortest decimals that read back as the same number, with a point or an exponent: 1.0, 0.85.
void put_f64(buffer *to, double number);

#endif
