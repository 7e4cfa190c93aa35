/* SPDX-License-Identifier: Apache-2.0
 * api_source.c: lines of source files, only from below the folders that --source-root names. */
#include "server/api.h"

#include "server/listing.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 2 << 20 };

/* A recorded path is one of another machine: its beginning is left off piece by piece, until the rest lies below a root. */
static bool read_below(const char *root, const char *file, struct buf *out, const char **found)
{
    for (const char *rest = file; rest; rest = strchr(rest, '/')) {
        struct err err = ERR_INIT;
        rest += *rest == '/';
        const struct files_place place = {.root = root, .path = rest};
        if (*rest && files_read_text(&place, MOST_BYTES, out, &err)) {
            *found = rest;
            return true;
        }
        out->length = 0;
    }
    return false;
}

static void write_lines(struct json *json, const struct buf *text)
{
    const char *at = text->data, *end = text->data + text->length;
    json_key(json, "lines");
    json_array_begin(json);
    while (text->length > 0 && at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        next = next ? next : end;
        json_string(json, (struct str){at, (size_t)(next - at)});
        at = next + 1;
    }
    json_array_end(json);
}

struct response *api_source(const struct server *server, const struct request *request)
{
    static const char *const NAMES[] = {"file", NULL};
    const char *file = request_param(request, "file", ""), *found = NULL;
    struct response *refusal = listing_check_names(request, NAMES);
    struct buf text = BUF_INIT, buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    if (refusal)
        return refusal;
    if (!file[0])
        return response_problem(400, "argument", "the parameter file is missing");
    for (size_t at = 0; at < server->source_root_count && !found; at++)
        read_below(server->source_roots[at], file, &text, &found);
    json_object_begin(&json);
    json_key_text(&json, "file", file);
    json_key_text(&json, "found", found);
    json_key_bool(&json, "is_available", found != NULL);
    json_key_text(&json, "reason",
                  found                             ? NULL
                  : server->source_root_count == 0 ? "no folder of source files was named: start the daemon with --source-root=DIR"
                                                   : "no such file below the folders of --source-root");
    write_lines(&json, &text);
    json_object_end(&json);
    buf_free(&text);
    return response_json(&buf);
}
