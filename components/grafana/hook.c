// A session as OTLP spans. They are kept in memory, and sent once, when the session ends: nothing waits for a collector
// while there is work.
#include "../lib/hook.h"
#include "../lib/otlp.h"

#include <string.h>

#define MILLISECOND UINT64_C(1000000)
#define MOST_SPANS 0xffff          // their numbers have four digits
#define MOST_BYTES (16u << 20)     // of all spans: a session that goes on for ever must not fill the memory
#define SHOWN_COMMAND 200
#define SHOWN_STREAM 4096

static struct {
    arena memory;
    bool active;
    text name, version, model, session, trace, root;
    uint64_t begun;
    buffer spans;
    unsigned count, dropped;
} kept;

static text endpoint(void) {
    maybe_text found = environment("MURMUR_OTEL_ENDPOINT");
    return found.given ? text_trim(found.value) : TEXT("");
}

hook_answer on_session_start(const session_context *event) {
    arena_clear(&kept.memory);
    memset(&kept, 0, sizeof kept);
    if (endpoint().length == 0) {
        warn(TEXT("[murmur-hook-grafana] MURMUR_OTEL_ENDPOINT is not set; no spans are exported"));
        return answer_none();
    }
    kept.active = true;
    kept.name = text_copy(&kept.memory, event->capsule_name);
    kept.version = text_copy(&kept.memory, event->capsule_version);
    kept.model = text_copy(&kept.memory, event->model);
    kept.session = text_copy(&kept.memory, event->session_id);
    kept.trace = otlp_trace_id(&kept.memory, kept.session);
    kept.root = otlp_span_id(&kept.memory, kept.trace, 0);
    kept.begun = wall_clock();
    kept.spans = buffer_in(&kept.memory);
    return answer_none();
}

// A span, up to its attributes, which are open.
static json_writer begin(buffer *to, const char *name, unsigned number, uint64_t from, uint64_t until) {
    json_writer out = json_to(to);
    json_open(&out, '{');
    json_field(&out, "traceId", text, kept.trace);
    json_field(&out, "spanId", text, otlp_span_id(&call_memory, kept.trace, number));
    if (number > 0) {
        json_field(&out, "parentSpanId", text, kept.root);
    }
    json_field(&out, "name", text, text_of(name));
    json_field(&out, "kind", u64, 1);
    otlp_nanoseconds(&out, "startTimeUnixNano", from);
    otlp_nanoseconds(&out, "endTimeUnixNano", until);
    otlp_open_attributes(&out);
    return out;
}

static void end(json_writer *out, bool ok) {
    otlp_close_attributes(out);
    json_name(out, "status");
    json_open(out, '{');
    json_field(out, "code", u64, ok ? 1 : 2);
    json_close(out, '}');
    json_close(out, '}');
}

static bool has_room(void) {
    if (!kept.active) {
        return false;
    }
    if (kept.count >= MOST_SPANS || kept.spans.length >= MOST_BYTES) {
        kept.dropped++;
        return false;
    }
    return true;
}

// A child that took *milliseconds*, up to now.
static json_writer begin_child(buffer *to, const char *name, uint64_t milliseconds) {
    uint64_t now = wall_clock();
    uint64_t took = milliseconds * MILLISECOND;
    *to = buffer_in(&call_memory);
    return begin(to, name, ++kept.count, took < now - kept.begun ? now - took : kept.begun, now);
}

static hook_answer keep(json_writer *out, buffer *span, bool ok) {
    end(out, ok);
    if (kept.spans.length > 0) {
        put_byte(&kept.spans, ',');
    }
    put(&kept.spans, buffer_text(span));
    return answer_none();
}

static void put_given(json_writer *out, const char *key, maybe_text value) {
    if (value.given) {
        otlp_text(out, key, value.value);
    }
}

hook_answer on_inference(const inference_event *event) {
    if (!has_room()) {
        return answer_none();
    }
    buffer span;
    json_writer out = begin_child(&span, "capsule.inference", 1);
    otlp_number(&out, "turn", event->turn);
    otlp_size(&out, "gen_ai.usage.input_tokens", event->input_tokens);
    otlp_size(&out, "gen_ai.usage.output_tokens", event->output_tokens);
    otlp_text(&out, "decision", event->decision);
    put_given(&out, "tool_name", event->tool_name);
    put_given(&out, "gen_ai.request.tools", event->tools);
    put_given(&out, "gen_ai.prompt", event->prompt);
    put_given(&out, "gen_ai.completion", event->output);
    return keep(&out, &span, true);
}

