// Files below the folders that a hook is granted. Paths are relative. Where something fails, *why* says it in words.
#ifndef HOOKLINE_FILES_H
#define HOOKLINE_FILES_H

#include "text.h"

typedef enum { FILE_READ, FILE_MISSING, FILE_TOO_LARGE, FILE_FAILED } file_reading;

// The whole file, if it has at most *limit* bytes.
file_reading file_read(arena *memory, text path, size_t limit, text *content, text *why);
// Makes the file where it is missing, not its folder.
bool file_append(text path, text content, text *why);
bool file_write(text path, text content, text *why);
// True also where there is such a folder already. Its parent must be there.
bool folder_make(text path, text *why);

#endif
