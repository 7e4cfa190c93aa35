/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote_service.h"

#include "server/base/memory.h"
#include "server/files/remote/aws_credentials.h"
#include "server/files/remote/s3_answer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_MAX_BYTES = 16 << 20, REGION_SIZE = 40, BUCKET_COUNT = 32 };

static const char *endpoint;

void s3_set_endpoint(const char *url) { endpoint = url; }

const char *s3_endpoint(void)
{
    static const char *const VARIABLES[] = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"};
    const char *found = endpoint;
    for (size_t at = 0; !(found && found[0]) && at < sizeof(VARIABLES) / sizeof(VARIABLES[0]); at++)
        found = getenv(VARIABLES[at]);
    return found && found[0] ? found : NULL;
}

/* ---- where buckets are ------------------------------------------------------------------ */

/* What servers told of buckets that lie in another region than the one that was asked. */
static struct {
    pthread_mutex_t lock;
    struct {
        char *bucket;
        char region[REGION_SIZE];
    } told[BUCKET_COUNT];
} regions = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock: its place, or the first free one; NULL: there is none. */
static char *region_place(const char *bucket)
{
    for (size_t at = 0; at < BUCKET_COUNT; at++) {
        if (!regions.told[at].bucket)
            regions.told[at].bucket = memory_text(bucket);
        if (strcmp(regions.told[at].bucket, bucket) == 0)
            return regions.told[at].region;
    }
    return NULL;
}

/* free() */
static char *region_of(const char *bucket)
{
    char told[REGION_SIZE] = "";
    pthread_mutex_lock(&regions.lock);
    const char *place = region_place(bucket);
    if (place)
        memcpy(told, place, sizeof(told));
    pthread_mutex_unlock(&regions.lock);
    return told[0] ? memory_text(told) : aws_credentials_region();
}

