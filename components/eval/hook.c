// Scores a session when it ends, by the scorers that the capsule's manifest names.
#include "../lib/hook.h"
#include "../lib/otlp.h"

#include <string.h>

#define FILE_NAME "eval.jsonl"
#define OWN_LOG "logs/hook-murmur-hook-eval.log"
#define MOST_TOOLS 4096  // names that are kept for a sequence: more than any session has calls

typedef struct {
    const char *type;
    bool passed;
    double score;
    text name, reason;
} scored;

static struct {
    arena memory;
    bool active;
    const json *config;
    text name, version;
    text tools[MOST_TOOLS];
    size_t tool_count;
} kept;

// From 0.0 to 1.0, to three decimals. (What prints any number there is takes ten times the room.)
static text score_text(double score) {
    uint64_t thousandths = (uint64_t)(score * 1000.0 + 0.5);
    buffer number = buffer_in(&call_memory);
    put_u64(&number, thousandths / 1000);
    put_byte(&number, '.');
    uint64_t rest = thousandths % 1000, unit = 100;
    do {
        put_u64(&number, rest / unit);
        rest %= unit;
        unit /= 10;
    } while (rest > 0);
    return buffer_text(&number);
}

typedef scored (*scorer)(const json *config, const session_end_event *event);

static scored verdict(const char *type, bool passed, text reason) {
    return (scored){.type = type, .passed = passed, .score = passed ? 1.0 : 0.0, .reason = reason};
}

static scored exit_ok(const json *config, const session_end_event *event) {
    (void)config;
    return verdict("exit_ok", text_is(event->exit_status, "ok"), text_join(TEXT("exit_status="), event->exit_status));
}

static uint64_t most_of(const json *config, uint64_t otherwise) {
    uint64_t most;
    const json *given_most = json_member(config, "max");
    return given_most != NULL && json_u64(given_most, &most) ? most : otherwise;
}

static scored bounded(const char *type, const char *what, uint64_t found, uint64_t most) {
    text reason = text_join(text_of(what), TEXT("="), text_of_u64(&call_memory, found), TEXT(" max="),
                            text_of_u64(&call_memory, most));
    return verdict(type, found <= most, reason);
}

static scored max_turns(const json *config, const session_end_event *event) {
    return bounded("max_turns", "turns", event->total_turns, most_of(config, 10));
}

static scored max_tokens(const json *config, const session_end_event *event) {
    uint64_t tokens = event->total_input_tokens + event->total_output_tokens;
    return bounded("max_tokens", "tokens", tokens, most_of(config, 100000));
}

static void put_names(buffer *to, const char *what, const text *names, size_t count) {
    put(to, text_of(what));
    put(to, TEXT("=["));
    for (size_t index = 0; index < count; index++) {
        if (index > 0) {
            put(to, TEXT(", "));
        }
        put(to, names[index]);
    }
    put_byte(to, ']');
}

static scored tool_sequence(const json *config, const session_end_event *event) {
    (void)event;
    const json *expected = json_member(config, "expected");
    size_t wanted = json_is(expected, JSON_ARRAY) ? expected->count : 0, matched = 0;
    text *names = arena_take(&call_memory, wanted + 1, sizeof(text));
    for (size_t index = 0; index < wanted; index++) {
        names[index] = expected->items[index].kind == JSON_TEXT ? expected->items[index].value : TEXT("");
    }
    for (size_t index = 0; index < kept.tool_count && matched < wanted; index++) {
        matched += text_equal(kept.tools[index], names[matched]);
    }
    buffer reason = buffer_in(&call_memory);
    put_names(&reason, "observed", kept.tools, kept.tool_count);
    put_byte(&reason, ' ');
    put_names(&reason, "expected", names, wanted);
    scored found = verdict("tool_sequence", matched == wanted, buffer_text(&reason));
    found.score = wanted == 0 ? 1.0 : (double)matched / (double)wanted;
    return found;
}

// Whoever judges by a model has no score here, and is no scorer that is known.
static const struct {
    const char *type;
    scorer judge;
} SCORERS[] = {
    {"exit_ok", exit_ok},
    {"max_turns", max_turns},
    {"max_tokens", max_tokens},
    {"tool_sequence", tool_sequence},
};

static scorer scorer_of(const json *config) {
    maybe_text type = json_member_text(config, "type");
    for (size_t index = 0; type.given && index < sizeof SCORERS / sizeof *SCORERS; index++) {
        if (text_is(type.value, SCORERS[index].type)) {
            return SCORERS[index].judge;
        }
    }
    return NULL;
}

static const json *scorers(void) {
    const json *found = json_member(kept.config, "scorers");
    return json_is(found, JSON_ARRAY) ? found : NULL;
}

static void complain(text line) {
    text why;
    folder_make(TEXT("logs"), &why);
    file_append(TEXT(OWN_LOG), text_join(line, TEXT("\n")), &why);  // there may be no folder to write to
}

