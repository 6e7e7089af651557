// A request through wasi:http, in the order in which that interface wants its parts made and given away. A handle is an
// int32_t; "owned" ones have to be dropped here unless they are given away.
#include "../http.h"

#define IMPORTED(interface, name) __attribute__((import_module(interface), import_name(name)))
#define TYPES "wasi:http/types@0.2.12"
#define HANDLER "wasi:http/outgoing-handler@0.2.12"
#define STREAMS "wasi:io/streams@0.2.12"
#define POLL "wasi:io/poll@0.2.12"

#define PATIENCE 10000000000  // nanoseconds to connect, and to the first byte; the host's deadline for a call is 30 s
#define PIECE 4096            // as much as blocking-write-and-flush takes at once
#define METHOD_POST 2

typedef int32_t handle;

typedef struct {
    text name;
    text value;
} header;

// error-code: its case, and where that is internal-error a text that may be given. The others are told by name alone.
typedef struct {
    uint8_t which;
    union {
        maybe_text words;
        uint64_t room[3];
    } of;
} error_code;
_Static_assert(sizeof(error_code) == 32, "size");

// result<own>, for any error that has no payload or is smaller than the handle.
typedef struct {
    uint8_t is_err;
    handle owned;
} made;

// result<_, stream-error>: last-operation-failed, with an owned error, or closed.
typedef struct {
    uint8_t is_err;
    struct {
        uint8_t closed;
        handle owned;
    } error;
} written;
_Static_assert(offsetof(written, error.owned) == 8 && sizeof(written) == 12, "layout");

typedef struct {
    uint8_t is_err;
    union {
        handle owned;
        error_code error;
    } of;
} handled;
_Static_assert(offsetof(handled, of) == 8 && sizeof(handled) == 40, "layout");

// option<result<result<incoming-response, error-code>>>
typedef struct {
    uint8_t is_there;
    struct {
        uint8_t is_err;
        handled inner;
    } outer;
} received;
_Static_assert(offsetof(received, outer.inner) == 16 && sizeof(received) == 56, "layout");

IMPORTED(TYPES, "[static]fields.from-list") void fields_from_list(const header *list, size_t count, made *result);
IMPORTED(TYPES, "[constructor]outgoing-request") handle request_new(handle owned_headers);
IMPORTED(TYPES, "[method]outgoing-request.set-method")
int32_t request_set_method(handle request, int32_t method, const char *other, size_t length);
IMPORTED(TYPES, "[method]outgoing-request.set-scheme")
int32_t request_set_scheme(handle request, int32_t is_given, int32_t scheme, const char *other, size_t length);
IMPORTED(TYPES, "[method]outgoing-request.set-authority")
int32_t request_set_authority(handle request, int32_t is_given, const char *authority, size_t length);
IMPORTED(TYPES, "[method]outgoing-request.set-path-with-query")
int32_t request_set_path(handle request, int32_t is_given, const char *path, size_t length);
IMPORTED(TYPES, "[method]outgoing-request.body") void request_body(handle request, made *result);
IMPORTED(TYPES, "[resource-drop]outgoing-request") void request_drop(handle owned);
IMPORTED(TYPES, "[constructor]request-options") handle options_new(void);
IMPORTED(TYPES, "[method]request-options.set-connect-timeout")
int32_t options_set_connect(handle options, int32_t is_given, uint64_t nanoseconds);
IMPORTED(TYPES, "[method]request-options.set-first-byte-timeout")
int32_t options_set_first_byte(handle options, int32_t is_given, uint64_t nanoseconds);
IMPORTED(TYPES, "[method]outgoing-body.write") void body_write(handle body, made *result);
IMPORTED(TYPES, "[static]outgoing-body.finish")
void body_finish(handle owned, int32_t has_trailers, handle trailers, handled *result);
IMPORTED(TYPES, "[resource-drop]outgoing-body") void body_drop(handle owned);
IMPORTED(STREAMS, "[method]output-stream.blocking-write-and-flush")
void stream_write(handle stream, const char *bytes, size_t length, written *result);
IMPORTED(STREAMS, "[resource-drop]output-stream") void stream_drop(handle owned);
IMPORTED("wasi:io/error@0.2.12", "[resource-drop]error") void error_drop(handle owned);
IMPORTED(HANDLER, "handle")
void handler_handle(handle owned_request, int32_t has_options, handle owned_options, handled *result);
IMPORTED(TYPES, "[method]future-incoming-response.subscribe") handle future_subscribe(handle future);
IMPORTED(TYPES, "[method]future-incoming-response.get") void future_get(handle future, received *result);
IMPORTED(TYPES, "[resource-drop]future-incoming-response") void future_drop(handle owned);
IMPORTED(POLL, "[method]pollable.block") void pollable_block(handle pollable);
IMPORTED(POLL, "[resource-drop]pollable") void pollable_drop(handle owned);
IMPORTED(TYPES, "[method]incoming-response.status") int32_t response_status(handle response);
IMPORTED(TYPES, "[resource-drop]incoming-response") void response_drop(handle owned);

