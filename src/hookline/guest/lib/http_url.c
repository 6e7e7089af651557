#include "http.h"

static bool is_clean(text url) {
    for (size_t at = 0; at < url.length; at++) {
        unsigned char byte = (unsigned char)url.data[at];
        if (byte <= ' ' || byte == 0x7F) {
            return false;  // a line end would begin a header of its own
        }
    }
    return true;
}

// Up to the query or the fragment, should one follow the host at once.
static size_t authority_length(text rest) {
    size_t end = text_find(rest, '/');
    size_t query = text_find(rest, '?'), fragment = text_find(rest, '#');
    end = query < end ? query : end;
    return fragment < end ? fragment : end;
}

bool http_url_read(text url, http_url *parts, text *error) {
    bool secure = text_starts(url, "https://");
    if (!is_clean(url) || !(secure || text_starts(url, "http://"))) {
        *error = text_join(TEXT("'"), url, TEXT("' is no http or https address"));
        return false;
    }
    text rest = text_part(url, secure ? 8 : 7, url.length);
    rest = text_part(rest, 0, text_find(rest, '#'));
    text authority = text_part(rest, 0, authority_length(rest));
    if (authority.length == 0 || text_find(authority, '@') < authority.length) {
        *error = text_join(TEXT("'"), url, TEXT("' names no host, or a user"));
        return false;
    }
    text path = text_part(rest, authority.length, rest.length);
    path = text_starts(path, "/") ? path : text_join(TEXT("/"), path);
    *parts = (http_url){.secure = secure, .authority = authority, .path = path};
    return true;
}
