// Paths that a guard protects: globs, read from its configuration, and the judgement of a path by them.
#ifndef HOOKLINE_PROTECT_H
#define HOOKLINE_PROTECT_H

#include "hook.h"

typedef struct {
    const text *protect, *allow;
    size_t protect_count, allow_count;
    const json *config;  // NULL where there is none
} protection;

typedef enum {
    PATH_FREE,
    PATH_PROTECTED,
    PATH_ESCAPES,  // it leads above where it begins, so nobody can say what it is
} judgement;

// The globs of MURMUR_ARTIFACT_CONFIG, or the usual ones. *keys* are its keys besides `protect` and `allow`, ended by
// NULL. False: it is unusable, for the reason *why*.
bool protection_read(protection *to, const char *const *keys, text *why);

// By its text alone: no file is looked at. *rule* is the glob that protects it.
judgement protection_of(const protection *by, text path, text *rule);

// The same of a word in which a shell puts in the names of files: what it may name counts too, such as `t*`. A `*` for all
// that is in a folder counts as little as the folder itself.
judgement protection_of_pattern(const protection *by, text pattern, text *rule);

// What to tell whoever was refused.
text protection_reason(judgement found, text path, text rule);

// A list of texts that is not empty, under *key*; false where it is anything else. Absent: *count* is 0.
bool texts_of(const json *object, const char *key, const text **items, size_t *count, text *why);

#endif
