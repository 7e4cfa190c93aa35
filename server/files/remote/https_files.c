/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote_service.h"

#include "server/base/memory.h"
#include "server/files/remote/https_page.h"
#include "server/files/remote/remote_walk.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_MAX_BYTES = 16 << 20, DEPTH_MAX = 40, REDIRECTS_MAX = 4 };

/* The address is encoded as it was given; what lies below it is encoded here. free() */
static char *url_of(const struct remote_address *address, const char *path, bool is_folder)
{
    struct buf url = BUF_INIT;
    buf_format(&url, "%s/%s%s", address->bucket, address->key, address->key[0] && path[0] ? "/" : "");
    remote_address_encode(&url, path, true);
    if (is_folder && url.length > 0 && url.data[url.length - 1] != '/')
        buf_char(&url, '/');
    char *text = memory_format("%.*s", (int)url.length, url.data);
    buf_free(&url);
    return text;
}

/* Where a redirect leads: by https, or on the same server. NULL: nowhere that is gone to; free(). */
static char *redirect_of(const struct remote_address *address, const struct http_client_answer *answer)
{
    char location[2048];
    size_t server = strlen(address->bucket);
    if (answer->status < 301 || answer->status > 308 || answer->status == 304 ||
        !http_client_header(answer, "location", location, sizeof(location)))
        return NULL;
    if (location[0] == '/' && location[1] != '/')
        return memory_format("%s%s", address->bucket, location);
    bool is_same_server = strncmp(location, address->bucket, server) == 0 && location[server] == '/';
    return is_same_server || strncmp(location, "https://", 8) == 0 ? memory_text(location) : NULL;
}

/* Follows redirects to other hosts, because no secret is sent. It does not when it goes on with a range of which some
 * bytes were taken: a new request would bring those once more. */
static bool https_files_ask(const struct remote_address *address, char *url, const struct http_client_request *like,
                            struct http_client_answer *answer, struct err *err)
{
    struct http_client_request request = *like;
    bool is_answered = false;
    for (int at = 0; url && at < REDIRECTS_MAX; at++) {
        request.url = url;
        is_answered = http_client_perform(&request, answer, err);
        char *next = is_answered && answer->taken == 0 ? redirect_of(address, answer) : NULL;
        free(url);
        url = next;
        if (url && at + 1 < REDIRECTS_MAX)
            http_client_free(answer);
    }
    free(url);
    return is_answered && remote_answer_is_good(answer, err);
}

static bool https_look(const struct remote_address *address, const char *path, struct remote_answer_object *object,
                       struct err *err)
{
    struct http_client_answer answer = {.status = 0};
    const struct http_client_request request = {.method = HTTP_CLIENT_HEAD};
    bool is_good = https_files_ask(address, url_of(address, path, false), &request, &answer, err) &&
                   remote_answer_object(&answer, object, err);
    http_client_free(&answer);
    return is_good;
}

/* A weak tag cannot be a condition: then the answer's own is looked at (remote_blocks.c). */
static bool https_read(const struct remote_address *address, const char *path, const char *etag,
                       const struct http_client_request *like, struct err *err)
{
    struct http_client_answer answer = {.status = 0};
    struct http_client_request request = *like;
    char *condition = memory_format("If-Match: %s", etag);
    const char *const headers[] = {condition};
    request.headers = headers;
    request.header_count = etag[0] == '"' ? 1 : 0;
    bool is_good = https_files_ask(address, url_of(address, path, false), &request, &answer, err);
    http_client_free(&answer);
    free(condition);
    return is_good;
}

/* ---- listing -------------------------------------------------------------------------------- */

struct https_files_listing {
    const struct remote_address *address;
    struct remote_listing *listing;
};

struct folder {
    const struct https_files_listing *of;
    struct remote_walk *walk;
    const char *path;
    unsigned depth;
};

/* What is to be visited is a path below the address; that of a folder ends with a slash. */
static void entry_add(void *context, const char *name, bool is_folder)
{
    const struct folder *folder = context;
    if (name[0] == '.' || (is_folder ? folder->depth >= DEPTH_MAX : !remote_listing_wants(folder->of->listing, name)))
        return;
    char *path = memory_format("%s%s%s", folder->path, name, is_folder ? "/" : "");
    remote_walk_add(folder->walk, path, folder->depth + 1);
    free(path);
}

static bool list_folder(const struct folder *folder, struct err *err)
{
    struct http_client_answer answer = {.status = 0};
    const struct http_client_request request = {.body_max_bytes = PAGE_MAX_BYTES};
    char *url = url_of(folder->of->address, folder->path, true);
    char *path = memory_text(url + strlen(folder->of->address->bucket));
    bool is_good =
        https_files_ask(folder->of->address, url, &request, &answer, err) &&
        https_page_read(answer.body.data, answer.body.length, path, entry_add, (void *)(uintptr_t)folder, err);
    http_client_free(&answer);
    free(path);
    return is_good;
}

/* One that is gone since the page was made is none. */
static bool list_file(const struct https_files_listing *listing, const char *path, struct err *err)
{
    struct remote_answer_object told;
    struct err reason = ERR_INIT;
    if (!https_look(listing->address, path, &told, &reason)) {
        bool is_gone = reason.code == ERR_notfound;
        if (!is_gone)
            *err = reason;
        return is_gone;
    }
    remote_listing_add(listing->listing, &(struct remote_object){.path = path,
                                                                 .etag = told.etag,
                                                                 .size_bytes = told.size_bytes,
                                                                 .modified_at_ns = told.modified_at_ns});
    return true;
}

static bool https_files_visit(struct remote_walk *walk, void *context, const char *path, unsigned depth,
                              struct err *err)
{
    const struct https_files_listing *listing = context;
    size_t length = strlen(path);
    if (length > 0 && path[length - 1] != '/')
        return list_file(listing, path, err);
    const struct folder folder = {listing, walk, path, depth};
    return list_folder(&folder, err);
}

static bool https_list(const struct remote_address *address, struct remote_listing *listing, struct err *err)
{
    struct https_files_listing context = {address, listing};
    return remote_walk_run(https_files_visit, &context, "", err);
}

const struct remote_service https_files_service = {https_list, https_look, https_read};
