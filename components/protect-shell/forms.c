// The commands that are known to write, and which of their words they write to.
#include "guard.h"

void refuse(guard *with, text why) {
    if (with->refused.length == 0) {
        with->refused = why;
    }
}

void unclear(guard *with, text what) {
    if (with->unclear.length == 0) {
        with->unclear = what;
    }
}

text below(text folder, text path) {
    bool whole = folder.length == 0 || text_starts(path, "/") || text_starts(path, "~") || text_starts(path, "$");
    return whole ? path : text_join(folder, TEXT("/"), path);
}

void judge(guard *with, const shell_word *word) {
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

bool one_of(text name, const char *const *names) {
    for (; *names != NULL; names++) {
        if (text_is(name, *names)) {
            return true;
        }
    }
    return false;
}

text base_of(text path) {
    size_t start = 0;
    for (size_t at = 0; at < path.length; at++) {
        start = path.data[at] == '/' && at + 1 < path.length ? at + 1 : start;
    }
    return text_part(path, start, path.length);
}

option_reader options_of(const command *one, const option_table *table) {
    return (option_reader){.words = one->words + 1, .count = one->count - 1, .table = table};
}

command from_word(const command *one, size_t first) {
    return (command){one->words + first, one->count - first, one->input, one->piped};
}

void judge_operands(guard *with, const command *one, const option_table *table) {
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
            shell_word inside = each.value;  // a folder takes the names of what comes into it, as far as they are written
            inside.expands = inside.pattern = false;
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

void judge_form(guard *with, const command *one) {
    text name = base_of(one->words[0].value);
    for (size_t index = 0; index < sizeof FORMS / sizeof *FORMS; index++) {
        if (text_is(name, FORMS[index].name)) {
            FORMS[index].judge(with, one, &FORMS[index].options);
        }
    }
}
