// Refuses shell commands that write to protected paths. It decides on what is executed: the arguments, the script of an
// interpreter, the recipe of a build; never on the text for display. It reads the text and looks at no file, so it is a
// guard against mistakes, not against somebody who hides what a command does. Where it sees that something is written,
// but not to what, it refuses if a protected path is named anywhere.
#include "guard.h"

#define DEEPEST 8        // scripts within scripts
#define MOST_FOLDERS 32  // subshells within one another

static const char *const KEYS[] = {"shell_write_binaries", NULL};

static void judge_script(guard *with, text script, unsigned depth);
static void judge_command(guard *with, const command *one, unsigned depth);

// Words that say how the next command is run.
static const struct {
    const char *name, *with_value;
    const char *const *longs;
    size_t operands;  // that come before it
} BEFORE[] = {
#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})
    {"sudo", "ugpCDhrtTUR", OPTIONS("u=user", "g=group", "D=chdir"), 0},
    {"doas", "uC", NULL, 0},
    {"env", "uC", OPTIONS("u=unset", "C=chdir"), 0},
    {"nice", "n", OPTIONS("n=adjustment"), 0},
    {"ionice", "cn", OPTIONS("c=class", "n=classdata"), 0},
    {"timeout", "ks", OPTIONS("k=kill-after", "s=signal"), 1},
    {"stdbuf", "ioe", OPTIONS("i=input", "o=output", "e=error"), 0},
    {"xargs", "nIPLdEsa", OPTIONS("n=max-args", "P=max-procs", "d=delimiter", "a=arg-file", "s=max-chars"), 0},
    {"time", "fo", OPTIONS("f=format", "o=output"), 0},
    {"exec", "a", NULL, 0},
    {"function", "", NULL, 1},
#undef OPTIONS
    {"nohup", "", NULL, 0},    {"setsid", "", NULL, 0}, {"command", "", NULL, 0}, {"builtin", "", NULL, 0},
    {"busybox", "", NULL, 0},  {"coproc", "", NULL, 0}, {"if", "", NULL, 0},      {"then", "", NULL, 0},
    {"elif", "", NULL, 0},     {"else", "", NULL, 0},   {"while", "", NULL, 0},   {"until", "", NULL, 0},
    {"do", "", NULL, 0},       {"{", "", NULL, 0},      {"!", "", NULL, 0},
};

static bool is_assignment(text word) {
    size_t equals = text_find(word, '=');
    for (size_t at = 0; at < equals; at++) {
        char byte = word.data[at];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
        bool later = (byte >= '0' && byte <= '9') || (byte == '+' && at + 1 == equals);
        if (!letter && !(at > 0 && later)) {
            return false;
        }
    }
    return equals > 0 && equals < word.length;
}

// How many words come before the command that is run.
static size_t leading_words(guard *with, const command *one) {
    size_t first = 0;
    for (bool more = true; more && first < one->count;) {
        text name = base_of(one->words[first].value);
        more = is_assignment(one->words[first].value);
        first += more;
        for (size_t index = 0; !more && index < sizeof BEFORE / sizeof *BEFORE; index++) {
            if (!text_is(name, BEFORE[index].name)) {
                continue;
            }
            option_table table = {.with_value = BEFORE[index].with_value, .longs = BEFORE[index].longs};
            command rest = from_word(one, first);
            option_reader from = options_of(&rest, &table);
            size_t operands = BEFORE[index].operands, behind = 0;
            from.leading = operands == 0;
            option each = {.letter = OTHER_OPTION};
            while (option_next(&from, &each) && (each.letter != OPERAND || operands-- > 0)) {
                behind = from.at;
            }
            with->operands_come = with->operands_come || text_is(name, "xargs");
            bool ended = each.letter == OPERAND && from.at > 0;  // at the command, behind a `--` if there is one
            first += 1 + (ended ? from.at - 1 : behind);
            more = true;
        }
    }
    return first;
}

// bash, sh and the like: a script of -c, a file that is not read, or what they are given as input.
static void judge_shell(guard *with, const command *one, unsigned depth) {
    static const option_table table = {.with_value = "oO"};
    option_reader from = options_of(one, &table);
    bool is_script = false, is_file = false;
    for (option each; option_next(&from, &each);) {
        is_script = is_script || each.letter == 'c';
        is_file = is_file || (each.letter == OPERAND && !is_script);
        if (each.letter == OPERAND && is_script) {
            if (each.value.expands) {
                unclear(with, each.value.value);
            }
            judge_script(with, each.value.value, depth + 1);
            return;
        }
    }
    if (one->input != NULL) {
        judge_script(with, *one->input, depth + 1);
    } else if (one->piped && !is_file) {
        unclear(with, one->words[0].value);
    }
}

