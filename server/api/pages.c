/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/pages.h"

#include "server/api/web_files.h"
#include "server/files/files.h"

#include <string.h>

enum { MAX_BYTES = 16 << 20 };

static const struct {
    const char *ending, *content_type;
} TYPES[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".json", "application/json"},
    {".wasm", "application/wasm"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
};

/* The worker that lays out call graphs runs WebAssembly; a worker's policy is that of its own answer. */
static const struct {
    const char *path, *policy;
} POLICIES[] = {
    {"widgets/graph_worker.js", RESPONSE_POLICY("'self' 'wasm-unsafe-eval'")},
};

static void add_policy(struct response *response, const char *path)
{
    for (size_t at = 0; at < sizeof(POLICIES) / sizeof(POLICIES[0]); at++)
        if (strcmp(POLICIES[at].path, path) == 0)
            response_add_header(response, "Content-Security-Policy", "%s", POLICIES[at].policy);
}

/* NULL for a file that is no part of a page. */
static const char *type_of(const char *path)
{
    size_t length = strlen(path);
    for (size_t at = 0; at < sizeof(TYPES) / sizeof(TYPES[0]); at++) {
        size_t ending = strlen(TYPES[at].ending);
        if (length > ending && strcmp(path + length - ending, TYPES[at].ending) == 0)
            return TYPES[at].content_type;
    }
    return NULL;
}

/* What has the hash of its content in its address never changes. */
static struct response *answer_built_in(const char *path)
{
    for (size_t at = 0; at < web_file_count; at++) {
        const struct web_file *file = &web_files[at];
        bool is_hashed = file->hashed_path && strcmp(file->hashed_path, path) == 0;
        if (!is_hashed && (!file->path || strcmp(file->path, path) != 0))
            continue;
        struct response *response = response_of_body(200, file->content_type, web_files_body(file));
        if (is_hashed)
            response_add_header(response, "Cache-Control", "public, max-age=31536000, immutable");
        add_policy(response, file->path);
        return response;
    }
    return NULL;
}

static struct response *answer_from_disk(const char *folder, const char *path)
{
    struct files_place place = {.root = folder, .path = path};
    struct err err = ERR_INIT;
    const char *content_type = type_of(path);
    if (!content_type || path[0] == '.' || strstr(path, "/.") || strstr(path, "//"))
        return NULL;
    struct file *file = files_open(&place, &err);
    if (!file)
        return NULL;
    struct response *response = NULL;
    struct buf buf = BUF_INIT;
    uint64_t size = files_identity(file)->size_bytes;
    char *room = size <= MAX_BYTES ? buf_reserve(&buf, (size_t)size) : NULL;
    if (room && files_source(file)->read(files_source(file)->context, 0, room, (size_t)size) == (int64_t)size) {
        buf.length = (size_t)size;
        response = response_of_buf(200, content_type, &buf);
        add_policy(response, path);
    }
    buf_free(&buf);
    files_close(file);
    return response;
}

/* What --web-dir has only as gzip (vendor/viz.js) stays the built-in one. */
struct response *pages_answer(const struct server *server, const struct request *request)
{
    const char *path = request->path + 1;
    if (path[0] == '\0')
        path = "index.html";
    struct response *response = NULL;
    if (server->web_folder)
        response = answer_from_disk(server->web_folder, path);
    if (!response)
        response = answer_built_in(path);
    return response ? response : response_problem(404, "notfound", "there is nothing at this path");
}
