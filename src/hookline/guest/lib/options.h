// The options and operands of a command, as getopt takes them apart.
#ifndef HOOKLINE_OPTIONS_H
#define HOOKLINE_OPTIONS_H

#include "shell.h"

#define OPERAND 0
#define OTHER_OPTION 1  // a long one that nobody asked for

typedef struct {
    const char *with_value;  // letters that take a value, the rest of their word or the next
    const char *with_rest;   // letters that take the rest of their word, if there is any
    const char *const *longs;  // "t=target-directory" takes a value, "i?in-place" if one is joined, "b.backup" none
} option_table;

typedef struct {
    const shell_word *words;
    size_t count, at, inside;  // `inside`: the next letter of the word at `at`; 0: at its beginning
    const option_table *table;
    bool leading;        // nothing behind the first operand is an option
    bool only_operands;  // there was a `--`
} option_reader;

typedef struct {
    char letter;       // of an option, or OPERAND, or OTHER_OPTION
    shell_word value;  // the operand, or what the option takes
} option;

// The next of them; false: there is none.
bool option_next(option_reader *from, option *to);

#endif