// What find begins at is written to when it deletes, or runs something that writes.
static void judge_find(guard *with, const command *one, unsigned depth) {
    static const char *const RUNS[] = {"-exec", "-execdir", "-ok", "-okdir", NULL};
    bool outside = with->operands_come;
    with->operands_come = true;
    for (size_t index = 1; index < one->count; index++) {
        text word = one->words[index].value;
        if (text_is(word, "-delete")) {
            unclear(with, TEXT("find -delete"));
        } else if (one_of(word, RUNS) && index + 1 < one->count) {
            command run = from_word(one, index + 1);
            size_t end = 0;
            while (end < run.count && !text_is(run.words[end].value, ";") && !text_is(run.words[end].value, "+")) {
                end++;
            }
            run.count = end;
            judge_command(with, &run, depth + 1);
            index += end;
        }
    }
    with->operands_come = outside;
}

static void judge_eval(guard *with, const command *one, unsigned depth) {
    buffer script = buffer_in(&call_memory);
    for (size_t index = 1; index < one->count; index++) {
        put(&script, one->words[index].value);
        put_byte(&script, ' ');
        if (one->words[index].expands) {
            unclear(with, TEXT("eval"));
        }
    }
    judge_script(with, buffer_text(&script), depth + 1);
}

static void change_folder(guard *with, const command *one) {
    static const option_table table = {.with_value = ""};
    option_reader from = options_of(one, &table);
    shell_word to = {.expands = true};  // home, or back
    for (option each; option_next(&from, &each);) {
        to = each.letter == OPERAND ? each.value : to;
    }
    if (to.expands || to.pattern || text_is(to.value, "-") || text_starts(to.value, "~")) {
        with->folder = NO_TEXT;
    } else if (with->folder.given || text_starts(to.value, "/")) {
        with->folder = given(below(with->folder.given ? with->folder.value : TEXT(""), to.value));
    }
}

static void judge_named(guard *with, const command *one, unsigned depth) {
    static const char *const SHELLS[] = {"bash", "sh", "zsh", "fish", "dash", "ksh", NULL};
    static const char *const FOLDERS[] = {"cd", "pushd", "popd", NULL};
    static const option_table none = {.with_value = ""};
    text name = base_of(one->words[0].value);
    judge_form(with, one);
    for (size_t index = 0; index < with->writer_count; index++) {
        if (text_equal(name, with->writers[index])) {
            judge_operands(with, one, &none);
        }
    }
    if (one_of(name, SHELLS)) {
        judge_shell(with, one, depth);
    } else if (text_is(name, "find")) {
        judge_find(with, one, depth);
    } else if (text_is(name, "eval")) {
        judge_eval(with, one, depth);
    } else if (one_of(name, FOLDERS)) {
        change_folder(with, one);
    }
}

static void judge_command(guard *with, const command *one, unsigned depth) {
    bool outside = with->operands_come;
    if (one->count == 0) {
        return;
    }
    if (depth > DEEPEST) {
        unclear(with, TEXT("scripts within scripts"));
        return;
    }
    command run = from_word(one, leading_words(with, one));
    if (run.count > 0) {
        judge_named(with, &run, depth);
    }
    with->operands_come = outside;
}

typedef struct {
    shell_word *words;
    size_t count, room;
    text input;
    bool has_input, piped;
} pending;

static void add_word(const guard *with, pending *to, shell_word word) {
    while (with->recipe && to->count == 0 && word.value.length > 0 &&
           (word.value.data[0] == '@' || word.value.data[0] == '-' || word.value.data[0] == '+')) {
        word.value = text_part(word.value, 1, word.value.length);
    }
    if (to->count == 0 && word.value.length == 0) {
        return;
    }
    if (to->count == to->room) {
        shell_word *more = arena_take(&call_memory, to->room * 2 + 8, sizeof(shell_word));
        for (size_t index = 0; index < to->count; index++) {
            more[index] = to->words[index];
        }
        to->words = more, to->room = to->room * 2 + 8;
    }
    to->words[to->count++] = word;
}

