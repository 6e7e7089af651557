// Replaces a conversation that fills the window by a summary of it. The model that the capsule names for this is asked
// first, then, should that fail, its primary one.
#include "../lib/hook.h"

static const char default_prompt[] =
    "You write the handover of a working session to whoever continues it without having seen it. Keep what they need: "
    "what was asked for and every constraint on it, decisions and their reasons, files and commands by their exact "
    "names, results and errors that still matter, what is done and what comes next. Leave out greetings and detours. "
    "Write plain text, and nothing that the session does not say.";

static const char request_for_summary[] =
    "The session up to here has to be replaced by a summary, because it no longer fits. Write that summary now.";

// The text of a body: a text itself, or JSON that is shown as it is.
static text shown(const json *body) {
    return body == NULL ? TEXT("") : body->kind == JSON_TEXT ? body->value : body->spelled;
}

static text shown_member(const json *object, const char *name) {
    return shown(json_member(object, name));
}

static void put_blocks(buffer *to, const json *content);

static void put_tool_result(buffer *to, text call, bool is_error, const json *body) {
    put(to, text_join(TEXT("[result of call "), call, is_error ? TEXT(", an error") : TEXT(""), TEXT("]\n")));
    put_blocks(to, body);
}

static void put_block(buffer *to, const json *block) {
    maybe_text type = json_member_text(block, "type");
    if (type.given && text_is(type.value, "text")) {
        put(to, shown_member(block, "text"));
    } else if (type.given && (text_is(type.value, "tool_call") || text_is(type.value, "tool_use"))) {
        put(to, text_join(TEXT("[call "), shown_member(block, "id"), TEXT(" of "), shown_member(block, "name"),
                          TEXT("]\n"), shown_member(block, "input")));
    } else if (type.given && text_is(type.value, "tool_result")) {
        put_tool_result(to, shown_member(block, "tool_use_id"), json_is(json_member(block, "is_error"), JSON_TRUE),
                        json_member(block, "content"));
    } else {
        put(to, shown(block));
    }
}

static void put_blocks(buffer *to, const json *content) {
    if (!json_is(content, JSON_ARRAY)) {
        put(to, shown(content));
        return;
    }
    for (size_t index = 0; index < content->count; index++) {
        if (index > 0) {
            put_byte(to, '\n');
        }
        put_block(to, &content->items[index]);
    }
}

static text transcribed(text content) {
    text why;
    const json *read = json_read(&call_memory, content, &why);
    buffer words = buffer_in(&call_memory);
    if (read == NULL) {
        return content;  // plain text, as older messages may be
    }
    if (json_is(json_member(read, "__murmur_tool_msg__"), JSON_TRUE)) {
        put_tool_result(&words, shown_member(read, "tool_call_id"),
                        json_is(json_member(read, "is_error"), JSON_TRUE), json_member(read, "body"));
    } else {
        put_blocks(&words, read);
    }
    return buffer_text(&words);
}

static message_list transcript(message_list history) {
    message *said = arena_take(&call_memory, history.count + 1, sizeof(message));
    size_t count = 0;
    for (size_t index = 0; index < history.count; index++) {
        text content = transcribed(history.items[index].content);
        if (text_trim(content).length > 0) {
            bool by_model = text_is(history.items[index].role, "assistant");
            said[count++] = (message){.role = by_model ? TEXT("assistant") : TEXT("user"), .content = content};
        }
    }
    said[count++] = (message){.role = TEXT("user"), .content = text_of(request_for_summary)};
    return (message_list){said, count};
}

static hook_answer replaced_by(text summary) {
    message *only = arena_take(&call_memory, 1, sizeof(message));
    *only = (message){.role = TEXT("user"), .content = json_quoted(summary)};
    return answer_replace_context(only, 1);
}

hook_answer on_compaction(const compaction_event *event) {
    inference_request request = {
        .messages = transcript(event->messages),
        .system_prompt = event->system_prompt.given ? event->system_prompt : given(text_of(default_prompt)),
        .model = event->model,
    };
    inference_response response;
    text first, second;
    if (run_inference(&request, &response, &first)) {
        return replaced_by(response.answer);
    }
    if (!event->model.given) {
        return answer_err(TEXT("compaction inference failed: "), first);
    }
    request.model = NO_TEXT;
    if (run_inference(&request, &response, &second)) {
        return replaced_by(response.answer);
    }
    return answer_err(TEXT("compaction inference failed with model '"), event->model.value, TEXT("' ("), first,
                      TEXT(") and with the capsule's primary model ("), second, TEXT(")"));
}
