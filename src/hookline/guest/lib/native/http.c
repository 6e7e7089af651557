// A request through a socket of this machine, without encryption.
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "../http.h"

#define PATIENCE 10  // seconds for each step; the host's deadline for a call is 30 s

static bool fails(text why, text *error) {
    *error = why;
    return false;
}

// Of "host:port", "[::1]:port" and both without a port.
static void take_apart(text authority, const char **host, const char **port) {
    bool bracketed = text_starts(authority, "[");
    size_t end = bracketed ? text_find(authority, ']') : text_find(authority, ':');
    text name = text_part(authority, bracketed, end - bracketed);
    text rest = text_part(authority, end + bracketed, authority.length);
    *host = text_terminated(&call_memory, name);
    *port = text_starts(rest, ":") ? text_terminated(&call_memory, text_part(rest, 1, rest.length)) : "80";
}

static int connected_to(const struct addrinfo *place) {
    int server = socket(place->ai_family, place->ai_socktype | SOCK_CLOEXEC, place->ai_protocol);
    const struct timeval patience = {.tv_sec = PATIENCE};
    if (server < 0) {
        return -1;
    }
    // Linux bounds connect() by the time for sending.
    if (setsockopt(server, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
        setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
        connect(server, place->ai_addr, place->ai_addrlen) == 0) {
        return server;
    }
    int reason = errno;
    close(server);
    errno = reason;
    return -1;
}

static int connected(text authority, text *error) {
    const char *host, *port;
    take_apart(authority, &host, &port);
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    int refused = getaddrinfo(host, port, &wanted, &found);
    if (refused != 0) {
        *error = text_of(gai_strerror(refused));
        return -1;
    }
    int server = -1;
    for (const struct addrinfo *place = found; place != NULL && server < 0; place = place->ai_next) {
        server = connected_to(place);
    }
    *error = text_of(server < 0 ? strerror(errno) : "");
    freeaddrinfo(found);
    return server;
}

static bool all_sent(int server, text bytes) {
    while (bytes.length > 0) {
        ssize_t sent = send(server, bytes.data, bytes.length, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes = text_part(bytes, (size_t)sent, bytes.length);
    }
    return true;
}

// "HTTP/1.1 200 ...", of which the first 12 bytes are enough.
static bool status_received(int server, unsigned *status, text *error) {
    char line[12];
    size_t length = 0;
    while (length < sizeof line) {
        ssize_t count = recv(server, line + length, sizeof line - length, 0);
        if (count < 0) {
            return fails(text_of(strerror(errno)), error);
        }
        if (count == 0) {
            return fails(TEXT("the server closed the connection without a response"), error);
        }
        length += (size_t)count;
    }
    unsigned code = 0;
    for (size_t at = 9; at < sizeof line; at++) {
        code = line[at] >= '0' && line[at] <= '9' ? code * 10 + (unsigned)(line[at] - '0') : 0;
    }
    if (!text_starts((text){line, sizeof line}, "HTTP/1.") || code < 100) {
        return fails(TEXT("the response is not HTTP"), error);
    }
    *status = code;
    return true;
}

static text request(const http_url *url, text content_type, text body) {
    return text_join(TEXT("POST "), url->path, TEXT(" HTTP/1.1\r\nhost: "), url->authority,
                     TEXT("\r\nconnection: close\r\ncontent-type: "), content_type, TEXT("\r\ncontent-length: "),
                     text_of_u64(&call_memory, body.length), TEXT("\r\n\r\n"), body);
}

bool http_post(text url, text content_type, text body, unsigned *status, text *error) {
    http_url parts;
    if (!http_url_read(url, &parts, error)) {
        return false;
    }
    if (parts.secure) {
        return fails(TEXT("https needs the component: this program speaks http only"), error);
    }
    int server = connected(parts.authority, error);
    if (server < 0) {
        return false;
    }
    // A server may answer before it has read everything, so that a failure to send is not the last word.
    (void)all_sent(server, request(&parts, content_type, body));
    bool fine = status_received(server, status, error);
    close(server);
    return fine;
}
