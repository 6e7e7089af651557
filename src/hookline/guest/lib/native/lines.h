// JSON lines to and from the host.
#ifndef HOOKLINE_LINES_H
#define HOOKLINE_LINES_H

#include "../json.h"

// Keeps standard output for lines alone: whatever else is printed goes to standard error.
void lines_open(void);
// False at the end of the input. The line is in the memory of the call.
bool line_read(text *line);
// Ends the program where the host no longer reads.
void line_write(text line);

#endif