/* Does the answer say that the bucket lies elsewhere? Then it is remembered. */
static bool learn_region(const char *bucket, const struct http_client_answer *answer, const char *asked)
{
    char told[REGION_SIZE];
    bool is_news = http_client_header(answer, "x-amz-bucket-region", told, sizeof(told)) && strcmp(told, asked) != 0 &&
                   told[0] && strspn(told, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(told);
    if (is_news) {
        pthread_mutex_lock(&regions.lock);
        char *place = region_place(bucket);
        is_news = place != NULL;
        if (place)
            snprintf(place, REGION_SIZE, "%s", told);
        pthread_mutex_unlock(&regions.lock);
    }
    return is_news;
}

/* A name with dots matches no certificate as a part of the host's, nor does one with large letters or underlines. */
static bool is_host_part(const char *bucket)
{
    return strlen(bucket) < 64 && strspn(bucket, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(bucket);
}

/* With the whole query, which is encoded and in order; free(). */
static char *url_of(const char *bucket, const char *region, const char *key, const char *query)
{
    struct buf url = BUF_INIT;
    const char *server = s3_endpoint();
    size_t length = server ? strlen(server) : 0;
    while (length > 0 && server[length - 1] == '/')
        length--;
    if (server)
        buf_format(&url, "%.*s/%s/", (int)length, server, bucket);
    else if (is_host_part(bucket))
        buf_format(&url, "https://%s.s3.%s.amazonaws.com/", bucket, region);
    else
        buf_format(&url, "https://s3.%s.amazonaws.com/%s/", region, bucket);
    remote_address_encode(&url, key, true);
    buf_text(&url, query);
    char *text = memory_format("%.*s", (int)url.length, url.data);
    buf_free(&url);
    return text;
}

/* ---- asking ------------------------------------------------------------------------------ */

/* Were the credentials? An answer to HEAD has no word that says so. */
static bool is_too_old(const struct http_client_answer *answer)
{
    char word[64];
    remote_answer_word(answer, word);
    return (answer->status == 400 && (!word[0] || strcmp(word, "ExpiredToken") == 0)) ||
           (answer->status == 403 && strcmp(word, "RequestExpired") == 0);
}

static bool ask_signed(const struct remote_address *address, const char *region, const char *key, const char *query,
                       const struct http_client_request *like, struct http_client_answer *answer, struct err *err)
{
    struct aws_credentials credentials;
    struct http_client_request request = *like;
    *answer = (struct http_client_answer){.status = 0};
    if (!aws_credentials_get(&credentials, err))
        return false;
    const struct http_client_signing signing = {.key_id = credentials.key_id,
                                                .secret = credentials.secret,
                                                .token = credentials.token,
                                                .region = region,
                                                .service = "s3"};
    char *url = url_of(address->bucket, region, key, query);
    request.url = url;
    request.signing = credentials.is_anonymous ? NULL : &signing;
    request.ca_file = getenv("AWS_CA_BUNDLE");
    bool is_answered = http_client_perform(&request, answer, err);
    aws_credentials_free(&credentials);
    free(url);
    return is_answered;
}

/* True when it was answered well. Asks again where a region or newer credentials were what lacked, unless some bytes
 * were taken before: a new request would bring those once more. */
static bool s3_ask(const struct remote_address *address, const char *key, const char *query,
                   const struct http_client_request *like, struct http_client_answer *answer, struct err *err)
{
    bool is_answered, is_again = true;
    for (int tried = 0; is_again && tried < 3; tried++) {
        char *region = region_of(address->bucket);
        if (tried > 0)
            http_client_free(answer);
        is_answered = ask_signed(address, region, key, query, like, answer, err);
        is_again = false;
        if (is_answered && answer->status >= 300) {
            bool is_old = is_too_old(answer);
            if (is_old)
                aws_credentials_forget();
            else if (answer->status == 401 || answer->status == 403)
                is_old = aws_credentials_look_again();
            is_again =
                (is_old || (!s3_endpoint() && learn_region(address->bucket, answer, region))) && answer->taken == 0;
        }
        free(region);
    }
    return is_answered && remote_answer_is_good(answer, err);
}

/* ---- the service ---------------------------------------------------------------------------- */

/* The parts of the query are in the order of their names, as the signature needs them. */
static char *query_of(const char *prefix, bool by_folder, const char *next)
{
    struct buf query = BUF_INIT;
    buf_char(&query, '?');
    if (next) {
        buf_text(&query, "continuation-token=");
        remote_address_encode(&query, next, false);
        buf_char(&query, '&');
    }
    buf_text(&query, by_folder ? "delimiter=%2F&" : "");
    buf_text(&query, "encoding-type=url&list-type=2&prefix=");
    remote_address_encode(&query, prefix, false);
    char *text = memory_format("%.*s", (int)query.length, query.data);
    buf_free(&query);
    return text;
}

static bool ask_page(struct remote_service_page *page, const char *prefix, bool by_folder, const char *next,
                     struct err *err)
{
    static const char *const headers[] = {"x-amz-optional-object-attributes: RestoreStatus"};
    const struct http_client_request request = {
        .body_max_bytes = PAGE_MAX_BYTES, .headers = headers, .header_count = 1};
    struct http_client_answer answer;
    char *query = query_of(prefix, by_folder, next);
    bool is_good = s3_ask(page->address, "", query, &request, &answer, err) &&
                   s3_answer_read(answer.body.data, answer.body.length, page, err);
    http_client_free(&answer);
    free(query);
    return is_good;
}

static bool s3_list(const struct remote_address *address, struct remote_listing *listing, struct err *err)
{
    return remote_service_list(address, listing, ask_page, err);
}

static bool s3_look(const struct remote_address *address, const char *path, struct remote_answer_object *object,
                    struct err *err)
{
    struct http_client_answer answer;
    const struct http_client_request request = {.method = HTTP_CLIENT_HEAD};
    char *key = remote_service_key(address, path);
    bool is_good = s3_ask(address, key, "", &request, &answer, err) && remote_answer_object(&answer, object, err);
    http_client_free(&answer);
    free(key);
    return is_good;
}

static bool s3_read(const struct remote_address *address, const char *path, const char *etag,
                    const struct http_client_request *like, struct err *err)
{
    struct http_client_answer answer;
    struct http_client_request request = *like;
    char *key = remote_service_key(address, path), *condition = memory_format("If-Match: %s", etag);
    const char *const headers[] = {condition};
    request.headers = headers;
    request.header_count = etag[0] ? 1 : 0;
    bool is_good = s3_ask(address, key, "", &request, &answer, err);
    http_client_free(&answer);
    free(condition);
    free(key);
    return is_good;
}

const struct remote_service s3_service = {s3_list, s3_look, s3_read};
