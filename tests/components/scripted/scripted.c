/* A hook for tests: what it does at each event stands in SCRIPT, which a test writes into the built component.
 *
 * SCRIPT is lines of `function=action`, the first that fits counts; `function!` is the decision point of a gated one.
 * Actions: none, deny:TEXT, artifact:TEXT, reopen:TEXT, seed:TEXT, replace:TEXT (one user message, TEXT its JSON),
 * seeds:COUNT:TEXT (so many of them), lost:TEXT (one of the assistant takes the place of all),
 * manifest:NAME:TEXT, err:TEXT, trap, spin, hog, recurse, badtag, badptr, many (100,000 messages), count (artifact: how
 * often it was called), infer:TEXT, tokens:TEXT, input, original, output, page (artifact or err: what the host said).
 * No libc and no WASI. Without -DASKS it imports nothing at all, and has no action that asks: then it runs within the
 * host's own process. */

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define ROOM 4096
volatile const char SCRIPT[ROOM] = "@@SCRIPT@@";

#define EXPORT(name) __attribute__((export_name("murmur:hook/lifecycle@0.8.0#" name)))
#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))

extern u8 __heap_base;
static u8 *top = &__heap_base;
static u32 calls;

static void *take(u32 size, u32 align) {
    top = (u8 *)(((u32)top + align - 1) & ~(align - 1));
    u8 *found = top;
    top += size;
    while ((u32)top > __builtin_wasm_memory_size(0) * 65536u)
        if (__builtin_wasm_memory_grow(0, 16) == (__SIZE_TYPE__)-1) __builtin_trap();
    return found;
}

__attribute__((export_name("cabi_realloc"))) void *cabi_realloc(void *old, u32 old_size, u32 align, u32 size) {
    u8 *made = take(size, align);
    for (u32 i = 0; i < old_size && i < size; i++) made[i] = ((u8 *)old)[i];
    return made;
}

typedef struct { const char *ptr; u32 len; } str;
typedef struct { u8 is_some; str value; } opt;
typedef struct { str role, content; opt id, source; } message;
typedef struct { str name, content; } manifest;
typedef struct { u8 is_err; u8 a[3]; u8 tag; u8 b[3]; str value; } result; /* an err stands at tag and value.ptr */

#ifdef ASKS
IMPORT("murmur:runtime/inference@0.3.0", "run-inference") void run_inference(void *m, u32 n, u32, void *, u32, u32, void *, u32, void *ret);
IMPORT("murmur:runtime/tokens@0.3.0", "count") u64 tokens_count(const char *, u32);
IMPORT("murmur:task-io/read@0.1.0", "read-input") void read_input(u32 form, u64 offset, u64 most, void *ret);
IMPORT("murmur:task-io/read@0.1.0", "read-output") void read_output(u64 offset, u64 most, void *ret);
IMPORT("murmur:conversation/read@0.1.0", "read-messages") void read_messages(u32, void *, u32, u32 limit, void *ret);
#endif

static result out;

static result *answer(u8 tag, const void *ptr, u32 len) {
    out.is_err = 0, out.tag = tag, out.value.ptr = ptr, out.value.len = len;
    return &out;
}

static result *failed(const char *ptr, u32 len) {
    out.is_err = 1;
    *(const char **)&out.tag = ptr;
    *(u32 *)((u8 *)&out + 8) = len;
    return &out;
}

static str number(u64 value) {
    char *end = (char *)take(24, 1) + 24, *at = end;
    do *--at = '0' + value % 10; while (value /= 10);
    return (str){at, end - at};
}

static int same(const char *word, const char *text, u32 len) {
    u32 i = 0;
    for (; word[i]; i++)
        if (i >= len || text[i] != word[i]) return 0;
    return i == len;
}

/* The action for a function, its text in *rest. */
static str action_for(const char *function, int decides, str *rest) {
    char *script = take(ROOM, 1);
    u32 end = 0;
    for (; end < ROOM && SCRIPT[end]; end++) script[end] = SCRIPT[end];
    for (u32 at = 0; at < end;) {
        u32 line = at, sign = at;
        while (at < end && script[at] != '\n') at++;
        while (sign < at && script[sign] != '=') sign++;
        u32 name = sign - line, wants_decision = name && script[sign - 1] == '!';
        if (same(function, script + line, name - wants_decision) && (!wants_decision || decides)) {
            u32 colon = sign + 1;
            while (colon < at && script[colon] != ':') colon++;
            *rest = (str){script + colon + 1, colon < at ? at - colon - 1 : 0};
            return (str){script + sign + 1, colon - sign - 1};
        }
        at++;
    }
    return (str){"none", 4};
}

static u32 recurse(u32 depth) { volatile u8 room[256]; room[0] = depth; return recurse(depth + 1) + room[0]; }

static result *list_of_one(u8 tag, str text) {
    message *made = take(sizeof *made, 4);
    *made = (message){{"user", 4}, text, {0, {0, 0}}, {0, {0, 0}}};
    return answer(tag, made, 1);
}

#ifdef ASKS
static result *told(u8 *said, str names[]) { /* result<string, error> */
    if (said[0] == 0) return answer(3, *(char **)(said + 4), *(u32 *)(said + 8));
    if (names) return failed(names[said[4]].ptr, names[said[4]].len);
    return failed(*(char **)(said + 4), *(u32 *)(said + 8));
}

static str ERRORS[] = {{"not-granted", 11}, {"no-task", 7}, {"no-output", 9}, {"out-of-range", 12}};
#endif

