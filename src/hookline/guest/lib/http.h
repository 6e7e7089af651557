// One request to a server that the hook was granted. A program of this machine speaks plain http only.
#ifndef HOOKLINE_HTTP_H
#define HOOKLINE_HTTP_H

#include "text.h"

// True: the server has answered, and *status* is what it said. Redirects are not followed, its body is not read.
bool http_post(text url, text content_type, text body, unsigned *status, text *error);

// An address taken apart. `authority` is the host, and the port where there is one; `path` begins with '/'.
typedef struct {
    bool secure;
    text authority;
    text path;
} http_url;

// False where it is no http or https address, or holds something that does not belong in one.
bool http_url_read(text url, http_url *parts, text *error);

#endif
