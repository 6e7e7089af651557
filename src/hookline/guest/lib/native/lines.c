#include "lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int to_host = STDOUT_FILENO;

void lines_open(void) {
    to_host = dup(STDOUT_FILENO);
    if (to_host < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        perror("standard output");
        exit(1);
    }
}

bool line_read(text *line) {
    static char *held;
    static size_t capacity;
    ssize_t length = getline(&held, &capacity, stdin);
    if (length < 0) {
        return false;
    }
    *line = text_copy(&call_memory, text_trim((text){held, (size_t)length}));
    return true;
}

void line_write(text line) {
    text rest = text_join(line, TEXT("\n"));
    while (rest.length > 0) {
        ssize_t written = write(to_host, rest.data, rest.length);
        if (written <= 0) {
            exit(1);
        }
        rest = text_part(rest, (size_t)written, rest.length);
    }
}
