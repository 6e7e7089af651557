#include "protect.h"

#define MOST_PARTS 256  // components of a path or a glob

static const text USUAL[] = {TEXT("tests/"), TEXT("test_*"), TEXT("*_test.*"), TEXT("spec/"), TEXT("conftest.py")};

typedef struct {
    text items[MOST_PARTS];
    size_t count;
    bool absolute, escapes;
    bool pattern;  // its `*` and `?` stand for other names
} parts;

// The components of a path, without `.` and with `..` taken back.
static parts parts_of(text path) {
    parts found = {.absolute = text_starts(path, "/")};
    for (size_t at = 0; at <= path.length;) {
        size_t length = text_find(text_part(path, at, path.length), '/');
        text one = text_part(path, at, length);
        at += length + 1;
        if (one.length == 0 || text_is(one, ".")) {
            continue;
        }
        if (text_is(one, "..")) {
            if (found.count > 0) {
                found.count--;
            } else if (!found.absolute) {
                found.escapes = true;
            }
        } else if (found.count < MOST_PARTS) {
            found.items[found.count++] = one;
        } else {
            found.escapes = true;
        }
    }
    return found;
}

// `*` within one component, `?` one character of it.
static bool fits(text glob, text name) {
    size_t at = 0, in = 0, star = glob.length, back = 0;
    while (in < name.length) {
        if (at < glob.length && glob.data[at] == '*') {
            star = at++, back = in;
        } else if (at < glob.length && (glob.data[at] == '?' || glob.data[at] == name.data[in])) {
            at++, in++;
            while (in < name.length && (name.data[in] & 0xc0) == 0x80 && glob.data[at - 1] == '?') {
                in++;  // the rest of a character that is more than a byte
            }
        } else if (star < glob.length) {
            at = star + 1, in = ++back;
        } else {
            return false;
        }
    }
    while (at < glob.length && glob.data[at] == '*') {
        at++;
    }
    return at == glob.length;
}

// Whether a component of a path is what *glob* names, or may become it. *all*: a `*` by itself may, too.
static bool names(text glob, const parts *path, size_t index, bool all) {
    text one = path->items[index];
    bool wild = text_find(one, '*') < one.length || text_find(one, '?') < one.length;
    return fits(glob, one) || (path->pattern && wild && (all || !text_is(one, "*")) && fits(one, glob));
}

// Whether the components of *glob* fit the first of *path*, all of them or, with *below*, any number.
static bool anchored(const parts *glob, const parts *path, bool below) {
    bool reached[MOST_PARTS + 1] = {true};  // by place in the path, after the components of the glob so far
    for (size_t index = 0; index < glob->count; index++) {
        bool after[MOST_PARTS + 1] = {false};
        bool any = text_is(glob->items[index], "**");
        for (size_t place = 0; place <= path->count; place++) {
            if (any) {
                after[place] = reached[place] || (place > 0 && after[place - 1]);
            } else if (place > 0) {
                after[place] = reached[place - 1] && names(glob->items[index], path, place - 1, true);
            }
        }
        for (size_t place = 0; place <= path->count; place++) {
            reached[place] = after[place];
        }
    }
    for (size_t place = 0; place <= path->count; place++) {
        if (reached[place] && (below || place == path->count)) {
            return true;
        }
    }
    return false;
}

static bool matches(text glob, const parts *path) {
    bool folder = text_ends(glob, "/");
    text inner = folder ? text_part(glob, 0, glob.length - 1) : glob;
    if (text_find(inner, '/') < inner.length || text_is(inner, "**")) {
        parts split = parts_of(inner);
        return !path->absolute && anchored(&split, path, folder);
    }
    if (!folder) {
        return path->count > 0 && names(inner, path, path->count - 1, path->count == 1);
    }
    for (size_t index = 0; index < path->count; index++) {
        if (names(inner, path, index, index == 0)) {
            return true;
        }
    }
    return false;
}

bool texts_of(const json *object, const char *key, const text **items, size_t *count, text *why) {
    const json *list = json_member(object, key);
    *count = 0;
    if (list == NULL) {
        return true;
    }
    if (list->kind != JSON_ARRAY || list->count == 0) {
        *why = text_join(TEXT("`"), text_of(key), TEXT("` has to be a list that is not empty"));
        return false;
    }
    text *found = arena_take(&call_memory, list->count, sizeof(text));
    for (size_t index = 0; index < list->count; index++) {
        if (list->items[index].kind != JSON_TEXT || text_trim(list->items[index].value).length == 0) {
            *why = text_join(TEXT("`"), text_of(key), TEXT("` holds what is no text: "), list->items[index].spelled);
            return false;
        }
        found[index] = list->items[index].value;
    }
    *items = found, *count = list->count;
    return true;
}

// A glob that nothing can match guards nothing, so whoever wrote it meant another one.
static bool usable(const text *globs, size_t count, text *why) {
    for (size_t index = 0; index < count; index++) {
        parts split = parts_of(globs[index]);
        if (split.count == 0 || split.escapes) {
            *why = text_join(TEXT("nothing can match the glob `"), globs[index], TEXT("`"));
            return false;
        }
    }
    return true;
}

static bool known(text name, const char *const *keys) {
    for (; *keys != NULL; keys++) {
        if (text_is(name, *keys)) {
            return true;
        }
    }
    return text_is(name, "protect") || text_is(name, "allow");
}

bool protection_read(protection *to, const char *const *keys, text *why) {
    *to = (protection){.protect = USUAL, .protect_count = sizeof USUAL / sizeof *USUAL};
    if (!hook_config(&call_memory, &to->config, why)) {
        return false;
    }
    for (size_t index = 0; to->config != NULL && index < to->config->count; index++) {
        if (!known(to->config->names[index], keys)) {
            *why = text_join(TEXT("there is no key `"), to->config->names[index], TEXT("`"));
            return false;
        }
    }
    const text *own = NULL;
    size_t count;
    if (!texts_of(to->config, "protect", &own, &count, why) ||
        !texts_of(to->config, "allow", &to->allow, &to->allow_count, why) || !usable(own, count, why) ||
        !usable(to->allow, to->allow_count, why)) {
        return false;
    }
    if (count > 0) {
        to->protect = own, to->protect_count = count;
    }
    return true;
}

static judgement judged(const protection *by, text path, bool pattern, text *rule) {
    parts found = parts_of(path);
    *rule = TEXT("");
    if (found.escapes) {
        return PATH_ESCAPES;
    }
    for (size_t index = 0; index < by->allow_count; index++) {
        if (matches(by->allow[index], &found)) {
            return PATH_FREE;
        }
    }
    found.pattern = pattern;  // behind `allow`: what only may be allowed is not
    for (size_t index = 0; index < by->protect_count; index++) {
        if (matches(by->protect[index], &found)) {
            *rule = by->protect[index];
            return PATH_PROTECTED;
        }
    }
    return PATH_FREE;
}

judgement protection_of(const protection *by, text path, text *rule) {
    return judged(by, path, false, rule);
}

judgement protection_of_pattern(const protection *by, text pattern, text *rule) {
    return judged(by, pattern, true, rule);
}

text protection_reason(judgement found, text path, text rule) {
    if (found == PATH_ESCAPES) {
        return text_join(TEXT("'"), path, TEXT("' leads out of the working directory"));
    }
    return text_join(TEXT("'"), path, TEXT("' is protected by '"), rule, TEXT("'"));
}