hook_answer on_tool_call(const tool_event *event) {
    if (!event->outcome.given || !has_room()) {
        return answer_none();
    }
    const tool_outcome *outcome = &event->outcome.value;
    buffer span;
    json_writer out = begin_child(&span, "capsule.tool_call", outcome->duration_ms);
    otlp_number(&out, "turn", event->turn);
    otlp_text(&out, "tool_name", event->tool_name);
    otlp_size(&out, "input_bytes", event->input_bytes);
    otlp_size(&out, "output_bytes", outcome->output_bytes);
    otlp_size(&out, "duration_ms", outcome->duration_ms);
    otlp_text(&out, "status", outcome->status);
    return keep(&out, &span, text_is(outcome->status, "ok"));
}

hook_answer on_shell(const shell_event *event) {
    if (!event->outcome.given || !has_room()) {
        return answer_none();
    }
    const shell_outcome *outcome = &event->outcome.value;
    buffer span;
    json_writer out = begin_child(&span, "capsule.shell", outcome->duration_ms);
    otlp_number(&out, "turn", event->turn);
    otlp_text(&out, "command", text_characters(event->command, SHOWN_COMMAND));
    otlp_number(&out, "exit_code", outcome->exit_code);
    otlp_size(&out, "duration_ms", outcome->duration_ms);
    otlp_text(&out, "stdout", text_characters(outcome->stdout_text, SHOWN_STREAM));
    if (outcome->stderr_text.length > 0) {
        otlp_text(&out, "stderr", text_characters(outcome->stderr_text, SHOWN_STREAM));
    }
    return keep(&out, &span, outcome->exit_code == 0);
}

hook_answer on_compaction(const compaction_event *event) {
    if (!has_room()) {
        return answer_none();
    }
    buffer span, ratio = buffer_in(&call_memory);
    put_f64(&ratio, event->threshold);
    json_writer out = begin_child(&span, "capsule.compaction", 1);
    otlp_size(&out, "session_tokens", event->session_tokens);
    otlp_text(&out, "threshold", buffer_text(&ratio));
    otlp_size(&out, "message_count", event->messages.count);
    return keep(&out, &span, true);
}

static void put_root(buffer *to, const session_end_event *event) {
    json_writer out = begin(to, "capsule.session", 0, kept.begun, wall_clock());
    otlp_text(&out, "service.name", kept.name);
    otlp_text(&out, "service.version", kept.version);
    otlp_text(&out, "model", kept.model);
    otlp_text(&out, "exit_status", event->exit_status);
    otlp_text(&out, "murmur.session_id", kept.session);
    otlp_size(&out, "total_turns", event->total_turns);
    otlp_size(&out, "total_input_tokens", event->total_input_tokens);
    otlp_size(&out, "total_output_tokens", event->total_output_tokens);
    maybe_text formation = environment("MURMUR_FORMATION_ID");
    put_given(&out, "murmur.formation_id", formation);
    if (kept.dropped > 0) {
        otlp_size(&out, "murmur.dropped_spans", kept.dropped);
    }
    end(&out, text_is(event->exit_status, "ok"));
}

static text traces(const session_end_event *event) {
    buffer body = buffer_in(&call_memory), root = buffer_in(&call_memory);
    json_writer out = json_to(&body);
    otlp_open_request(&out, &OTLP_SPANS, kept.name, kept.version, TEXT("murmur-hook-grafana"));
    put_root(&root, event);
    json_put_spelled(&out, buffer_text(&root));
    if (kept.spans.length > 0) {
        json_put_spelled(&out, buffer_text(&kept.spans));
    }
    otlp_close_request(&out);
    return buffer_text(&body);
}

hook_answer on_session_end(const session_end_event *event) {
    if (!kept.active) {
        return answer_none();
    }
    text why;
    bool sent = otlp_post(otlp_address(endpoint(), "/v1/traces"), traces(event), &why);
    kept.active = false;
    if (!sent) {
        return answer_err(TEXT("[murmur-hook-grafana] OTLP export failed: "), why);
    }
    return answer_none();
}
