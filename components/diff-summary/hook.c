// What the edits of a task have changed, as unified diffs, handed over with its answer.
#include "../lib/hook.h"

#include <string.h>

#define EDITOR "murmur-tool-editor"
#define MOST_BYTES 524288u   // of one side: beyond it there is no diff
#define MOST_LINES 300u      // changed ones that are shown
#define MOST_FILES 256u      // of one task
#define CONTEXT 2u           // lines around a change
#define MOST_EDITS 1024u     // steps that are looked for before a whole range counts as replaced

typedef struct {
    text path, before;
    bool had, too_large;
} snapshot;

static struct {
    arena memory;
    text session;
} session;

static struct {
    arena memory;
    snapshot files[MOST_FILES];
    size_t count;
} task;

static void forget(void) {
    arena_clear(&task.memory);
    memset(&task, 0, sizeof task);
}

hook_answer on_session_start(const session_context *event) {
    arena_clear(&session.memory);
    session.session = text_copy(&session.memory, event->session_id);
    forget();
    return answer_none();
}

hook_answer on_task_start(const task_start_event *event) {
    (void)event;
    forget();
    return answer_none();
}

// Before the first edit of a file in this task: what stands there.
static void snap(text path) {
    for (size_t index = 0; index < task.count; index++) {
        if (text_equal(task.files[index].path, path)) {
            return;
        }
    }
    if (task.count == MOST_FILES) {
        return;
    }
    text why;
    snapshot *one = &task.files[task.count++];
    one->path = text_copy(&task.memory, path);
    file_reading found = file_read(&task.memory, one->path, MOST_BYTES, &one->before, &why);
    one->had = found != FILE_MISSING;
    one->too_large = found == FILE_TOO_LARGE || found == FILE_FAILED;
}

static bool edits(const json *call) {
    maybe_text name = json_member_text(call, "name");
    maybe_text operation = json_member_text(json_member(call, "input"), "operation");
    return name.given && text_is(name.value, EDITOR) && operation.given &&
           (text_is(operation.value, "write_file") || text_is(operation.value, "replace_in_file"));
}

// The calls that a response asks for stand in its content blocks.
static void snap_all(text output) {
    text why;
    const json *blocks = json_read(&call_memory, output, &why);
    for (size_t index = 0; json_is(blocks, JSON_ARRAY) && index < blocks->count; index++) {
        const json *block = &blocks->items[index];
        maybe_text path = json_member_text(json_member(block, "input"), "path");
        if (edits(block) && path.given) {
            snap(path.value);
        }
    }
}

// Lines

static text_list lines_of(text whole) {
    size_t count = 0;
    for (size_t at = 0; at < whole.length; count++) {
        at += text_find(text_part(whole, at, whole.length), '\n') + 1;
    }
    text *found = arena_take(&call_memory, count + 1, sizeof(text));
    count = 0;
    for (size_t at = 0; at < whole.length; count++) {
        size_t length = text_find(text_part(whole, at, whole.length), '\n') + 1;
        found[count] = text_part(whole, at, length);
        at += length;
    }
    return (text_list){found, count};
}

typedef struct {
    bool *removed, *added;  // by line of the old text, and of the new one
} marks;

static uint32_t hash_of(text line) {
    uint32_t hash = 2166136261u;
    for (size_t index = 0; index < line.length; index++) {
        hash = (hash ^ (unsigned char)line.data[index]) * 16777619u;
    }
    return hash;
}

static uint32_t *hashes_of(text_list lines) {
    uint32_t *hashes = arena_take(&call_memory, lines.count + 1, sizeof(uint32_t));
    for (size_t index = 0; index < lines.count; index++) {
        hashes[index] = hash_of(lines.items[index]);
    }
    return hashes;
}

typedef struct {
    text_list old, now;
    const uint32_t *old_hashes, *now_hashes;
} sides;

static bool same(const sides *both, size_t old, size_t now) {
    return both->old_hashes[old] == both->now_hashes[now] && text_equal(both->old.items[old], both->now.items[now]);
}