static void end_command(guard *with, pending *of, bool piped, unsigned depth) {
    command one = {of->words, of->count, of->has_input ? &of->input : NULL, of->piped};
    judge_command(with, &one, depth);
    of->count = 0, of->has_input = false, of->piped = piped;
}

static void judge_inner(guard *with, text_list inner, unsigned depth) {
    for (size_t index = 0; index < inner.count; index++) {
        maybe_text outside = with->folder;
        judge_script(with, inner.items[index], depth + 1);
        with->folder = outside;
    }
}

static void judge_script(guard *with, text script, unsigned depth) {
    shell_reader from = {.script = script};
    pending now = {.count = 0};
    maybe_text folders[MOST_FOLDERS];
    size_t opened = 0;
    if (depth > DEEPEST) {
        unclear(with, TEXT("scripts within scripts"));
        return;
    }
    for (bool more = true; more && with->refused.length == 0;) {
        shell_token token = shell_next(&from);
        judge_inner(with, token.inner, depth);
        if (token.kind == SHELL_WORD) {
            add_word(with, &now, token.word);
        } else if (token.kind == SHELL_WRITE) {
            judge(with, &token.word);
        } else if (token.kind == SHELL_INPUT) {
            now.input = token.word.value, now.has_input = true;
        } else {
            end_command(with, &now, token.piped, depth);
            more = token.kind != SHELL_END && token.kind != SHELL_UNREADABLE;
        }
        if (token.kind == SHELL_UNREADABLE) {
            unclear(with, TEXT("a quote or a bracket that is never closed"));
        } else if (token.kind == SHELL_OPEN && opened++ < MOST_FOLDERS) {
            folders[opened - 1] = with->folder;
        } else if (token.kind == SHELL_CLOSE && opened > 0 && --opened < MOST_FOLDERS) {
            with->folder = folders[opened];
        }
    }
}

// Whether a protected path is named in *whole*, wherever it is.
static bool is_named(const guard *with, text whole, text *path, text *rule) {
    const text ends = TEXT(" \t\r\n;|&<>()`'\"${}[],=:\\@");
    for (size_t at = 0; at < whole.length;) {
        size_t start = at;
        while (at < whole.length && text_find(ends, whole.data[at]) == ends.length) {
            at++;
        }
        *path = text_part(whole, start, at - start);
        if (protection_of(&with->by, *path, rule) == PATH_PROTECTED) {
            return true;
        }
        at += at < whole.length;
    }
    return false;
}

static void judge_mention(guard *with, text whole) {
    text path, rule;
    if (with->unclear.length > 0 && is_named(with, whole, &path, &rule)) {
        refuse(with, text_join(TEXT("what is written to cannot be read (`"), with->unclear, TEXT("`), and "),
                               protection_reason(PATH_PROTECTED, path, rule)));
    }
}

static void begin(guard *with, bool recipe) {
    with->folder = given(TEXT(""));
    with->recipe = recipe;
    with->unclear = TEXT("");
}

static void judge_whole(guard *with, text script, bool recipe) {
    begin(with, recipe);
    judge_script(with, script, 0);
    judge_mention(with, script);
}

static void judge_arguments(guard *with, text binary, text_list argv) {
    shell_word *words = arena_take(&call_memory, argv.count + 1, sizeof(shell_word));
    words[0].value = binary;
    for (size_t index = 0; index < argv.count; index++) {
        words[index + 1].value = argv.items[index];
    }
    begin(with, false);
    judge_command(with, &(command){words, argv.count + 1, NULL, false}, 0);
    for (size_t index = 0; index < argv.count; index++) {
        judge_mention(with, argv.items[index]);
    }
}

hook_answer on_shell(const shell_event *event) {
    guard with = {.refused = TEXT("")};
    text why;
    if (event->outcome.given) {
        return answer_none();
    }
    if (!protection_read(&with.by, KEYS, &why) ||
        !texts_of(with.by.config, "shell_write_binaries", &with.writers, &with.writer_count, &why)) {
        return answer_deny(TEXT("configuration error: "), why);
    }
    judge_arguments(&with, event->binary, event->argv);
    if (event->script.given) {
        judge_whole(&with, event->script.value, false);
    }
    if (event->recipe.given) {
        judge_whole(&with, event->recipe.value, true);
    }
    return with.refused.length > 0 ? answer_deny(with.refused) : answer_none();
}
