/* SPDX-License-Identifier: Apache-2.0
 * httpd_headers.h: the headers of an answer, as libmicrohttpd sends them. */
#pragma once

#include "server/http/response.h"

#include <stdbool.h>
#include <stdint.h>

struct MHD_Response; /* microhttpd.h */

struct httpd_headers {
    const struct response *response;
    const char *policy;         /* Content-Security-Policy where the answer has none of its own */
    const char *path_prefix;    /* before a Location, which handlers know without it */
    const char *location_query; /* behind it: that of a request for the prefix without its slash; else "" */
    const char *id;             /* X-Request-Id */
    bool is_packed;             /* its bytes are gzip */
    bool is_last;               /* of its connection */
};

/* False where there was no memory for one of them: then nothing may be sent, for it may be the one that says how the
 * bytes are packed, or what a page may do. */
bool httpd_headers_add(const struct httpd_headers *headers, struct MHD_Response *out);

/* The head of an answer of `size` bytes that the library does not send itself, to its empty line. */
void httpd_headers_write(unsigned status, uint64_t size, struct MHD_Response *response, struct buf *out);
