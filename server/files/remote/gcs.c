/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote_service.h"

#include "server/base/memory.h"
#include "server/files/remote/gcs_answer.h"
#include "server/files/remote/google_credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_MAX_BYTES = 16 << 20 };

const char *gcs_endpoint(void)
{
    const char *found = getenv("STORAGE_EMULATOR_HOST");
    return found && found[0] ? found : NULL;
}

/* "http://" is added where the emulator's variable leaves it out, as Google's libraries do. */
static void server_write(struct buf *url)
{
    const char *server = gcs_endpoint();
    size_t length = server ? strlen(server) : 0;
    while (length > 0 && server[length - 1] == '/')
        length--;
    if (!server)
        buf_text(url, "https://storage.googleapis.com");
    else
        buf_format(url, "%s%.*s", strstr(server, "://") ? "" : "http://", (int)length, server);
}

/* True when it was answered well. The token goes to Google alone. */
static bool gcs_ask(const struct buf *url, const struct http_client_request *like, struct http_client_answer *answer,
                    struct err *err)
{
    struct http_client_request request = *like;
    char *token = NULL;
    *answer = (struct http_client_answer){.status = 0};
    if (!gcs_endpoint() && !google_credentials_token(&token, err))
        return false;
    char *header = memory_format("Authorization: Bearer %s", token ? token : "");
    char *text = memory_format("%.*s", (int)url->length, url->data);
    const char *const headers[] = {header};
    request.url = text;
    request.headers = headers;
    request.header_count = token != NULL;
    bool is_answered = http_client_perform(&request, answer, err);
    if (is_answered && answer->status == 401)
        google_credentials_forget();
    free(header);
    free(text);
    free(token);
    return is_answered && remote_answer_is_good(answer, err);
}

static bool ask_page(struct remote_service_page *page, const char *prefix, bool by_folder, const char *next,
                     struct err *err)
{
    const struct http_client_request request = {.body_max_bytes = PAGE_MAX_BYTES};
    struct http_client_answer answer;
    struct buf url = BUF_INIT;
    server_write(&url);
    buf_format(&url, "/storage/v1/b/%s/o?maxResults=1000&prefix=", page->address->bucket);
    remote_address_encode(&url, prefix, false);
    buf_text(&url, by_folder ? "&delimiter=%2F" : "");
    if (next) {
        buf_text(&url, "&pageToken=");
        remote_address_encode(&url, next, false);
    }
    buf_text(&url, "&fields=nextPageToken,prefixes,items(name,size,generation,timeCreated)");
    bool is_good =
        gcs_ask(&url, &request, &answer, err) && gcs_answer_page(answer.body.data, answer.body.length, page, err);
    http_client_free(&answer);
    buf_free(&url);
    return is_good;
}

static bool gcs_list(const struct remote_address *address, struct remote_listing *listing, struct err *err)
{
    return remote_service_list(address, listing, ask_page, err);
}

static void object_url(struct buf *url, const struct remote_address *address, const char *path)
{
    char *key = remote_service_key(address, path);
    server_write(url);
    buf_format(url, "/storage/v1/b/%s/o/", address->bucket);
    remote_address_encode(url, key, false);
    free(key);
}

static bool gcs_look(const struct remote_address *address, const char *path, struct remote_answer_object *object,
                     struct err *err)
{
    struct http_client_answer answer;
    struct buf url = BUF_INIT;
    object_url(&url, address, path);
    bool is_good = gcs_ask(&url, &(struct http_client_request){.url = NULL}, &answer, err) &&
                   gcs_answer_object(answer.body.data, answer.body.length, object, err);
    http_client_free(&answer);
    buf_free(&url);
    return is_good;
}

static bool gcs_read(const struct remote_address *address, const char *path, const char *etag,
                     const struct http_client_request *like, struct err *err)
{
    struct http_client_answer answer;
    struct buf url = BUF_INIT;
    object_url(&url, address, path);
    buf_text(&url, "?alt=media");
    if (etag[0]) {
        buf_text(&url, "&ifGenerationMatch=");
        remote_address_encode(&url, etag, false);
    }
    bool is_good = gcs_ask(&url, like, &answer, err);
    http_client_free(&answer);
    buf_free(&url);
    return is_good;
}

const struct remote_service gcs_service = {gcs_list, gcs_look, gcs_read};
