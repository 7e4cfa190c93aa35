/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/http_client.h"

#include "base/hash.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/version.h"
#include "server/files/remote/ca_file.h"
#include "server/files/remote/http_turns.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONNECT_LIMIT_MS = 10000,
    TIME_LIMIT_MS = 120000,
    SLOW_BYTES_A_SECOND = 1024,
    SLOW_LIMIT_S = 20,
    HEADERS_MAX_BYTES = 64 * 1024,
    BODY_MAX_BYTES = 1024 * 1024,
    RECEIVE_BYTES = 256 * 1024
};

/* Handles with their open connections, to be used again. */
static struct {
    pthread_mutex_t lock;
    CURL *idle[HTTP_CLIENT_IN_FLIGHT_MAX];
    size_t count;
} handles = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_uint_fast64_t request_count, retry_count, body_bytes;
static atomic_uint_fast64_t tls_1_2_server; /* a hash of its name: see is_by_tls_1_2; 0: none is known */

/* One request from its first try to its last. */
struct transfer {
    const struct http_client_request *request;
    struct http_client_answer *answer;
    uint64_t server; /* a hash of its name */
    char host[128];  /* for messages */
    uint64_t taken;  /* bytes that were given to request->take, over all tries */
    /* A server of TLS 1.2 alone may sign by RSASSA-PSS when it sees that TLS 1.3 is spoken, too, which Mbed TLS cannot
     * check then. So what found no handshake is asked again in turns without and with TLS 1.3. */
    bool is_by_tls_1_2;

    /* For one try. */
    CURL *easy;
    bool has_begun;    /* the body has */
    uint64_t skip;     /* bytes that come before those asked for: of a server that knows no ranges */
    bool is_complete;  /* all requested bytes are there; any that follow are dropped */
    bool is_given_up;  /* by take or begin */
    const char *fault; /* what was wrong with the answer, which will not get better; NULL: nothing */
    char no_ca_file[CA_FILE_WHY_BYTES];
};

bool http_client_set_up(struct err *err)
{
    CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    CURL *easy = code == CURLE_OK ? curl_easy_init() : NULL;
    if (!easy)
        return err_set(err, ERR_io, ERR_NO_OFFSET, "libcurl does not start: %s", curl_easy_strerror(code));
    curl_easy_cleanup(easy);
    return true;
}

void http_client_stop(void) { http_turns_stop(); }

static CURL *handle_take(void)
{
    CURL *easy = NULL;
    pthread_mutex_lock(&handles.lock);
    if (handles.count > 0)
        easy = handles.idle[--handles.count];
    pthread_mutex_unlock(&handles.lock);
    return easy ? easy : curl_easy_init();
}

static void handle_give(CURL *easy)
{
    curl_easy_reset(easy); /* connections stay */
    pthread_mutex_lock(&handles.lock);
    bool is_kept = handles.count < HTTP_CLIENT_IN_FLIGHT_MAX;
    if (is_kept)
        handles.idle[handles.count++] = easy;
    pthread_mutex_unlock(&handles.lock);
    if (!is_kept)
        curl_easy_cleanup(easy);
}

/* ---- what comes ----------------------------------------------------------------------- */

static int status_of(const struct transfer *transfer)
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

static bool is_good(int status) { return status >= 200 && status < 300; }

static size_t take_header(char *line, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    struct buf *headers = &transfer->answer->headers;
    size_t length = size * count;
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
        length--;
    if (length > 5 && strncmp(line, "HTTP/", 5) == 0)
        headers->length = 0; /* of an earlier answer: 100 Continue */
    else if (length > 0 && headers->length + length < HEADERS_MAX_BYTES) {
        buf_add(headers, line, length);
        buf_char(headers, '\n');
    } else if (length > 0)
        transfer->fault = "the headers of its answer are too large";
    return transfer->fault ? 0 : size * count;
}

/* "bytes 0-99/1000" has to begin where the request does. */
static bool begins_where_asked(const struct transfer *transfer)
{
    char value[80];
    uint64_t from;
    return http_client_header(transfer->answer, "content-range", value, sizeof(value)) &&
           sscanf(value, "bytes %" SCNu64 "-", &from) == 1 && from == transfer->request->range_at + transfer->taken;
}

/* The first bytes of a body that is taken are there. */
static bool body_begin(struct transfer *transfer)
{
    const struct http_client_request *request = transfer->request;
    transfer->has_begun = true;
    if (transfer->answer->status == 206 && !begins_where_asked(transfer))
        transfer->fault = "answered with other bytes than those that were asked for";
    transfer->skip = transfer->answer->status == 206 ? 0 : request->range_at + transfer->taken;
    if (!transfer->fault && request->begin)
        transfer->is_given_up = !request->begin(request->context, transfer->answer);
    return !transfer->fault && !transfer->is_given_up;
}