hook_answer on_session_start(const session_context *event) {
    arena_clear(&kept.memory);
    memset(&kept, 0, sizeof kept);
    maybe_text config = environment("MURMUR_EVAL_CONFIG");
    if (!config.given) {
        complain(TEXT("MURMUR_EVAL_CONFIG is not set; nothing is scored"));
        return answer_none();
    }
    text why;
    kept.config = json_read(&kept.memory, text_copy(&kept.memory, config.value), &why);
    if (kept.config == NULL) {
        complain(text_join(TEXT("MURMUR_EVAL_CONFIG is unusable: "), why));
        return answer_none();
    }
    kept.name = text_copy(&kept.memory, event->capsule_name);
    kept.version = text_copy(&kept.memory, event->capsule_version);
    const json *all = scorers();
    for (size_t index = 0; all != NULL && index < all->count; index++) {
        kept.active = kept.active || scorer_of(&all->items[index]) != NULL;
    }
    return answer_none();
}

hook_answer on_tool_call(const tool_event *event) {
    if (kept.active && event->outcome.given && kept.tool_count < MOST_TOOLS) {
        kept.tools[kept.tool_count++] = text_copy(&kept.memory, event->tool_name);
    }
    return answer_none();
}

static maybe_text dataset(void) {
    maybe_text named = environment("MURMUR_DATASET_ID");
    return named.given ? named : json_member_text(kept.config, "dataset_id");
}

static void put_score(buffer *to, const scored *one, uint64_t now, uint32_t turns) {
    json_writer out = json_to(to);
    json_open(&out, '{');
    json_field(&out, "record_type", text, TEXT("event_score"));
    json_field(&out, "ts", u64, now);
    json_field(&out, "turn", u64, turns);
    json_field(&out, "event_type", text, TEXT("session_end"));
    json_field(&out, "scorer", text, one->name);
    json_field(&out, "result", text, one->passed ? TEXT("pass") : TEXT("fail"));
    json_field(&out, "score", spelled, score_text(one->score));
    json_field(&out, "reason", text, one->reason);
    json_close(&out, '}');
    put_byte(to, '\n');
}

static void put_run(buffer *to, const scored *all, size_t count, uint64_t now) {
    bool passed = true;
    json_writer out = json_to(to);
    json_open(&out, '{');
    json_field(&out, "record_type", text, TEXT("dataset_run"));
    json_field(&out, "ts", u64, now);
    json_field(&out, "dataset_id", maybe, dataset());
    json_field(&out, "case_id", maybe, environment("MURMUR_CASE_ID"));
    for (size_t index = 0; index < count; index++) {
        passed = passed && all[index].passed;
    }
    json_field(&out, "overall", text, count == 0 ? TEXT("no_scores") : passed ? TEXT("pass") : TEXT("fail"));
    json_name(&out, "scores");
    json_open(&out, '{');
    for (size_t index = 0; index < count; index++) {
        json_name_text(&out, all[index].name);
        json_put_spelled(&out, score_text(all[index].score));
    }
    json_close(&out, '}');
    json_close(&out, '}');
    put_byte(to, '\n');
}

static void put_log_record(json_writer *out, const scored *one, uint64_t now) {
    json_open(out, '{');
    otlp_nanoseconds(out, "timeUnixNano", now);
    json_name(out, "body");
    json_open(out, '{');
    json_field(out, "stringValue", text, one->reason);
    json_close(out, '}');
    otlp_open_attributes(out);
    otlp_text(out, "eval.scorer", one->name);
    otlp_text(out, "eval.result", one->passed ? TEXT("pass") : TEXT("fail"));
    otlp_text(out, "eval.score", score_text(one->score));
    maybe_text which = environment("MURMUR_CASE_ID");
    if (which.given) {
        otlp_text(out, "eval.case_id", which.value);
    }
    otlp_close_attributes(out);
    json_close(out, '}');
}

static void exported(text endpoint, const scored *all, size_t count, uint64_t now) {
    buffer body = buffer_in(&call_memory);
    json_writer out = json_to(&body);
    otlp_open_request(&out, &OTLP_LOGS, kept.name, kept.version, TEXT(""));
    for (size_t index = 0; index < count; index++) {
        put_log_record(&out, &all[index], now);
    }
    otlp_close_request(&out);
    text why;
    if (!otlp_post(otlp_address(endpoint, "/v1/logs"), buffer_text(&body), &why)) {
        warn(TEXT("[murmur-hook-eval] OTLP export failed: "), why);
    }
}

hook_answer on_session_end(const session_end_event *event) {
    const json *wanted = scorers();
    if (!kept.active || wanted == NULL) {
        return answer_none();
    }
    uint64_t now = wall_clock();
    scored *all = arena_take(&call_memory, wanted->count + 1, sizeof(scored));
    size_t count = 0;
    buffer lines = buffer_in(&call_memory);
    for (size_t index = 0; index < wanted->count; index++) {
        const json *config = &wanted->items[index];
        scorer judge = scorer_of(config);
        if (judge == NULL) {
            continue;
        }
        all[count] = judge(config, event);
        maybe_text name = json_member_text(config, "name");
        all[count].name = name.given ? name.value : text_of(all[count].type);
        put_score(&lines, &all[count++], now / 1000000, event->total_turns);
    }
    put_run(&lines, all, count, now / 1000000);
    text why;
    if (!file_write(TEXT(FILE_NAME), buffer_text(&lines), &why)) {
        return answer_err(TEXT("failed to write " FILE_NAME ": "), why);
    }
    maybe_text endpoint = environment("MURMUR_OTEL_ENDPOINT");
    if (endpoint.given && text_trim(endpoint.value).length > 0) {
        exported(text_trim(endpoint.value), all, count, now);
    }
    kept.active = false;
    return answer_none();
}
