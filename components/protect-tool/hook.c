// Refuses tool calls that write to protected paths. What it cannot read it refuses.
#include "../lib/hook.h"
#include "../lib/protect.h"

// Which calls of a tool write, and where its input names the path.
typedef struct {
    text match;
    const text *path_keys, *any_of;
    size_t path_count, any_count;
    maybe_text key;  // without one every call writes
} tool;

static const text PATH[] = {TEXT("path")};
static const text WRITES[] = {TEXT("write_file"), TEXT("replace_in_file")};
static const tool USUAL[] = {
    {TEXT("murmur-tool-editor"), PATH, WRITES, 1, 2, {true, TEXT("operation")}},
    {TEXT("murmur-tool-create"), PATH, NULL, 1, 0, {false, TEXT("")}},
};
static const char *const KEYS[] = {"tools", NULL};

static const char *const ENTRY_KEYS[] = {"match", "path_keys", "write_when", NULL};
static const char *const WHEN_KEYS[] = {"key", "any_of", NULL};

// A key that is misspelled would leave a tool unguarded. Anything but an object has no keys.
static bool keys_among(const json *object, const char *const *keys, text *why) {
    for (size_t index = 0; json_is(object, JSON_OBJECT) && index < object->count; index++) {
        const char *const *key = keys;
        while (*key != NULL && !text_is(object->names[index], *key)) {
            key++;
        }
        if (*key == NULL) {
            *why = text_join(TEXT("there is no key `"), object->names[index], TEXT("` in an entry of `tools`"));
            return false;
        }
    }
    return true;
}

static bool read_tool(const json *entry, tool *to, text *why) {
    if (!keys_among(entry, ENTRY_KEYS, why) || !keys_among(json_member(entry, "write_when"), WHEN_KEYS, why)) {
        return false;
    }
    maybe_text match = json_member_text(entry, "match");
    if (!match.given || match.value.length == 0) {
        *why = TEXT("an entry of `tools` has no `match`");
        return false;
    }
    *to = (tool){.match = match.value, .path_keys = PATH, .path_count = 1};
    const text *keys;
    size_t count;
    if (!texts_of(entry, "path_keys", &keys, &count, why)) {
        return false;
    }
    if (count > 0) {
        to->path_keys = keys, to->path_count = count;
    }
    const json *when = json_member(entry, "write_when");
    if (when == NULL) {
        return true;
    }
    to->key = json_member_text(when, "key");
    if (!to->key.given || !texts_of(when, "any_of", &to->any_of, &to->any_count, why) || to->any_count == 0) {
        *why = TEXT("`write_when` has to have a `key` and a list `any_of`");
        return false;
    }
    return true;
}

static bool read_tools(const json *config, const tool **tools, size_t *count, text *why) {
    const json *list = json_member(config, "tools");
    *tools = USUAL, *count = sizeof USUAL / sizeof *USUAL;
    if (list == NULL) {
        return true;
    }
    if (list->kind != JSON_ARRAY || list->count == 0) {
        *why = TEXT("`tools` has to be a list that is not empty");
        return false;
    }
    tool *own = arena_take(&call_memory, list->count, sizeof(tool));
    for (size_t index = 0; index < list->count; index++) {
        if (!read_tool(&list->items[index], &own[index], why)) {
            return false;
        }
    }
    *tools = own, *count = list->count;
    return true;
}

static bool writes(const tool *one, const json *input) {
    if (!one->key.given) {
        return true;
    }
    maybe_text found = json_member_text(input, text_terminated(&call_memory, one->key.value));
    for (size_t index = 0; found.given && index < one->any_count; index++) {
        if (text_equal(found.value, one->any_of[index])) {
            return true;
        }
    }
    return false;
}

// Of one text, or of a list of them.
static hook_answer judged(const protection *by, const json *value) {
    const json *items = value->kind == JSON_ARRAY ? value->items : value;
    size_t count = value->kind == JSON_ARRAY ? value->count : 1;
    for (size_t index = 0; index < count; index++) {
        text rule;
        if (items[index].kind != JSON_TEXT) {
            return answer_deny(TEXT("the path that would be written to is no text: "), items[index].spelled);
        }
        judgement found = protection_of(by, items[index].value, &rule);
        if (found != PATH_FREE) {
            return answer_deny(protection_reason(found, items[index].value, rule));
        }
    }
    return answer_none();
}

hook_answer on_tool_call(const tool_event *event) {
    protection by;
    const tool *tools;
    size_t count;
    text why;
    if (event->outcome.given) {
        return answer_none();
    }
    if (!protection_read(&by, KEYS, &why) || !read_tools(by.config, &tools, &count, &why)) {
        return answer_deny(TEXT("configuration error: "), why);
    }
    for (size_t index = 0; index < count; index++) {
        const tool *one = &tools[index];
        if (!text_equal(one->match, event->tool_name)) {
            continue;
        }
        const json *input = json_read(&call_memory, event->input, &why);
        if (!json_is(input, JSON_OBJECT)) {
            return answer_deny(TEXT("the input of "), event->tool_name, TEXT(" cannot be read"));
        }
        if (!writes(one, input)) {
            continue;
        }
        for (size_t key = 0; key < one->path_count; key++) {
            const json *value = json_member(input, text_terminated(&call_memory, one->path_keys[key]));
            hook_answer answer = value == NULL ? answer_none() : judged(&by, value);
            if (answer.arm != ANSWER_NONE) {
                return answer;
            }
        }
    }
    return answer_none();
}