// Myers' greedy search between `from` and the two ends, keeping each round for the way back. False where it would take
// more steps than are looked for: what is between then counts as replaced.
static bool shortest(const sides *both, size_t from, size_t old_end, size_t now_end, marks *found) {
    ptrdiff_t old_count = (ptrdiff_t)(old_end - from), now_count = (ptrdiff_t)(now_end - from);
    ptrdiff_t most = old_count + now_count < (ptrdiff_t)MOST_EDITS ? old_count + now_count : (ptrdiff_t)MOST_EDITS;
    ptrdiff_t *furthest = arena_take(&call_memory, (size_t)(2 * most + 3), sizeof(ptrdiff_t));
    ptrdiff_t **rounds = arena_take(&call_memory, (size_t)most + 1, sizeof(ptrdiff_t *));
    ptrdiff_t *middle = furthest + most + 1;
    ptrdiff_t round = 0, diagonal = 0, at = 0;
    bool done = false;
    for (round = 0; round <= most && !done; round++) {
        rounds[round] = arena_take(&call_memory, (size_t)(2 * round + 3), sizeof(ptrdiff_t));
        memcpy(rounds[round], middle - round - 1, (size_t)(2 * round + 3) * sizeof(ptrdiff_t));
        for (diagonal = -round; diagonal <= round; diagonal += 2) {
            bool down = diagonal == -round || (diagonal != round && middle[diagonal - 1] < middle[diagonal + 1]);
            at = down ? middle[diagonal + 1] : middle[diagonal - 1] + 1;
            while (at < old_count && at - diagonal < now_count &&
                   same(both, from + (size_t)at, from + (size_t)(at - diagonal))) {
                at++;
            }
            middle[diagonal] = at;
            if (at >= old_count && at - diagonal >= now_count) {
                done = true;
                break;
            }
        }
    }
    if (!done) {
        return false;
    }
    for (round -= 1, at = old_count; round > 0; round--) {
        const ptrdiff_t *before = rounds[round] + round + 1;
        bool down = diagonal == -round || (diagonal != round && before[diagonal - 1] < before[diagonal + 1]);
        diagonal += down ? 1 : -1;
        at = before[diagonal];
        if (down) {
            found->added[from + (size_t)(at - diagonal)] = true;
        } else {
            found->removed[from + (size_t)at] = true;
        }
    }
    return true;
}

static marks compared(text_list old, text_list now) {
    sides both = {old, now, hashes_of(old), hashes_of(now)};
    marks found = {arena_take(&call_memory, old.count + 1, 1), arena_take(&call_memory, now.count + 1, 1)};
    size_t from = 0, old_end = old.count, now_end = now.count;
    while (from < old_end && from < now_end && same(&both, from, from)) {
        from++;
    }
    while (old_end > from && now_end > from && same(&both, old_end - 1, now_end - 1)) {
        old_end--, now_end--;
    }
    if (!shortest(&both, from, old_end, now_end, &found)) {
        memset(found.removed + from, 1, old_end - from);
        memset(found.added + from, 1, now_end - from);
    }
    return found;
}

// Hunks

typedef struct {
    size_t old_start, old_count, now_start, now_count;  // lines from 0
} hunk;

typedef struct {
    buffer diff;
    hunk *hunks;
    size_t hunk_count, added, removed, shown;
} summary;

static void put_line(summary *to, char sign, text line) {
    bool changed = sign != ' ';
    if (to->added + to->removed > MOST_LINES && to->shown >= MOST_LINES) {
        return;  // cut
    }
    to->shown += changed;
    put_byte(&to->diff, sign);
    put(&to->diff, line);
    if (!text_ends(line, "\n")) {
        put(&to->diff, TEXT("\n\\ No newline at end of file\n"));
    }
}

static void put_range(buffer *to, char sign, size_t start, size_t count) {
    put_byte(to, sign);
    put_u64(to, count == 0 ? start : start + 1);
    put_byte(to, ',');
    put_u64(to, count);
}

static void put_hunk(summary *to, const hunk *one, text_list old, text_list now, const marks *found) {
    if (to->added + to->removed > MOST_LINES && to->shown >= MOST_LINES) {
        return;
    }
    put(&to->diff, TEXT("@@ "));
    put_range(&to->diff, '-', one->old_start, one->old_count);
    put_byte(&to->diff, ' ');
    put_range(&to->diff, '+', one->now_start, one->now_count);
    put(&to->diff, TEXT(" @@\n"));
    size_t left = one->old_start, right = one->now_start;
    while (left < one->old_start + one->old_count || right < one->now_start + one->now_count) {
        if (left < one->old_start + one->old_count && found->removed[left]) {
            put_line(to, '-', old.items[left++]);
        } else if (right < one->now_start + one->now_count && found->added[right]) {
            put_line(to, '+', now.items[right++]);
        } else {
            put_line(to, ' ', old.items[left++]);
            right++;
        }
    }
}

// Where the changes are, those that are close to one another in one hunk.
static void find_hunks(summary *to, text_list old, text_list now, const marks *found) {
    to->hunks = arena_take(&call_memory, old.count + now.count + 1, sizeof(hunk));
    size_t left = 0, right = 0;
    hunk *open = NULL;
    while (left < old.count || right < now.count) {
        bool removed = left < old.count && found->removed[left], added = right < now.count && found->added[right];
        if (removed || added) {
            if (open == NULL || left > open->old_start + open->old_count + 2 * CONTEXT) {
                size_t lead = left < CONTEXT ? left : CONTEXT;
                open = &to->hunks[to->hunk_count++];
                *open = (hunk){left - lead, lead, right - lead, lead};
            }
            left += removed, right += !removed;
            to->removed += removed, to->added += !removed;
            open->old_count = left - open->old_start;
            open->now_count = right - open->now_start;
            continue;
        }
        left++, right++;
    }
    for (size_t index = 0; index < to->hunk_count; index++) {
        hunk *one = &to->hunks[index];
        size_t rest = old.count - one->old_start - one->old_count, tail = rest < CONTEXT ? rest : CONTEXT;
        one->old_count += tail, one->now_count += tail;
    }
}

