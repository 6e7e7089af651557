// Puts before a task what was said before in its conversation: what shares words with the task, or else the newest.
#include "../lib/hook.h"

#include <stdlib.h>

#define PAGE 100u
#define MOST_PAGES 64u
#define MOST_READ 2000u     // messages that are looked at
#define MOST_SEEDED 40u
#define TASK_BYTES 8192u    // of the task's text
#define SHARE 95u           // percent of the budget: counts differ a little by what stands around a message
#define SHORTEST_WORD 3u    // characters: shorter ones are in every text

static const char *const ROLES[] = {"user", "assistant", "tool", "developer"};
#define ROLE_COUNT (sizeof ROLES / sizeof *ROLES)

typedef struct {
    text role, words, id;
    size_t age;  // 0 is the newest
    uint64_t shared;
} memory;

static bool read_roles(bool *wanted, text *why) {
    const json *config;
    if (!hook_config(&call_memory, &config, why)) {
        return false;
    }
    for (size_t index = 0; config != NULL && index < config->count; index++) {
        if (!text_is(config->names[index], "seed_roles")) {
            *why = text_join(TEXT("there is no key `"), config->names[index], TEXT("`"));
            return false;
        }
    }
    const json *list = json_member(config, "seed_roles");
    for (size_t role = 0; role < ROLE_COUNT; role++) {
        wanted[role] = list == NULL;
    }
    if (list == NULL) {
        return true;
    }
    if (list->kind != JSON_ARRAY || list->count == 0) {
        *why = TEXT("`seed_roles` has to be a list that is not empty");
        return false;
    }
    for (size_t index = 0; index < list->count; index++) {
        size_t role = 0;
        while (role < ROLE_COUNT && !(list->items[index].kind == JSON_TEXT && text_is(list->items[index].value, ROLES[role]))) {
            role++;
        }
        if (role == ROLE_COUNT) {
            *why = text_join(TEXT("`seed_roles` holds what is no role: "), list->items[index].spelled);
            return false;
        }
        wanted[role] = true;
    }
    return true;
}

static bool is_wanted(text role, const bool *wanted) {
    for (size_t index = 0; index < ROLE_COUNT; index++) {
        if (text_is(role, ROLES[index])) {
            return wanted[index];
        }
    }
    return false;  // such as `system`, which is no memory
}

static void put_blocks(buffer *to, const json *content) {
    if (json_is(content, JSON_TEXT)) {
        put(to, content->value);
    }
    for (size_t index = 0; json_is(content, JSON_ARRAY) && index < content->count; index++) {
        maybe_text words = json_member_text(&content->items[index], "text");
        if (words.given) {
            if (to->length > 0) {
                put_byte(to, '\n');
            }
            put(to, words.value);
        }
    }
}

// The text of a message, without what only the runtime reads.
static text words_of(text content) {
    text why;
    const json *read = json_read(&call_memory, content, &why);
    buffer words = buffer_in(&call_memory);
    if (read == NULL) {
        return content;
    }
    put_blocks(&words, json_is(read, JSON_OBJECT) ? json_member(read, "body") : read);
    return text_trim(buffer_text(&words));
}

// How many words of *words*, each of them once, stand in *task*.
static bool in_word(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_' ||
           (byte & 0x80);
}

static char lower(char byte) {
    return byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : byte;
}

static int by_text(const void *one, const void *other) {
    return text_order(*(const text *)one, *(const text *)other);
}

// The words of a text in lower case, sorted, each once.
static text_list vocabulary(text whole) {
    text *found = arena_take(&call_memory, whole.length / 2 + 1, sizeof(text));
    size_t count = 0;
    for (size_t at = 0; at < whole.length;) {
        size_t start = at;
        while (at < whole.length && in_word(whole.data[at])) {
            at++;
        }
        if (at - start >= SHORTEST_WORD) {
            char *word = arena_take(&call_memory, at - start, 1);
            for (size_t index = 0; index < at - start; index++) {
                word[index] = lower(whole.data[start + index]);
            }
            found[count++] = (text){word, at - start};
        }
        at += at == start;
    }
    qsort(found, count, sizeof(text), by_text);
    size_t kept = 0;
    for (size_t index = 0; index < count; index++) {
        if (kept == 0 || !text_equal(found[kept - 1], found[index])) {
            found[kept++] = found[index];
        }
    }
    return (text_list){found, kept};
}

