/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/httpd_headers.h"

#include "server/base/memory.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What an answer says itself is not said here again. */
static const struct {
    const char *name, *value;
} EVERY_ANSWER[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-cache"},
};

static bool says(const struct response *response, const char *name)
{
    for (size_t at = 0; at < response->header_count; at++)
        if (strcmp(response->headers[at].name, name) == 0)
            return true;
    return false;
}

static bool httpd_headers_add_one(struct MHD_Response *out, const char *name, const char *value)
{
    return MHD_add_response_header(out, name, value) != MHD_NO;
}

/* What handlers call /api/v1/… is below the prefix for clients. A query may be of any length. */
static bool add_location(const struct httpd_headers *headers, struct MHD_Response *out, const char *path)
{
    char *below = memory_format("%s%s%s", headers->path_prefix, path, headers->location_query);
    bool is_added = httpd_headers_add_one(out, "Location", below);
    free(below);
    return is_added;
}

static bool add_own(const struct httpd_headers *headers, struct MHD_Response *out, const char *name, const char *value)
{
    bool is_path = strcmp(name, "Location") == 0 && value[0] == '/';
    return is_path ? add_location(headers, out, value) : httpd_headers_add_one(out, name, value);
}

static bool add_tag(const char *etag, bool is_packed, struct MHD_Response *out)
{
    char packed[BODY_ETAG_SIZE + 4];
    snprintf(packed, sizeof(packed), "%.*s-gz\"", (int)strlen(etag) - 1, etag);
    return httpd_headers_add_one(out, "ETag", is_packed ? packed : etag);
}

bool httpd_headers_add(const struct httpd_headers *headers, struct MHD_Response *out)
{
    const struct response *response = headers->response;
    bool is_whole = true;
    for (size_t at = 0; at < sizeof(EVERY_ANSWER) / sizeof(EVERY_ANSWER[0]); at++)
        is_whole &= says(response, EVERY_ANSWER[at].name) ||
                    httpd_headers_add_one(out, EVERY_ANSWER[at].name, EVERY_ANSWER[at].value);
    is_whole &= says(response, "Content-Security-Policy") ||
                httpd_headers_add_one(out, "Content-Security-Policy", headers->policy);
    for (size_t at = 0; at < response->header_count; at++)
        is_whole &= add_own(headers, out, response->headers[at].name, response->headers[at].value);
    is_whole &= !response->content_type || httpd_headers_add_one(out, "Content-Type", response->content_type);
    is_whole &= !response->body || httpd_headers_add_one(out, "Vary", "Accept-Encoding");
    is_whole &= !headers->is_packed || httpd_headers_add_one(out, "Content-Encoding", "gzip");
    is_whole &= !response->is_tagged || add_tag(response->body->etag, headers->is_packed, out);
    is_whole &= httpd_headers_add_one(out, "X-Request-Id", headers->id);
    return is_whole & (!headers->is_last || httpd_headers_add_one(out, "Connection", "close"));
}

static enum MHD_Result write_one(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    buf_format(context, "%s: %s\r\n", name, value);
    return MHD_YES;
}

void httpd_headers_write(unsigned status, uint64_t size, struct MHD_Response *response, struct buf *out)
{
    char date[64] = "";
    struct tm parts;
    time_t now = time(NULL);
    if (gmtime_r(&now, &parts))
        strftime(date, sizeof(date), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
    buf_format(out, "HTTP/1.1 %u %s\r\n%s", status, MHD_get_reason_phrase_for(status), date);
    MHD_get_response_headers(response, write_one, out);
    buf_format(out, "Content-Length: %" PRIu64 "\r\n\r\n", size);
}