static bool body_take(struct transfer *transfer, const char *bytes, size_t size)
{
    const struct http_client_request *request = transfer->request;
    if (!transfer->has_begun && !body_begin(transfer))
        return false;
    size_t skipped = transfer->skip < size ? (size_t)transfer->skip : size;
    transfer->skip -= skipped;
    uint64_t left = request->range_bytes - transfer->taken;
    size_t count = size - skipped < left ? size - skipped : (size_t)left;
    if (count > 0)
        transfer->is_given_up = !request->take(request->context, bytes + skipped, count);
    transfer->taken += count;
    transfer->is_complete = transfer->taken == request->range_bytes;
    return !transfer->is_given_up && (!transfer->is_complete || skipped + count == size);
}

static bool body_keep(struct transfer *transfer, const char *bytes, size_t size)
{
    struct buf *body = &transfer->answer->body;
    size_t max_bytes = transfer->request->body_max_bytes ? transfer->request->body_max_bytes : BODY_MAX_BYTES;
    if (size > max_bytes - body->length)
        transfer->fault = "its answer is too large";
    else
        buf_add(body, bytes, size);
    if (body->failed)
        transfer->fault = "there is no memory for its answer";
    return !transfer->fault;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    atomic_fetch_add_explicit(&body_bytes, size * count, memory_order_relaxed);
    transfer->answer->status = status_of(transfer);
    bool is_taken = transfer->request->take && is_good(transfer->answer->status);
    bool goes_on = is_taken ? body_take(transfer, bytes, size * count) : body_keep(transfer, bytes, size * count);
    return goes_on ? size * count : 0;
}

static int look_whether_wanted(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)context, (void)a, (void)b, (void)c, (void)d;
    return http_turns_are_over();
}

/* ---- what is asked for ---------------------------------------------------------------- */

/* A line break in a header would begin another one. */
static bool is_one_line(const char *text)
{
    for (; *text; text++) {
        if (str_is_control(*text))
            return false;
    }
    return true;
}

static struct curl_slist *header_add(struct transfer *transfer, struct curl_slist *list, const char *header)
{
    struct curl_slist *longer = is_one_line(header) ? curl_slist_append(list, header) : NULL;
    if (!longer)
        transfer->fault = "a header for it has a line break in it, or no memory is left";
    return longer ? longer : list;
}

/* The signature covers the hash of the body, which S3 needs in a header; libcurl 7.88 does not add the header, but uses
 * this one. Only requests without a body are signed. */
static struct curl_slist *headers_of(struct transfer *transfer)
{
    static const char OF_NO_BODY[] =
        "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const struct http_client_request *request = transfer->request;
    struct curl_slist *list = NULL;
    for (size_t at = 0; at < request->header_count; at++)
        list = header_add(transfer, list, request->headers[at]);
    if (request->signing)
        list = header_add(transfer, list, OF_NO_BODY);
    if (request->signing && request->signing->token) {
        char *token = memory_format("x-amz-security-token: %s", request->signing->token);
        list = header_add(transfer, list, token);
        free(token);
    }
    return list;
}

static void http_client_sign(CURL *easy, const struct http_client_signing *signing)
{
    char scope[160];
    snprintf(scope, sizeof(scope), "aws:amz:%s:%s", signing->region, signing->service);
    curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, scope);
    curl_easy_setopt(easy, CURLOPT_USERNAME, signing->key_id);
    curl_easy_setopt(easy, CURLOPT_PASSWORD, signing->secret);
}

static void set_method(CURL *easy, const struct http_client_request *request)
{
    bool has_body = request->method == HTTP_CLIENT_POST || request->method == HTTP_CLIENT_PUT;
    curl_easy_setopt(easy, CURLOPT_NOBODY, (long)(request->method == HTTP_CLIENT_HEAD));
    if (has_body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_bytes);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body ? request->body : "");
    }
    if (request->method == HTTP_CLIENT_PUT)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PUT");
}

static void set_range(struct transfer *transfer)
{
    char range[64];
    const struct http_client_request *request = transfer->request;
    if (request->range_bytes == 0)
        return;
    snprintf(range, sizeof(range), "%" PRIu64 "-%" PRIu64, request->range_at + transfer->taken,
             request->range_at + request->range_bytes - 1);
    curl_easy_setopt(transfer->easy, CURLOPT_RANGE, range);
}