static uint64_t shared_words(text_list one, text_list other) {
    uint64_t shared = 0;
    for (size_t left = 0, right = 0; left < one.count && right < other.count;) {
        int order = text_order(one.items[left], other.items[right]);
        shared += order == 0;
        left += order <= 0, right += order >= 0;
    }
    return shared;
}

static int by_worth(const void *one, const void *other) {
    const memory *left = one, *right = other;
    if (left->shared != right->shared) {
        return left->shared > right->shared ? -1 : 1;
    }
    return left->age < right->age ? -1 : left->age > right->age;
}

static int by_age(const void *one, const void *other) {
    const memory *left = one, *right = other;
    return left->age > right->age ? -1 : left->age < right->age;
}

// Every message of the record that may be seeded, newest first. False: it cannot be read, for the reason *why*.
static bool recall(const bool *wanted, memory *found, size_t *count, text *why) {
    maybe_text cursor = NO_TEXT;
    size_t seen = 0;
    for (size_t pages = 0; pages < MOST_PAGES; pages++) {
        message_page page;
        if (!read_messages(cursor, PAGE, &page, why)) {
            return false;
        }
        for (size_t index = 0; index < page.messages.count && seen < MOST_READ; index++, seen++) {
            const message *one = &page.messages.items[index];
            text words = one->source_id.given || !is_wanted(one->role, wanted) ? TEXT("") : words_of(one->content);
            if (words.length > 0 && one->id.given) {
                bool by_model = text_is(one->role, "assistant");
                found[(*count)++] = (memory){by_model ? TEXT("assistant") : TEXT("user"), words, one->id.value, seen, 0};
            }
        }
        cursor = page.next_cursor;
        if (!cursor.given || seen >= MOST_READ) {
            break;
        }
    }
    return true;
}

hook_answer on_task_start(const task_start_event *event) {
    bool wanted[ROLE_COUNT];
    text why;
    if (!read_roles(wanted, &why)) {
        return answer_err(TEXT("configuration error: "), why);
    }
    if (event->budget_tokens == 0 || event->prior_tokens > 0) {
        return answer_none();
    }
    memory *found = arena_take(&call_memory, MOST_READ, sizeof(memory));
    size_t count = 0;
    if (!recall(wanted, found, &count, &why)) {
        if (text_is(why, "not-granted")) {
            return answer_err(TEXT("the conversation cannot be read: grant capabilities.conversation.read to this hook"));
        }
        return answer_err(TEXT("the conversation cannot be read: "), why);
    }
    text task;
    if (task_input(TASK_ORIGINAL, 0, TASK_BYTES, &task) == TASK_READ) {
        text_list asked = vocabulary(task);
        for (size_t index = 0; index < count; index++) {
            found[index].shared = shared_words(asked, vocabulary(found[index].words));
        }
    }
    qsort(found, count, sizeof(memory), by_worth);
    uint64_t room = event->budget_tokens / 100 * SHARE + event->budget_tokens % 100 * SHARE / 100;
    size_t kept = 0;
    for (size_t index = 0; index < count && kept < MOST_SEEDED; index++) {
        uint64_t size = count_tokens(json_quoted(found[index].words)) + 12;  // what stands around it on its way
        if (size <= room) {
            room -= size;
            found[kept++] = found[index];
        }
    }
    if (kept == 0) {
        return answer_none();
    }
    qsort(found, kept, sizeof(memory), by_age);
    message *seeds = arena_take(&call_memory, kept, sizeof(message));
    for (size_t index = 0; index < kept; index++) {
        seeds[index] = (message){found[index].role, json_quoted(found[index].words), NO_TEXT, given(found[index].id)};
    }
    return answer_seed_context(seeds, kept);
}
