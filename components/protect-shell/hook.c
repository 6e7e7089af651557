// Refuses shell commands that write to protected paths. It decides on what is executed: the arguments, the script of an
// interpreter, the recipe of a build; never on the text for display. It reads the text and looks at no file, so it is a
// guard against mistakes, not against somebody who hides what a command does. Where it sees that something is written,
// but not to what, it refuses if a protected path is named anywhere.
#include "../lib/hook.h"
#include "../lib/options.h"
#include "../lib/protect.h"
#include "../lib/shell.h"

#define DEEPEST 8       // scripts within scripts
#define MOST_FOLDERS 32 // subshells within one another

static const char *const KEYS[] = {"shell_write_binaries", NULL};

typedef struct {
    protection by;
    const text *writers;  // of the configuration
    size_t writer_count;
    maybe_text folder;   // that paths begin at; not given where nobody can say
    bool recipe;         // lines may begin with what `make` and `just` take off
    bool operands_come;  // from somewhere else, in part: xargs, find
    text refused;        // why, empty while nothing is
    text unclear;        // what is written to nobody can say where, empty while nothing is
} guard;

typedef struct {
    const shell_word *words;
    size_t count;
    const text *input;  // NULL: none that can be read
    bool piped;         // it is given the output of another
} command;

static void refuse(guard *with, text why) {
    if (with->refused.length == 0) {
        with->refused = why;
    }
}

static void unclear(guard *with, text what) {
    if (with->unclear.length == 0) {
        with->unclear = what;
    }
}

static text below(text folder, text path) {
    bool whole = folder.length == 0 || text_starts(path, "/") || text_starts(path, "~") || text_starts(path, "$");
    return whole ? path : text_join(folder, TEXT("/"), path);
}

static void judge(guard *with, const shell_word *word) {
    text path = below(with->folder.given ? with->folder.value : TEXT(""), word->value), rule;
    judgement found = word->pattern ? protection_of_pattern(&with->by, path, &rule) : protection_of(&with->by, path, &rule);
    bool anchored = text_starts(path, "/") || with->folder.given;
    if (word->expands || !anchored) {
        unclear(with, word->value);
    }
    if (found == PATH_PROTECTED || (found == PATH_ESCAPES && anchored && word->value.length > 0)) {
        refuse(with, protection_reason(found, path, rule));
    }
}

// The command is one that writes: what it is given by others it writes to as well.
static void writes(guard *with, text name) {
    if (with->operands_come) {
        unclear(with, name);
    }
}

static bool one_of(text name, const char *const *names) {
    for (; *names != NULL; names++) {
        if (text_is(name, *names)) {
            return true;
        }
    }
    return false;
}

// The last component of a path.
static text base_of(text path) {
    size_t start = 0;
    for (size_t at = 0; at < path.length; at++) {
        start = path.data[at] == '/' && at + 1 < path.length ? at + 1 : start;
    }
    return text_part(path, start, path.length);
}

static option_reader options_of(const command *one, const option_table *table) {
    return (option_reader){.words = one->words + 1, .count = one->count - 1, .table = table};
}

static command from_word(const command *one, size_t first) {
    return (command){one->words + first, one->count - first, one->input, one->piped};
}

static void judge_operands(guard *with, const command *one, const option_table *table) {
    option_reader from = options_of(one, table);
    for (option each; option_next(&from, &each);) {
        if (each.letter == OPERAND) {
            judge(with, &each.value);
        }
    }
    writes(with, one->words[0].value);
}

// cp, mv, install, ln: into the last operand or the folder of -t; what is moved is gone from where it was.
static void judge_destination(guard *with, const command *one, const option_table *table) {
    option_reader from = options_of(one, table);
    shell_word into = {.expands = false}, last = into;
    size_t operands = 0;
    bool makes_folders = false, takes = text_is(base_of(one->words[0].value), "mv");
    for (option each; option_next(&from, &each);) {
        if (each.letter == 't') {
            into = each.value;
        } else if (each.letter == 'd' && text_is(base_of(one->words[0].value), "install")) {
            makes_folders = true;
        } else if (each.letter == OPERAND) {
            last = each.value, operands++;
        }
    }
    bool folder = into.value.length > 0;
    if (!folder && operands > 1) {
        into = last;
    }
    if (makes_folders || (takes && operands > 0)) {
        judge_operands(with, one, table);
    }
    judge(with, &into);
    writes(with, one->words[0].value);
    from = options_of(one, table);
    for (option each; !makes_folders && option_next(&from, &each);) {
        if (each.letter == OPERAND && (folder || operands-- > 1 || into.value.length == 0)) {
            shell_word inside = each.value;  // a folder takes the names of what comes into it
            inside.expands = false;
            inside.value = into.value.length == 0 ? base_of(inside.value)
                                                  : text_join(into.value, TEXT("/"), base_of(inside.value));
            judge(with, &inside);
        }
    }
}

static void judge_sed(guard *with, const command *one, const option_table *table) {
    option_reader from = options_of(one, table);
    bool in_place = false, script = true;
    for (option each; option_next(&from, &each);) {
        in_place = in_place || each.letter == 'i';
        script = script && each.letter != 'e' && each.letter != 'f';
    }
    from = options_of(one, table);
    for (option each; in_place && option_next(&from, &each);) {
        if (each.letter == OPERAND && !script) {
            judge(with, &each.value);
        }
        script = script && each.letter != OPERAND;
    }
    if (in_place) {
        writes(with, one->words[0].value);
    }
}