/* TLS 1.2 at least. */
static void set_tls(struct transfer *transfer)
{
    const struct http_client_request *request = transfer->request;
    long newest = transfer->is_by_tls_1_2 ? CURL_SSLVERSION_MAX_TLSv1_2 : CURL_SSLVERSION_MAX_DEFAULT;
    const char *ca_file = ca_file_find(request->ca_file, transfer->no_ca_file);
    curl_easy_setopt(transfer->easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2 | newest);
    if (!ca_file)
        transfer->fault = transfer->no_ca_file;
    else if (ca_file[0]) {
        curl_easy_setopt(transfer->easy, CURLOPT_CAINFO, ca_file);
        curl_easy_setopt(transfer->easy, CURLOPT_PROXY_CAINFO, ca_file);
    }
}

static void set_limits(CURL *easy, const struct http_client_request *request)
{
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_LIMIT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(request->time_limit_ms ? request->time_limit_ms : TIME_LIMIT_MS));
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES_A_SECOND);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)SLOW_LIMIT_S);
    curl_easy_setopt(easy, CURLOPT_MAXCONNECTS, 2L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "memviewd");
    if (request->is_direct)
        curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
}

static void set_callbacks(struct transfer *transfer)
{
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, look_whether_wanted);
}

static CURLcode try_with(struct transfer *transfer, CURL *easy)
{
    const struct http_client_request *request = transfer->request;
    transfer->easy = easy;
    transfer->has_begun = transfer->is_complete = transfer->is_given_up = false;
    transfer->answer->headers.length = transfer->answer->body.length = 0;
    transfer->answer->status = 0;
    struct curl_slist *headers = headers_of(transfer);
    curl_easy_setopt(easy, CURLOPT_URL, request->url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    set_limits(easy, request);
    if (strncmp(request->url, "https:", 6) == 0)
        set_tls(transfer);
    set_method(easy, request);
    set_range(transfer);
    set_callbacks(transfer);
    if (request->signing)
        http_client_sign(easy, request->signing);
    CURLcode code = transfer->fault ? CURLE_ABORTED_BY_CALLBACK : curl_easy_perform(easy);
    transfer->answer->status = status_of(transfer);
    curl_slist_free_all(headers);
    return code;
}

/* ---- trying again --------------------------------------------------------------------- */

static bool is_busy(int status)
{
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

/* Does it help to ask again what failed so? A name that does not resolve or a certificate that is wrong stays so. */
static bool is_transient(CURLcode code)
{
    return code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT || code == CURLE_GOT_NOTHING ||
           code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_PARTIAL_FILE || code == CURLE_HTTP2 ||
           code == CURLE_HTTP2_STREAM || code == CURLE_SSL_CONNECT_ERROR || code == CURLE_COULDNT_RESOLVE_HOST;
}

/* A body that ends before all of the range is there, as if it were whole. */
static bool is_short(const struct transfer *transfer)
{
    return transfer->request->take && is_good(transfer->answer->status) &&
           transfer->taken < transfer->request->range_bytes;
}

static bool is_to_be_tried_again(const struct transfer *transfer, CURLcode code)
{
    if (transfer->fault || transfer->is_given_up || transfer->is_complete || http_turns_are_over())
        return false;
    return code == CURLE_OK ? is_busy(transfer->answer->status) || is_short(transfer) : is_transient(code);
}

static void keep_away(const struct transfer *transfer)
{
    curl_off_t wait_s = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &wait_s);
    if (wait_s > 0 && wait_s <= 86400)
        http_turns_pause(transfer->server, (int64_t)wait_s * 1000);
}

static bool is_by_mbed_tls(void)
{
    const char *library = curl_version_info(CURLVERSION_NOW)->ssl_version;
    return library && strncmp(library, "mbedTLS", 7) == 0;
}

/* CURLE_OK also when all requested bytes came. `again`: it should be tried again. */
static CURLcode try_once(struct transfer *transfer, bool *again)
{
    *again = false;
    if (!http_turns_begin(transfer->server, HTTP_CLIENT_IN_FLIGHT_MAX))
        return CURLE_ABORTED_BY_CALLBACK;
    CURL *easy = handle_take();
    CURLcode code = easy ? try_with(transfer, easy) : CURLE_OUT_OF_MEMORY;
    atomic_fetch_add_explicit(&request_count, 1, memory_order_relaxed);
    if (easy) {
        *again = is_to_be_tried_again(transfer, code);
        if (code == CURLE_SSL_CONNECT_ERROR && is_by_mbed_tls())
            transfer->is_by_tls_1_2 = !transfer->is_by_tls_1_2;
        if (*again)
            keep_away(transfer);
        handle_give(easy);
    }
    http_turns_end();
    return transfer->is_complete ? CURLE_OK : code;
}

static CURLcode try_often(struct transfer *transfer)
{
    unsigned tries_max = transfer->request->tries_max ? transfer->request->tries_max : HTTP_CLIENT_TRIES_MAX;
    for (unsigned tried = 1;; tried++) {
        bool again;
        CURLcode code = try_once(transfer, &again);
        uint64_t chance = hash_number((uint64_t)clock_us(), (uintptr_t)transfer);
        if (!again || tried >= tries_max || !http_turns_wait(http_turns_delay_ms(tried, chance)))
            return code;
        atomic_fetch_add_explicit(&retry_count, 1, memory_order_relaxed);
    }
}

/* "https://host:port" of a URL, for messages and as what requests are for: without a user and password. */
static void name_server(struct transfer *transfer)
{
    const char *url = transfer->request->url, *host = strstr(url, "://");
    size_t scheme = host ? (size_t)(host - url) + 3 : 0, length = strcspn(url + scheme, "/?#");
    const char *at = memrchr(url + scheme, '@', length);
    host = at ? at + 1 : url + scheme;
    length -= (size_t)(host - url) - scheme;
    snprintf(transfer->host, sizeof(transfer->host), "%.*s%.*s", (int)(scheme < 20 ? scheme : 20), url,
             (int)(length < 100 ? length : 100), host);
    transfer->server = hash_text(transfer->host, 0);
}

static bool judge(const struct transfer *transfer, CURLcode code, struct err *err)
{
    if (transfer->fault)
        return err_set(err, ERR_io, ERR_NO_OFFSET, "%s: %s", transfer->host, transfer->fault);
    if (transfer->is_given_up)
        return err_set(err, ERR_io, ERR_NO_OFFSET, "%s: its answer is not what was asked for", transfer->host);
    if (code != CURLE_OK && http_turns_are_over())
        return err_set(err, ERR_stopped, ERR_NO_OFFSET, "was stopped: nobody waits for it any more");
    if (code != CURLE_OK)
        return err_set(err, ERR_io, ERR_NO_OFFSET, "%s: %s", transfer->host, curl_easy_strerror(code));
    if (is_short(transfer))
        return err_set(err, ERR_io, ERR_NO_OFFSET, "%s: its answer ends too early", transfer->host);
    return true;
}

/* By which TLS the server answers; one that has learnt TLS 1.3, or had failed by chance, is forgotten. */
static void tls_remember(const struct transfer *transfer)
{
    uint_fast64_t server = transfer->server;
    if (transfer->is_by_tls_1_2)
        atomic_store_explicit(&tls_1_2_server, server, memory_order_relaxed);
    else
        atomic_compare_exchange_strong(&tls_1_2_server, &server, 0);
}

bool http_client_perform(const struct http_client_request *request, struct http_client_answer *answer, struct err *err)
{
    struct transfer transfer = {.request = request, .answer = answer};
    *answer = (struct http_client_answer){.headers = BUF_INIT, .body = BUF_INIT};
    name_server(&transfer);
    transfer.is_by_tls_1_2 = transfer.server == atomic_load_explicit(&tls_1_2_server, memory_order_relaxed);
    CURLcode code = try_often(&transfer);
    if (code == CURLE_OK)
        tls_remember(&transfer);
    answer->taken = transfer.taken;
    return judge(&transfer, code, err);
}

void http_client_free(struct http_client_answer *answer)
{
    buf_free(&answer->headers);
    buf_free(&answer->body);
}

bool http_client_header(const struct http_client_answer *answer, const char *name, char *value, size_t size)
{
    const struct str wanted = str_of(name);
    const char *line = answer->headers.data, *end = line ? line + answer->headers.length : NULL;
    value[0] = '\0';
    while (line < end) {
        const char *line_end = memchr(line, '\n', (size_t)(end - line)),
                   *colon = memchr(line, ':', (size_t)(line_end - line));
        if (colon && str_equal_any_case((struct str){line, (size_t)(colon - line)}, wanted)) {
            do
                colon++;
            while (colon < line_end && (*colon == ' ' || *colon == '\t'));
            if ((size_t)(line_end - colon) >= size)
                return false;
            memcpy(value, colon, (size_t)(line_end - colon));
            value[line_end - colon] = '\0';
            return true;
        }
        line = line_end + 1;
    }
    return false;
}

struct http_client_figures http_client_figures(void)
{
    return (struct http_client_figures){
        .request_count = atomic_load_explicit(&request_count, memory_order_relaxed),
        .retry_count = atomic_load_explicit(&retry_count, memory_order_relaxed),
        .body_bytes = atomic_load_explicit(&body_bytes, memory_order_relaxed),
    };
}
