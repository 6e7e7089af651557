#include "shell.h"

#define MOST_NESTED 32  // quotes and brackets within one another

typedef struct {
    text *items;
    size_t count, room;
} list;

static void add(list *to, text item) {
    if (to->count == to->room) {
        text *more = arena_take(&call_memory, to->room * 2 + 4, sizeof(text));
        for (size_t index = 0; index < to->count; index++) {
            more[index] = to->items[index];
        }
        to->items = more, to->room = to->room * 2 + 4;
    }
    to->items[to->count++] = item;
}

// NUL behind the end, which a script may hold too: it is no byte that anybody looks for.
static char byte_at(text script, size_t at) {
    return at < script.length ? script.data[at] : 0;
}

static bool is_one_of(char byte, const char *bytes) {
    for (; *bytes != 0; bytes++) {
        if (byte == *bytes) {
            return true;
        }
    }
    return false;
}

static bool ends_word(char byte) {
    return is_one_of(byte, " \t\r\n;|&<>()");
}

static void skip_blanks(shell_reader *from) {
    for (;;) {
        if (byte_at(from->script, from->at) == '\\' && byte_at(from->script, from->at + 1) == '\n') {
            from->at += 2;
        } else if (is_one_of(byte_at(from->script, from->at), " \t\r")) {
            from->at++;
        } else {
            return;
        }
    }
}

// The word that ends a here-document. *quoted*: nothing in the document is expanded.
static text delimiter(text script, size_t *at, bool *quoted) {
    buffer word = buffer_in(&call_memory);
    char quote = 0;
    *quoted = false;
    for (; *at < script.length; ++*at) {
        char byte = script.data[*at];
        if (quote != 0 ? byte == quote : byte == '\'' || byte == '"') {
            quote = quote == 0 ? byte : 0, *quoted = true;
        } else if (quote == 0 && byte == '\\') {
            *quoted = true;
        } else if (quote == 0 && ends_word(byte)) {
            break;
        } else {
            put_byte(&word, byte);
        }
    }
    return buffer_text(&word);
}

// Reads a here-document, from behind its `<<`. It begins at the next line, or behind the one before it.
static text document(shell_reader *from, bool *quoted) {
    bool tabs = byte_at(from->script, from->at) == '-';
    from->at += tabs;
    skip_blanks(from);
    text end = delimiter(from->script, &from->at, quoted);
    if (from->behind <= from->at) {
        from->body = from->at + text_find(text_part(from->script, from->at, from->script.length), '\n') + 1;
        from->behind = from->body;
    }
    size_t start = from->behind, line = start;
    while (line < from->script.length) {
        size_t length = text_find(text_part(from->script, line, from->script.length), '\n');
        text one = text_part(from->script, line, length);
        while (tabs && text_starts(one, "\t")) {
            one = text_part(one, 1, one.length);
        }
        if (text_equal(one, end)) {
            from->behind = line + length + 1;
            return text_part(from->script, start, line - start);
        }
        line += length + 1;
    }
    return TEXT("");  // it never ends, so it may be none, as in arithmetic: what follows is read as commands
}

static bool at_document(const shell_reader *from) {
    return byte_at(from->script, from->at) == '<' && byte_at(from->script, from->at + 1) == '<' &&
           byte_at(from->script, from->at + 2) != '<';
}

// What opens at *at* and how long that is; 0: nothing that is closed by another byte.
static char opened(text script, size_t at, char within, size_t *length) {
    char byte = byte_at(script, at), next = byte_at(script, at + 1);
    *length = byte == '$' && (next == '(' || next == '{') ? 2 : 1;
    if (*length == 2) {
        return next == '(' ? ')' : '}';
    }
    if (byte == '`') {
        return '`';
    }
    if (within == '"') {
        return 0;
    }
    return byte == '(' ? ')' : is_one_of(byte, "'\"") ? byte : 0;
}

