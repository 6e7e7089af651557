// UTF-8, one character at a time.
#ifndef HOOKLINE_UTF8_H
#define HOOKLINE_UTF8_H

#include "text.h"

// How many bytes the character at *at* has: 1 to 4, or 0 where there is no valid one (too long a form, a surrogate, past
// U+10FFFF, cut off).
size_t utf8_length(text whole, size_t at);
// *code* is a Unicode scalar value.
void put_code(buffer *to, uint32_t code);

#endif
