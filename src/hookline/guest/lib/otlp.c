#include "otlp.h"

static const char digits[] = "0123456789abcdef";

static uint64_t hashed(uint64_t state, text value) {
    for (size_t index = 0; index < value.length; index++) {
        state = (state ^ (unsigned char)value.data[index]) * UINT64_C(0x100000001b3);
    }
    return state;
}

static void put_hex(char *to, uint64_t value, unsigned count) {
    for (unsigned index = 0; index < count; index++) {
        to[count - 1 - index] = digits[value & 15];
        value >>= 4;
    }
}

text otlp_trace_id(arena *memory, text session_id) {
    char *made = arena_take(memory, 32, 1);
    uint64_t first = hashed(UINT64_C(0xcbf29ce484222325), session_id);
    put_hex(made, first, 16);
    put_hex(made + 16, hashed(first, session_id), 16);
    return (text){made, 32};
}

text otlp_span_id(arena *memory, text trace_id, unsigned number) {
    char *made = arena_take(memory, 16, 1);
    for (size_t index = 0; index < 12; index++) {
        made[index] = index < trace_id.length ? trace_id.data[index] : '0';
    }
    put_hex(made + 12, number & 0xffff, 4);
    return (text){made, 16};
}

void otlp_open_attributes(json_writer *out) {
    json_name(out, "attributes");
    json_open(out, '[');
}

void otlp_close_attributes(json_writer *out) {
    json_close(out, ']');
}

static void open_value(json_writer *out, const char *key, const char *kind) {
    json_open(out, '{');
    json_field(out, "key", text, text_of(key));
    json_name(out, "value");
    json_open(out, '{');
    json_name(out, kind);
}

static void close_value(json_writer *out) {
    json_close(out, '}');
    json_close(out, '}');
}

void otlp_text(json_writer *out, const char *key, text value) {
    open_value(out, key, "stringValue");
    json_put_text(out, value);
    close_value(out);
}

void otlp_size(json_writer *out, const char *key, uint64_t value) {
    otlp_text(out, key, text_of_u64(&call_memory, value));
}

void otlp_number(json_writer *out, const char *key, int64_t value) {
    buffer number = buffer_in(&call_memory);
    put_i64(&number, value);
    open_value(out, key, "intValue");
    json_put_text(out, buffer_text(&number));
    close_value(out);
}

void otlp_nanoseconds(json_writer *out, const char *name, uint64_t value) {
    json_field(out, name, text, text_of_u64(&call_memory, value));
}

static void put_resource(json_writer *out, text name, text version) {
    json_name(out, "resource");
    json_open(out, '{');
    otlp_open_attributes(out);
    otlp_text(out, "service.name", name);
    otlp_text(out, "service.version", version);
    otlp_text(out, "telemetry.sdk.name", TEXT("murmur"));
    otlp_close_attributes(out);
    json_close(out, '}');
}

const otlp_signal OTLP_SPANS = {"resourceSpans", "scopeSpans", "spans"};
const otlp_signal OTLP_LOGS = {"resourceLogs", "scopeLogs", "logRecords"};

void otlp_open_request(json_writer *out, const otlp_signal *signal, text capsule, text version, text scope) {
    json_open(out, '{');
    json_name(out, signal->resources);
    json_open(out, '[');
    json_open(out, '{');
    put_resource(out, capsule, version);
    json_name(out, signal->scopes);
    json_open(out, '[');
    json_open(out, '{');
    if (scope.length > 0) {
        json_name(out, "scope");
        json_open(out, '{');
        json_field(out, "name", text, scope);
        json_close(out, '}');
    }
    json_name(out, signal->records);
    json_open(out, '[');
}

void otlp_close_request(json_writer *out) {
    for (int level = 0; level < 3; level++) {  // records, scopes, resources, each in its object
        json_close(out, ']');
        json_close(out, '}');
    }
}

text otlp_address(text endpoint, const char *path) {
    while (endpoint.length > 0 && endpoint.data[endpoint.length - 1] == '/') {
        endpoint.length--;
    }
    return text_join(endpoint, text_of(path));
}

bool otlp_post(text url, text body, text *why) {
    unsigned status = 0;
    if (!http_post(url, TEXT("application/json"), body, &status, why)) {
        return false;
    }
    if (status < 200 || status > 299) {
        *why = text_join(TEXT("the collector answered with status "), text_of_u64(&call_memory, status));
        return false;
    }
    return true;
}