static void judge_patch(guard *with, const command *one, const option_table *table) {
    option_reader from = options_of(one, table);
    maybe_text outside = with->folder;
    size_t operands = 0;
    for (option each; option_next(&from, &each);) {
        if (each.letter == 'd') {
            with->folder = given(below(with->folder.given ? with->folder.value : TEXT(""), each.value.value));
        }
    }
    from = options_of(one, table);
    for (option each; option_next(&from, &each);) {
        if (each.letter == 'o' || (each.letter == OPERAND && operands++ == 0)) {
            judge(with, &each.value);
        }
    }
    with->folder = outside;
    writes(with, one->words[0].value);
    if (operands == 0) {
        refuse(with, TEXT("`patch` without a file names what it changes in its input, which cannot be read"));
    }
}

static void judge_dd(guard *with, const command *one, const option_table *table) {
    (void)table;
    for (size_t index = 1; index < one->count; index++) {
        if (text_starts(one->words[index].value, "of=")) {
            shell_word file = one->words[index];
            file.value = text_part(file.value, 3, file.value.length);
            judge(with, &file);
        }
    }
}

// With `--` what follows are paths; without, the first operand may be a branch, which has seldom a point in its name.
static void judge_checkout(guard *with, const command *one) {
    static const option_table table = {.with_value = "bB", .longs = NULL};
    option_reader from = options_of(one, &table);
    bool paths = false, branches = false;
    for (size_t operands = 0; from.at < from.count || from.inside > 0;) {
        option each;
        if (!option_next(&from, &each)) {
            break;
        }
        branches = branches || each.letter == 'b' || each.letter == 'B';
        paths = paths || from.only_operands;
        if (each.letter == OPERAND) {
            bool named = text_find(each.value.value, '.') < each.value.value.length;
            if (paths || (!branches && (operands > 0 || named))) {
                judge(with, &each.value);
            }
            operands++;
        }
    }
}

static void judge_git(guard *with, const command *one, const option_table *table) {
    static const char *const FILES[] = {"restore", "rm", "mv", "clean", NULL};
    static const char *const LONGS[] = {"s=source", "e=exclude", "f=pathspec-from-file", NULL};
    static const option_table of_files = {.with_value = "se", .longs = LONGS};
    option_reader from = options_of(one, table);
    maybe_text outside = with->folder;
    from.leading = true;
    for (option each; option_next(&from, &each);) {
        if (each.letter == 'C') {
            with->folder = given(below(with->folder.given ? with->folder.value : TEXT(""), each.value.value));
        } else if (each.letter == OPERAND) {
            command verb = from_word(one, from.at);
            text name = verb.words[0].value;
            if (text_is(name, "apply")) {
                refuse(with, TEXT("`git apply` names what it changes in its patch, which cannot be read"));
            } else if (text_is(name, "checkout")) {
                judge_checkout(with, &verb);
            } else if (one_of(name, FILES)) {
                judge_operands(with, &verb, &of_files);
            }
            break;
        }
    }
    with->folder = outside;
}

static void judge_script(guard *with, text script, unsigned depth);
static void judge_command(guard *with, const command *one, unsigned depth);

typedef struct {
    const char *name;
    void (*judge)(guard *with, const command *one, const option_table *table);
    option_table options;
} form;

static const char *const INTO[] = {"t=target-directory", "S=suffix", "m=mode", "o=owner", "g=group", "d.directory", NULL};
static const char *const SED[] = {"e=expression", "f=file", "l=line-length", "i?in-place", NULL};
static const char *const PATCH[] = {"i=input", "o=output", "d=directory", "p=strip", "F=fuzz", "r=reject-file", NULL};
static const char *const TRUNCATE[] = {"s=size", "r=reference", NULL};
static const char *const TOUCH[] = {"r=reference", "d=date", NULL};
static const char *const SHRED[] = {"n=iterations", "s=size", "r=random-source", NULL};
static const char *const GIT[] = {"g=git-dir", "w=work-tree", "n=namespace", "c=config-env", NULL};

static const form FORMS[] = {
    {"rm", judge_operands, {.with_value = ""}},
    {"rmdir", judge_operands, {.with_value = ""}},
    {"unlink", judge_operands, {.with_value = ""}},
    {"tee", judge_operands, {.with_value = ""}},
    {"truncate", judge_operands, {.with_value = "sr", .longs = TRUNCATE}},
    {"touch", judge_operands, {.with_value = "drt", .longs = TOUCH}},
    {"shred", judge_operands, {.with_value = "ns", .longs = SHRED}},
    {"cp", judge_destination, {.with_value = "tS", .longs = INTO}},
    {"mv", judge_destination, {.with_value = "tS", .longs = INTO}},
    {"ln", judge_destination, {.with_value = "tS", .longs = INTO}},
    {"install", judge_destination, {.with_value = "tSmog", .longs = INTO}},
    {"sed", judge_sed, {.with_value = "efl", .with_rest = "i", .longs = SED}},
    {"patch", judge_patch, {.with_value = "iopdFrBDVYzg", .longs = PATCH}},
    {"dd", judge_dd, {.with_value = ""}},
    {"git", judge_git, {.with_value = "Cc", .longs = GIT}},
};

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
    for (size_t index = 0; index < sizeof FORMS / sizeof *FORMS; index++) {
        if (text_is(name, FORMS[index].name)) {
            FORMS[index].judge(with, one, &FORMS[index].options);
        }
    }
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