// From behind what *closes* closes to behind that. The text between; false: it is never closed.
static bool enclosed(shell_reader *from, char closes, text *between) {
    char stack[MOST_NESTED] = {closes};
    size_t depth = 1, start = from->at, length;
    shell_reader in = {from->script, from->at, 0, 0};
    while (in.at < in.script.length) {
        char byte = in.script.data[in.at], within = stack[depth - 1];
        if (byte == within) {
            in.at++, depth--;
            if (depth == 0) {
                *between = text_part(in.script, start, in.at - 1 - start);
                from->at = in.at;
                return true;
            }
        } else if (within == '\'') {
            in.at++;
        } else if (byte == '\\') {
            in.at += 2;
        } else if (within == ')' && at_document(&in)) {
            bool quoted;
            in.at += 2;
            (void)document(&in, &quoted);
        } else if (byte == '\n' && in.body == in.at + 1) {
            in.at = in.behind;
        } else {
            char closing = opened(in.script, in.at, within, &length);
            if (closing != 0 && depth == MOST_NESTED) {
                return false;
            }
            if (closing != 0) {
                stack[depth++] = closing;
            }
            in.at += length;
        }
    }
    return false;
}

// The scripts within text that is expanded but is no script itself: a here-document, an operand of `${`, arithmetic.
static void inner_of(text expanded, list *to) {
    shell_reader in = {expanded, 0, 0, 0};
    while (in.at < expanded.length) {
        char byte = expanded.data[in.at];
        bool command = byte == '$' && byte_at(expanded, in.at + 1) == '(';
        in.at += command || byte == '\\' ? 2 : 1;
        text found;
        if ((command || byte == '`') && enclosed(&in, command ? ')' : '`', &found)) {
            add(to, found);
        }
    }
}

// Behind a `$` or a backquote at the reader's place: what is expanded is put down as it is written.
static bool expansion(shell_reader *from, buffer *to, list *inner) {
    size_t start = from->at;
    char byte = byte_at(from->script, from->at), next = byte_at(from->script, from->at + 1);
    bool brackets = byte == '$' && (next == '(' || next == '{');
    text found = TEXT("");
    from->at += brackets ? 2 : 1;
    if ((brackets || byte == '`') && !enclosed(from, byte == '`' ? '`' : next == '(' ? ')' : '}', &found)) {
        return false;
    }
    if (byte == '`' || (next == '(' && !text_starts(found, "("))) {
        add(inner, found);
    } else if (brackets) {
        inner_of(found, inner);
    }
    put(to, text_part(from->script, start, from->at - start));
    return true;
}

// Up to the quote that closes. False: there is none.
static bool quoted(shell_reader *from, char quote, bool escapes, shell_word *word, buffer *to, list *inner) {
    while (from->at < from->script.length) {
        char byte = from->script.data[from->at];
        if (byte == quote) {
            from->at++;
            return true;
        }
        if (byte == '\\' && escapes && from->at + 1 < from->script.length) {
            char next = from->script.data[from->at + 1];
            if (quote == '"' && !is_one_of(next, "$`\"\\\n")) {
                put_byte(to, byte);
            }
            word->expands = word->expands || (quote == '\'' && !is_one_of(next, "'\"\\"));
            if (next != '\n') {
                put_byte(to, next);
            }
            from->at += 2;
        } else if (quote == '"' && (byte == '$' || byte == '`')) {
            word->expands = true;
            if (!expansion(from, to, inner)) {
                return false;
            }
        } else {
            put_byte(to, byte);
            from->at++;
        }
    }
    return false;
}

// Whether the braces of a word stand for several words, or for what a recipe puts there.
static bool has_braces(text word) {
    size_t open = text_find(word, '{');
    text inside = text_part(word, open, word.length);
    return open < word.length && text_find(inside, '}') < inside.length &&
           (text_has(inside, TEXT(",")) || text_has(inside, TEXT("..")) || text_has(inside, TEXT("{{")));
}

static bool read_word(shell_reader *from, shell_word *word, list *inner) {
    buffer taken = buffer_in(&call_memory), bare = buffer_in(&call_memory);  // bare: without what is quoted
    text script = from->script;
    *word = (shell_word){.expands = false};
    while (from->at < script.length && !ends_word(script.data[from->at])) {
        char byte = script.data[from->at], next = byte_at(script, from->at + 1);
        bool dollar = byte == '$' && (next == '\'' || next == '"');  // of $'...' and $"..."
        if (dollar || byte == '\'' || byte == '"') {
            char quote = dollar ? next : byte;
            from->at += dollar ? 2 : 1;
            if (!quoted(from, quote, dollar || quote == '"', word, &taken, inner)) {
                return false;
            }
        } else if (byte == '\\') {
            if (from->at + 1 < script.length && next != '\n') {
                put_byte(&taken, next);
            }
            from->at += from->at + 1 < script.length ? 2 : 1;
        } else if (byte == '$' || byte == '`') {
            word->expands = true;
            if (!expansion(from, &taken, inner)) {
                return false;
            }
        } else {
            word->pattern = word->pattern || byte == '*' || byte == '?';
            word->expands = word->expands || byte == '[';
            put_byte(&taken, byte);
            put_byte(&bare, byte);
            from->at++;
        }
    }
    word->value = buffer_text(&taken);
    word->expands = word->expands || has_braces(buffer_text(&bare));
    return true;
}

