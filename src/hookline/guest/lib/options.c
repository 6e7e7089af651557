#include "options.h"

static bool has_letter(const char *letters, char letter) {
    for (; letters != NULL && *letters != 0; letters++) {
        if (*letters == letter) {
            return true;
        }
    }
    return false;
}

static shell_word part_of(const shell_word *word, size_t start) {
    shell_word part = *word;
    part.value = text_part(word->value, start, word->value.length);
    return part;
}

// `--name`, `--name=value` and, where the table says so, `--name value`. Names may be cut short.
static option long_option(option_reader *from) {
    const shell_word *word = &from->words[from->at++];
    text given_name = text_part(word->value, 2, word->value.length);
    size_t equals = text_find(given_name, '=');
    option found = {.letter = OTHER_OPTION};
    text name = text_part(given_name, 0, equals);
    for (const char *const *each = from->table->longs; each != NULL && *each != NULL; each++) {
        if (name.length == 0 || !text_starts(text_of(*each + 2), text_terminated(&call_memory, name))) {
            continue;
        }
        found.letter = (*each)[0];
        if ((*each)[1] == '=' && equals == given_name.length && from->at < from->count) {
            found.value = from->words[from->at++];
        }
        break;
    }
    if (equals < given_name.length) {
        found.value = part_of(word, equals + 3);
    }
    return found;
}

static option short_option(option_reader *from) {
    const shell_word *word = &from->words[from->at];
    size_t place = from->inside == 0 ? 1 : from->inside;
    option found = {.letter = word->value.data[place]};
    bool rest = place + 1 < word->value.length;
    bool takes = has_letter(from->table->with_value, found.letter);
    if (rest && !takes && !has_letter(from->table->with_rest, found.letter)) {
        from->inside = place + 1;
        return found;
    }
    from->at++, from->inside = 0;
    if (rest) {
        found.value = part_of(word, place + 1);
    } else if (takes && from->at < from->count) {
        found.value = from->words[from->at++];
    }
    return found;
}

bool option_next(option_reader *from, option *to) {
    if (from->inside == 0 && from->at < from->count && !from->only_operands && text_is(from->words[from->at].value, "--")) {
        from->only_operands = true;
        from->at++;
    }
    if (from->at >= from->count) {
        return false;
    }
    text word = from->words[from->at].value;
    if (from->only_operands || word.length < 2 || word.data[0] != '-') {
        *to = (option){.letter = OPERAND, .value = from->words[from->at++]};
        from->only_operands = from->only_operands || from->leading;
    } else {
        *to = text_starts(word, "--") ? long_option(from) : short_option(from);
    }
    return true;
}
