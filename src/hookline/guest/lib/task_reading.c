#include "host.h"

const char *task_reading_name(task_reading reading) {
    static const char *const names[] = {"not-granted", "no-task", "no-output", "out-of-range", ""};
    return names[reading];
}
