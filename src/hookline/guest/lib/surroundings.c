#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "hook.h"

maybe_text environment(const char *name) {
    const char *value = getenv(name);
    return value == NULL ? NO_TEXT : given(text_of(value));
}

bool hook_config(arena *memory, const json **config, text *why) {
    maybe_text spelled = environment("MURMUR_ARTIFACT_CONFIG");
    *config = NULL;
    if (!spelled.given) {
        return true;
    }
    const json *read = json_read(memory, spelled.value, why);
    if (read != NULL && read->kind != JSON_OBJECT) {
        *why = TEXT("it is no object");
        return false;
    }
    *config = read;
    return read != NULL;
}

uint64_t wall_clock(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) {
        return 0;
    }
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void warn_line(text line) {
    text whole = text_join(line, TEXT("\n"));
    // There is nobody to be told that standard error is closed.
    ssize_t written = write(STDERR_FILENO, whole.data, whole.length);
    (void)written;
}