static bool all_digits(text word) {
    for (size_t at = 0; at < word.length; at++) {
        if (!is_one_of(word.data[at], "0123456789")) {
            return false;
        }
    }
    return word.length > 0;
}

// A word, and *as* what it counts.
static shell_token worded(shell_reader *from, shell_kind as) {
    shell_token token = {.kind = as};
    list inner = {NULL, 0, 0};
    skip_blanks(from);
    if (!read_word(from, &token.word, &inner)) {
        from->at = from->script.length;
        token.kind = SHELL_UNREADABLE;
    }
    token.inner = (text_list){inner.items, inner.count};
    return token;
}

static shell_token redirection(shell_reader *from) {
    char first = byte_at(from->script, from->at), second = byte_at(from->script, from->at + 1);
    if (at_document(from)) {
        shell_token token = {.kind = SHELL_INPUT};
        list inner = {NULL, 0, 0};
        bool quotes;
        from->at += 2;
        token.word.value = document(from, &quotes);
        if (!quotes) {
            inner_of(token.word.value, &inner);
        }
        token.inner = (text_list){inner.items, inner.count};
        return token;
    }
    bool here = first == '<' && second == '<', writes = first != '<' || second == '>';
    while (is_one_of(byte_at(from->script, from->at), first == '<' ? "<>" : ">&|")) {
        from->at++;
    }
    bool stream = first == '>' && from->script.data[from->at - 1] == '&';
    if (first == '<' && byte_at(from->script, from->at) == '&') {
        stream = true, from->at++;
    }
    shell_token token = worded(from, here ? SHELL_INPUT : SHELL_WRITE);
    bool to_stream = stream && (all_digits(token.word.value) || text_is(token.word.value, "-"));
    if (token.kind == SHELL_WRITE && (!writes || to_stream)) {
        token.word = (shell_word){.expands = false};  // what is read, or a stream that is open
    }
    return token;
}

static shell_token broken(shell_reader *from) {
    text script = from->script;
    char byte = script.data[from->at], next = byte_at(script, from->at + 1);
    if (byte == '\n' && from->body == from->at + 1) {
        from->at = from->behind < script.length ? from->behind : script.length;
        from->body = from->behind = 0;
    } else {
        bool two = (byte == '|' && (next == '|' || next == '&')) || (byte == '&' && next == '&');
        from->at += two ? 2 : 1;
    }
    return (shell_token){.kind = byte == '(' ? SHELL_OPEN : byte == ')' ? SHELL_CLOSE : SHELL_BREAK,
                         .piped = byte == '|' && next != '|'};
}

shell_token shell_next(shell_reader *from) {
    skip_blanks(from);
    text script = from->script;
    char byte = byte_at(script, from->at), next = byte_at(script, from->at + 1);
    if (from->at >= script.length) {
        return (shell_token){.kind = SHELL_END};
    }
    if (byte == '#') {
        from->at += text_find(text_part(script, from->at, script.length), '\n');
        return shell_next(from);  // once: a line end or the end follows
    }
    if ((byte == '<' || byte == '>') && next == '(') {
        from->at++;
        return broken(from);
    }
    if (byte == '<' || byte == '>' || (byte == '&' && next == '>')) {
        return redirection(from);
    }
    if (ends_word(byte)) {
        return broken(from);
    }
    size_t start = from->at;
    shell_token token = worded(from, SHELL_WORD);
    if (is_one_of(byte_at(script, from->at), "<>") && all_digits(text_part(script, start, from->at - start))) {
        return redirection(from);  // the number of a stream
    }
    return token;
}
