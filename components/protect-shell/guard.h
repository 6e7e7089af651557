// What the guard knows while it reads, and the commands that write.
#ifndef HOOKLINE_PROTECT_SHELL_GUARD_H
#define HOOKLINE_PROTECT_SHELL_GUARD_H

#include "../lib/hook.h"
#include "../lib/options.h"
#include "../lib/protect.h"
#include "../lib/shell.h"

typedef struct {
    protection by;
    const text *writers;  // of the configuration
    size_t writer_count;
    maybe_text folder;   // that paths begin at; not given where nobody can say
    bool recipe;         // lines may begin with what `make` and `just` take off
    bool operands_come;  // from somewhere else, in part: xargs, find
    text refused;        // why, empty while nothing is
    text unclear;        // what is written to nobody can say where, empty while nothing is
} guard;

typedef struct {
    const shell_word *words;
    size_t count;
    const text *input;  // NULL: none that can be read
    bool piped;         // it is given the output of another
} command;

// The first of these counts.
void refuse(guard *with, text why);
void unclear(guard *with, text what);
// What is written to.
void judge(guard *with, const shell_word *word);

bool one_of(text name, const char *const *names);
// The last component of a path.
text base_of(text path);
// *path*, seen from *folder*.
text below(text folder, text path);
option_reader options_of(const command *one, const option_table *table);
// The command that begins at its word *first*.
command from_word(const command *one, size_t first);

// Every operand is written to.
void judge_operands(guard *with, const command *one, const option_table *table);
// By the command's name, if it is one of those that are known to write.
void judge_form(guard *with, const command *one);

#endif