static result *play(const char *function, int decides) {
    str rest = {0, 0};
    str act = action_for(function, decides, &rest);
    calls++;
#define IS(word) same(word, act.ptr, act.len)
    if (IS("deny")) return answer(6, rest.ptr, rest.len);
    if (IS("artifact")) return answer(3, rest.ptr, rest.len);
    if (IS("reopen")) return answer(4, rest.ptr, rest.len);
    if (IS("seed")) return list_of_one(5, rest);
    if (IS("replace")) return list_of_one(1, rest);
    if (IS("lost")) {
        result *one = list_of_one(1, rest);
        ((message *)one->value.ptr)->role = (str){"assistant", 9};
        return one;
    }
    if (IS("seeds")) {
        u32 count = 0, at = 0;
        for (; at < rest.len && rest.ptr[at] != ':'; at++) count = count * 10 + (rest.ptr[at] - '0');
        message *made = take(count * sizeof *made, 4);
        for (u32 i = 0; i < count; i++)
            made[i] = (message){{"user", 4}, {rest.ptr + at + 1, rest.len - at - 1}, {0, {0, 0}}, {0, {0, 0}}};
        return answer(5, made, count);
    }
    if (IS("err")) return failed(rest.ptr, rest.len);
    if (IS("manifest")) {
        manifest *made = take(sizeof *made, 4);
        u32 colon = 0;
        while (colon < rest.len && rest.ptr[colon] != ':') colon++;
        *made = (manifest){{rest.ptr, colon}, {rest.ptr + colon + 1, rest.len - colon - 1}};
        return answer(2, made, 1);
    }
    if (IS("trap")) __builtin_trap();
    if (IS("spin")) for (volatile u32 i = 0;; i++) {}
    if (IS("hog")) for (;;) take(1 << 20, 1);
    if (IS("recurse")) return answer(recurse(0) ? 0 : 0, 0, 0);
    if (IS("badtag")) return answer(200, 0, 0);
    if (IS("badptr")) return answer(3, (void *)0xfffffff0u, 1000);
    if (IS("many")) {
        message *made = take(100000 * sizeof *made, 4);
        for (u32 i = 0; i < 100000; i++) made[i] = (message){{"user", 4}, {"\"m\"", 3}, {0, {0, 0}}, {0, {0, 0}}};
        return answer(1, made, 100000);
    }
    if (IS("count")) { str n = number(calls); return answer(3, n.ptr, n.len); }
#ifdef ASKS
    if (IS("tokens")) { str n = number(tokens_count(rest.ptr, rest.len)); return answer(3, n.ptr, n.len); }
    u8 *said = take(64, 8);
    if (IS("infer")) {
        struct { str role, content; } *asked = take(sizeof *asked, 4);
        asked->role = (str){"user", 4}, asked->content = rest;
        run_inference(asked, 1, 0, 0, 0, 0, 0, 0, said);
        return said[0] ? failed(*(char **)(said + 8), *(u32 *)(said + 12)) : answer(3, *(char **)(said + 8), *(u32 *)(said + 12));
    }
    if (IS("input") || IS("original")) { read_input(IS("original"), 0, 1000, said); return told(said, ERRORS); }
    if (IS("output")) { read_output(0, 1000, said); return told(said, ERRORS); }
    if (IS("page")) {
        read_messages(0, 0, 0, 10, said);
        if (said[0]) return told(said, 0);
        str n = number(*(u32 *)(said + 24));
        return answer(3, n.ptr, n.len);
    }
#endif
    return answer(0, 0, 0);
}

EXPORT("on-stage") result *on_stage(void *a, u32 b) { return play("on-stage", 0); }
EXPORT("on-session-start") result *on_session_start(void *a, u32 b, void *c, u32 d, void *e, u32 f, void *g, u32 h, void *i, u32 j) { return play("on-session-start", 0); }
EXPORT("on-task-start") result *on_task_start(void *a, u32 b, void *c, u32 d, void *e, u32 f, u64 g, u64 h, u64 i, u64 j) { return play("on-task-start", 0); }
EXPORT("on-inference") result *on_inference(void *a) { return play("on-inference", 0); }
EXPORT("on-tool-call") result *on_tool_call(u32 a, void *b, u32 c, u64 d, void *e, u32 f, u32 has_outcome, u64 h, u64 i, void *j, u32 k) { return play("on-tool-call", !has_outcome); }
EXPORT("on-shell") result *on_shell(u8 *event) { return play("on-shell", !event[56]); }
EXPORT("on-compaction") result *on_compaction(void *a, u32 b, u64 c, double d, u32 e, void *f, u32 g, u32 h, void *i, u32 j) { return play("on-compaction", 0); }
EXPORT("on-task-end") result *on_task_end(void *a, u32 b, void *c, u32 d) { return play("on-task-end", 0); }
EXPORT("on-session-end") result *on_session_end(u32 a, u64 b, u64 c, u32 d, u32 e, u64 f, void *g, u32 h) { return play("on-session-end", 0); }

#define POST(name) __attribute__((export_name("cabi_post_murmur:hook/lifecycle@0.8.0#" name)))
static void reset(void) { top = &__heap_base; }
POST("on-stage") void p0(void *r) { reset(); }
POST("on-session-start") void p1(void *r) { reset(); }
POST("on-task-start") void p2(void *r) { reset(); }
POST("on-inference") void p3(void *r) { reset(); }
POST("on-tool-call") void p4(void *r) { reset(); }
POST("on-shell") void p5(void *r) { reset(); }
POST("on-compaction") void p6(void *r) { reset(); }
POST("on-task-end") void p7(void *r) { reset(); }
POST("on-session-end") void p8(void *r) { reset(); }
