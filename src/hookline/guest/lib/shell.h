// Shell scripts, read word by word: quotes are taken off, nothing is expanded, no command is known.
#ifndef HOOKLINE_SHELL_H
#define HOOKLINE_SHELL_H

#include "text.h"

typedef struct {
    text value;
    bool expands;  // the shell makes something else of it: a variable, the output of a command, braces
    bool pattern;  // it has a `*` or `?` for the names of files
} shell_word;

typedef enum {
    SHELL_END,
    SHELL_WORD,
    SHELL_WRITE,  // what a redirection writes to
    SHELL_INPUT,  // what the command is given to read, a here-document or a here-string
    SHELL_BREAK,  // the command ends; *piped*: what it says goes to the next
    SHELL_OPEN,   // a subshell begins, behind the end of a command
    SHELL_CLOSE,
    SHELL_UNREADABLE,  // a quote or a bracket is never closed: nothing follows
} shell_kind;

typedef struct {
    shell_kind kind;
    shell_word word;
    bool piped;
    text_list inner;  // scripts that run to make the word, or the input
} shell_token;

// Zero-initialised but for the script.
typedef struct {
    text script;
    size_t at, body, behind;  // `body` to `behind` are here-documents that have been read; both 0: none
} shell_reader;

shell_token shell_next(shell_reader *from);

#endif