static const char *const error_names[] = {
    "DNS-timeout", "DNS-error", "destination-not-found", "destination-unavailable", "destination-IP-prohibited",
    "destination-IP-unroutable", "connection-refused", "connection-terminated", "connection-timeout",
    "connection-read-timeout", "connection-write-timeout", "connection-limit-reached", "TLS-protocol-error",
    "TLS-certificate-error", "TLS-alert-received", "HTTP-request-denied", "HTTP-request-length-required",
    "HTTP-request-body-size", "HTTP-request-method-invalid", "HTTP-request-URI-invalid", "HTTP-request-URI-too-long",
    "HTTP-request-header-section-size", "HTTP-request-header-size", "HTTP-request-trailer-section-size",
    "HTTP-request-trailer-size", "HTTP-response-incomplete", "HTTP-response-header-section-size",
    "HTTP-response-header-size", "HTTP-response-body-size", "HTTP-response-trailer-section-size",
    "HTTP-response-trailer-size", "HTTP-response-transfer-coding", "HTTP-response-content-coding",
    "HTTP-response-timeout", "HTTP-upgrade-failed", "HTTP-protocol-error", "loop-detected", "configuration-error",
    "internal-error",
};
#define INTERNAL_ERROR (sizeof error_names / sizeof *error_names - 1)

static bool fails(text why, text *error) {
    *error = why;
    return false;
}

static bool fails_by(const error_code *code, text *error) {
    if (code->which > INTERNAL_ERROR) {
        return fails(TEXT("an unknown error"), error);
    }
    text name = text_of(error_names[code->which]);
    bool explained = code->which == INTERNAL_ERROR && code->of.words.given;
    return fails(explained ? text_join(name, TEXT(": "), code->of.words.value) : name, error);
}

static bool request_made(const http_url *url, text content_type, text body, handle *request, text *error) {
    const header headers[] = {
        {TEXT("content-type"), content_type},
        {TEXT("content-length"), text_of_u64(&call_memory, body.length)},
    };
    made fields = {0};
    fields_from_list(headers, 2, &fields);
    if (fields.is_err) {
        return fails(TEXT("the headers are refused"), error);
    }
    *request = request_new(fields.owned);
    if (request_set_method(*request, METHOD_POST, NULL, 0) != 0 ||
        request_set_scheme(*request, 1, url->secure, NULL, 0) != 0 ||
        request_set_authority(*request, 1, url->authority.data, url->authority.length) != 0 ||
        request_set_path(*request, 1, url->path.data, url->path.length) != 0) {
        request_drop(*request);
        return fails(TEXT("the address is refused"), error);
    }
    return true;
}

static handle patient_options(void) {
    handle options = options_new();
    // A host that cannot wait for a bounded time still ends the call at its deadline.
    (void)options_set_connect(options, 1, PATIENCE);
    (void)options_set_first_byte(options, 1, PATIENCE);
    return options;
}

static bool stream_written(handle stream, text body) {
    for (size_t start = 0; start < body.length; start += PIECE) {
        text piece = text_part(body, start, PIECE);
        written result = {0};
        stream_write(stream, piece.data, piece.length, &result);
        if (result.is_err && !result.error.closed) {
            error_drop(result.error.owned);
        }
        if (result.is_err) {
            return false;
        }
    }
    return true;
}

// Gives *owned* away, or drops it.
static bool body_sent(handle owned, text body, text *error) {
    made stream = {0};
    body_write(owned, &stream);
    bool fine = !stream.is_err && stream_written(stream.owned, body);
    if (!stream.is_err) {
        stream_drop(stream.owned);
    }
    if (!fine) {
        body_drop(owned);
        return fails(TEXT("the request could not be sent"), error);
    }
    handled finished = {0};
    body_finish(owned, 0, 0, &finished);
    return finished.is_err ? fails_by(&finished.of.error, error) : true;
}

static bool answered(handle future, unsigned *status, text *error) {
    handle pollable = future_subscribe(future);
    pollable_block(pollable);
    pollable_drop(pollable);
    received result = {0};
    future_get(future, &result);
    if (!result.is_there || result.outer.is_err) {
        return fails(TEXT("no response"), error);
    }
    if (result.outer.inner.is_err) {
        return fails_by(&result.outer.inner.of.error, error);
    }
    *status = (unsigned)response_status(result.outer.inner.of.owned);
    response_drop(result.outer.inner.of.owned);
    return true;
}

bool http_post(text url, text content_type, text body, unsigned *status, text *error) {
    http_url parts;
    handle request;
    if (!http_url_read(url, &parts, error) || !request_made(&parts, content_type, body, &request, error)) {
        return false;
    }
    made outgoing = {0};
    request_body(request, &outgoing);
    if (outgoing.is_err) {
        request_drop(request);
        return fails(TEXT("the request takes no body"), error);
    }
    handled future = {0};
    handler_handle(request, 1, patient_options(), &future);
    if (future.is_err) {
        body_drop(outgoing.owned);
        return fails_by(&future.of.error, error);
    }
    // A server may answer before it has read everything, and where none does, what came of waiting says more than that
    // not all was sent.
    text unsent;
    (void)body_sent(outgoing.owned, body, &unsent);
    bool fine = answered(future.of.owned, status, error);
    future_drop(future.of.owned);
    return fine;
}
