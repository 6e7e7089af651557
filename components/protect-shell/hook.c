// Refuses shell commands that write to protected paths. It decides on what is executed: the arguments, the script of an
// interpreter, the recipe of a build; never on the text for display. It reads the text and looks at no file, so it is a
// guard against mistakes, not against somebody who hides what a command does.
#include "../lib/hook.h"
#include "../lib/protect.h"

#define MOST_WORDS 4096
#define DEEPEST 4  // scripts within scripts

static const char *const KEYS[] = {"shell_write_binaries", NULL};
static const char *const SHELLS[] = {"bash", "sh", "zsh", "fish", "dash", "ksh", NULL};

typedef struct {
    protection by;
    const text *writers;  // of the configuration
    size_t writer_count;
    text *words;  // of the command that is looked at
    size_t count;
    text refused;  // why, empty while nothing is
} guard;

static void refuse(guard *with, text why) {
    if (with->refused.length == 0) {
        with->refused = why;
    }
}

static void judge(guard *with, text path) {
    text rule;
    judgement found = protection_of(&with->by, path, &rule);
    if (found != PATH_FREE) {
        refuse(with, protection_reason(found, path, rule));
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

// The last component of a program's path.
static text base_of(text path) {
    size_t start = 0;
    for (size_t at = 0; at < path.length; at++) {
        start = path.data[at] == '/' ? at + 1 : start;
    }
    return text_part(path, start, path.length);
}

static bool is_option(text word) {
    return text_starts(word, "-") && word.length > 1;
}

static void judge_operands(guard *with, const text *words, size_t count) {
    bool only_operands = false;
    for (size_t index = 0; index < count; index++) {
        if (!only_operands && text_is(words[index], "--")) {
            only_operands = true;
        } else if (only_operands || !is_option(words[index])) {
            judge(with, words[index]);
        }
    }
}

static bool has_short(text word, char letter) {
    return is_option(word) && !text_starts(word, "--") && text_find(word, letter) < word.length;
}

// cp, mv, install, ln: the last operand, or that of -t.
static void judge_destination(guard *with, const text *words, size_t count, bool moves) {
    text last = TEXT(""), folder = TEXT("");
    size_t operands = 0;
    for (size_t index = 0; index < count; index++) {
        if ((text_is(words[index], "-t") || text_is(words[index], "--target-directory")) && index + 1 < count) {
            folder = words[++index];
        } else if (text_starts(words[index], "--target-directory=")) {
            folder = text_part(words[index], 19, words[index].length);
        } else if (!is_option(words[index])) {
            if (moves) {
                judge(with, words[index]);  // what is moved is gone from where it was
            }
            last = words[index], operands++;
        }
    }
    text into = folder.length > 0 ? folder : last;
    if (operands == 0 || into.length == 0) {
        return;
    }
    judge(with, into);
    for (size_t index = 0; index < count; index++) {  // a folder takes the names of what comes into it
        if (!is_option(words[index]) && !text_equal(words[index], into)) {
            judge(with, text_join(into, TEXT("/"), base_of(words[index])));
        }
    }
}

static void judge_sed(guard *with, const text *words, size_t count) {
    bool in_place = false, given_script = false;
    for (size_t index = 0; index < count; index++) {
        in_place = in_place || has_short(words[index], 'i') || text_starts(words[index], "--in-place");
        given_script = given_script || has_short(words[index], 'e') || has_short(words[index], 'f');
    }
    if (!in_place) {
        return;
    }
    bool script = !given_script;
    for (size_t index = 0; index < count; index++) {
        if (text_is(words[index], "-e") || text_is(words[index], "-f")) {
            index++;
        } else if (!is_option(words[index])) {
            if (!script) {
                judge(with, words[index]);
            }
            script = false;
        }
    }
}

static void judge_patch(guard *with, const text *words, size_t count) {
    size_t operands = 0;
    for (size_t index = 0; index < count; index++) {
        if (text_is(words[index], "-o") && index + 1 < count) {
            judge(with, words[++index]);
            operands++;
        } else if ((text_is(words[index], "-i") || text_is(words[index], "-p") || text_is(words[index], "-d")) &&
                   index + 1 < count) {
            index++;
        } else if (!is_option(words[index])) {
            if (operands++ == 0) {
                judge(with, words[index]);
            }
        }
    }
    if (operands == 0) {
        refuse(with, TEXT("`patch` without a file names what it changes in its input, which cannot be read"));
    }
}

static void judge_git(guard *with, const text *words, size_t count) {
    size_t at = 0;
    while (at < count && is_option(words[at])) {
        at += text_is(words[at], "-C") || text_is(words[at], "-c") ? 2 : 1;
    }
    if (at >= count) {
        return;
    }
    text verb = words[at++];
    if (text_is(verb, "apply")) {
        refuse(with, TEXT("`git apply` names what it changes in its patch, which cannot be read"));
    } else if (text_is(verb, "restore") || text_is(verb, "rm") || text_is(verb, "mv")) {
        judge_operands(with, words + at, count - at);
    } else if (text_is(verb, "checkout")) {
        for (; at < count; at++) {
            if (text_is(words[at], "--")) {
                judge_operands(with, words + at + 1, count - at - 1);
                return;
            }
        }
    }
}

static void judge_dd(guard *with, const text *words, size_t count) {
    for (size_t index = 0; index < count; index++) {
        if (text_starts(words[index], "of=")) {
            judge(with, text_part(words[index], 3, words[index].length));
        }
    }
}

static void judge_script(guard *with, text script, unsigned depth);

// Words that only say how the next command is run.
static const char *const BEFORE[] = {"sudo", "env", "nohup", "time", "command", "exec", "nice", "stdbuf", "xargs",
                                     "then", "do",  "else",  "{",    "!",       "builtin", NULL};
static const char *const ALL_OPERANDS[] = {"rm", "rmdir", "tee", "truncate", "touch", "unlink", "shred", NULL};

static void judge_command(guard *with, const text *words, size_t count, unsigned depth) {
    while (count > 0 && (one_of(base_of(words[0]), BEFORE) ||
                         (text_find(words[0], '=') < words[0].length && text_find(words[0], '/') == words[0].length))) {
        words++, count--;
        while (count > 0 && is_option(words[0])) {
            words++, count--;
        }
    }
    if (count == 0) {
        return;
    }
    text name = base_of(words[0]);
    words++, count--;
    if (one_of(name, ALL_OPERANDS)) {
        judge_operands(with, words, count);
    } else if (text_is(name, "cp") || text_is(name, "install") || text_is(name, "ln")) {
        judge_destination(with, words, count, false);
    } else if (text_is(name, "mv")) {
        judge_destination(with, words, count, true);
    } else if (text_is(name, "sed")) {
        judge_sed(with, words, count);
    } else if (text_is(name, "patch")) {
        judge_patch(with, words, count);
    } else if (text_is(name, "git")) {
        judge_git(with, words, count);
    } else if (text_is(name, "dd")) {
        judge_dd(with, words, count);
    } else if (one_of(name, SHELLS)) {
        for (size_t index = 0; index + 1 < count; index++) {
            if (has_short(words[index], 'c')) {
                judge_script(with, words[index + 1], depth + 1);
                return;
            }
        }
    } else if (text_is(name, "eval")) {
        for (size_t index = 0; index < count; index++) {
            judge_script(with, words[index], depth + 1);
        }
    }
    for (size_t index = 0; index < with->writer_count; index++) {
        if (text_equal(name, with->writers[index])) {
            judge_operands(with, words, count);
        }
    }
}

typedef struct {
    text script;
    size_t at;
} reader;

static bool ends_word(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == ';' || byte == '|' || byte == '&' ||
           byte == '<' || byte == '>' || byte == '(' || byte == ')' || byte == '`';
}

// One word, its quotes and backslashes taken off. False: a quote is never closed.
static bool read_word(reader *from, text *word) {
    buffer taken = buffer_in(&call_memory);
    text script = from->script;
    char quote = 0;
    for (; from->at < script.length; from->at++) {
        char byte = script.data[from->at];
        if (quote == '\'') {
            if (byte == '\'') {
                quote = 0;
            } else {
                put_byte(&taken, byte);
            }
        } else if (byte == '\\' && from->at + 1 < script.length) {
            if (script.data[++from->at] != '\n') {
                put_byte(&taken, script.data[from->at]);
            }
        } else if (quote == '"') {
            if (byte == '"') {
                quote = 0;
            } else {
                put_byte(&taken, byte);
            }
        } else if (byte == '\'' || byte == '"') {
            quote = byte;
        } else if (ends_word(byte)) {
            break;
        } else {
            put_byte(&taken, byte);
        }
    }
    *word = buffer_text(&taken);
    return quote == 0;
}

static void skip_blanks(reader *from) {
    while (from->at < from->script.length &&
           (from->script.data[from->at] == ' ' || from->script.data[from->at] == '\t' ||
            from->script.data[from->at] == '\r')) {
        from->at++;
    }
}

static void judge_script(guard *with, text script, unsigned depth) {
    if (depth > DEEPEST) {
        refuse(with, TEXT("scripts within scripts, too deep to be read"));
        return;
    }
    reader from = {script, 0};
    text *words = arena_take(&call_memory, MOST_WORDS, sizeof(text));
    size_t count = 0;
    while (from.at < script.length && with->refused.length == 0) {
        skip_blanks(&from);
        if (from.at >= script.length) {
            break;
        }
        char byte = script.data[from.at];
        if (byte == '#' && (from.at == 0 || ends_word(script.data[from.at - 1]))) {
            from.at += text_find(text_part(script, from.at, script.length), '\n');
        } else if (byte == '>' || (byte == '&' && from.at + 1 < script.length && script.data[from.at + 1] == '>')) {
            while (from.at < script.length && (script.data[from.at] == '>' || script.data[from.at] == '&' ||
                                               script.data[from.at] == '|')) {
                from.at++;
            }
            bool to_stream = script.data[from.at - 1] == '&' && byte == '>';
            text target;
            skip_blanks(&from);
            if (!read_word(&from, &target)) {
                refuse(with, TEXT("a quote is never closed, so what is written to cannot be read"));
            } else if (!to_stream || text_trim(target).length > 1) {
                judge(with, target);
            }
        } else if (byte == '<') {
            while (from.at < script.length && (script.data[from.at] == '<' || script.data[from.at] == '-')) {
                from.at++;
            }
            text source;
            skip_blanks(&from);
            (void)read_word(&from, &source);
        } else if (ends_word(byte)) {
            judge_command(with, words, count, depth);
            count = 0;
            from.at++;
        } else if (count == MOST_WORDS) {
            refuse(with, TEXT("a command of too many words to be read"));
        } else if (!read_word(&from, &words[count])) {
            refuse(with, TEXT("a quote is never closed, so the command cannot be read"));
        } else {
            bool is_descriptor = from.at < script.length && script.data[from.at] == '>' && words[count].length == 1 &&
                                 words[count].data[0] >= '0' && words[count].data[0] <= '9';
            count += !is_descriptor;
        }
    }
    judge_command(with, words, count, depth);
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
    if (event->script.given) {
        judge_script(&with, event->script.value, 0);
    } else {
        text *words = arena_take(&call_memory, event->argv.count + 1, sizeof(text));
        words[0] = event->binary;
        for (size_t index = 0; index < event->argv.count; index++) {
            words[index + 1] = event->argv.items[index];
        }
        judge_command(&with, words, event->argv.count + 1, 0);
    }
    if (event->recipe.given) {
        judge_script(&with, event->recipe.value, 0);
    }
    if (with.refused.length > 0) {
        return answer_deny(with.refused);
    }
    return answer_none();
}