// Files

static const struct {
    const char *suffix, *language;
} LANGUAGES[] = {
    {".c", "c"},           {".h", "c"},          {".cc", "cpp"},          {".cpp", "cpp"},   {".hpp", "cpp"},
    {".cs", "csharp"},     {".css", "css"},      {".go", "go"},           {".html", "html"}, {".java", "java"},
    {".js", "javascript"}, {".mjs", "javascript"}, {".jsx", "javascript"}, {".json", "json"}, {".kt", "kotlin"},
    {".lua", "lua"},       {".md", "markdown"},  {".php", "php"},         {".py", "python"}, {".rb", "ruby"},
    {".rs", "rust"},       {".scss", "scss"},    {".sh", "shell"},        {".bash", "shell"}, {".sql", "sql"},
    {".swift", "swift"},   {".toml", "toml"},    {".ts", "typescript"},   {".tsx", "typescript"}, {".wit", "wit"},
    {".xml", "xml"},       {".yaml", "yaml"},    {".yml", "yaml"},        {"Dockerfile", "dockerfile"},
    {"Makefile", "makefile"}, {"justfile", "just"},
};

static text language_of(text path) {
    for (size_t index = 0; index < sizeof LANGUAGES / sizeof *LANGUAGES; index++) {
        if (text_ends(path, LANGUAGES[index].suffix)) {
            return text_of(LANGUAGES[index].language);
        }
    }
    return TEXT("text");
}

static bool is_binary(text content) {
    return text_find(content, '\0') < content.length || !text_is_utf8(content);
}

static void put_hunks(json_writer *out, const summary *found) {
    json_name(out, "hunks");
    json_open(out, '[');
    for (size_t index = 0; index < found->hunk_count; index++) {
        const hunk *one = &found->hunks[index];
        json_open(out, '{');
        json_field(out, "old_start", u64, one->old_count == 0 ? one->old_start : one->old_start + 1);
        json_field(out, "old_count", u64, one->old_count);
        json_field(out, "new_start", u64, one->now_count == 0 ? one->now_start : one->now_start + 1);
        json_field(out, "new_count", u64, one->now_count);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void put_nothing(json_writer *out) {
    json_name(out, "diff");
    json_put_null(out);
    static const char *const counts[] = {"added_lines", "removed_lines", "total_changed_lines"};
    for (size_t index = 0; index < 3; index++) {
        json_name(out, counts[index]);
        json_put_null(out);
    }
    json_field(out, "truncated", bool, true);
}

static void put_diff(json_writer *out, text path, text before, text after) {
    text_list old = lines_of(before), now = lines_of(after);
    marks found = compared(old, now);
    summary all = {.diff = buffer_in(&call_memory)};
    find_hunks(&all, old, now, &found);
    put(&all.diff, text_join(TEXT("--- a/"), path, TEXT("\n+++ b/"), path, TEXT("\n")));
    for (size_t index = 0; index < all.hunk_count; index++) {
        put_hunk(&all, &all.hunks[index], old, now, &found);
    }
    json_field(out, "diff", text, buffer_text(&all.diff));
    put_hunks(out, &all);
    json_field(out, "added_lines", u64, all.added);
    json_field(out, "removed_lines", u64, all.removed);
    json_field(out, "total_changed_lines", u64, all.added + all.removed);
    json_field(out, "truncated", bool, all.added + all.removed > MOST_LINES);
}

static void put_file(json_writer *out, const snapshot *one) {
    text after = TEXT(""), why;
    file_reading found = file_read(&call_memory, one->path, MOST_BYTES, &after, &why);
    bool too_large = one->too_large || found == FILE_TOO_LARGE || found == FILE_FAILED;
    if (!too_large && text_equal(one->before, after) && one->had == (found != FILE_MISSING)) {
        return;  // edited to what it was
    }
    json_open(out, '{');
    json_field(out, "path", text, one->path);
    json_field(out, "language", text, language_of(one->path));
    if (too_large) {
        put_nothing(out);
    } else if (is_binary(one->before) || is_binary(after)) {
        json_field(out, "binary", bool, true);
    } else {
        put_diff(out, one->path, one->before, after);
    }
    json_close(out, '}');
}

static hook_answer summarised(void) {
    buffer body = buffer_in(&call_memory);
    json_writer out = json_to(&body);
    json_open(&out, '{');
    json_field(&out, "session_id", text, session.session);
    json_name(&out, "files");
    json_open(&out, '[');
    for (size_t index = 0; index < task.count; index++) {
        put_file(&out, &task.files[index]);
    }
    json_close(&out, ']');
    json_close(&out, '}');
    forget();
    return answer_artifact(buffer_text(&body));
}

hook_answer on_inference(const inference_event *event) {
    if (text_is(event->decision, "end_turn")) {
        return summarised();
    }
    if (event->output.given) {
        snap_all(event->output.value);
    }
    return answer_none();
}
