/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/httpd.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/other_systems.h"
#include "server/http/httpd_door.h"
#include "server/http/httpd_headers.h"
#include "server/http/metrics.h"
#include "server/http/negotiate.h"
#include "server/http/peers.h"
#include "server/http/token.h"

#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than the limits that answer in full. */
enum { MAX_OPEN = PEERS_MAX + 64 };
enum { PIECE_BYTES = 64 * 1024, SMALL_BODY_BYTES = 64 * 1024, ID_SIZE = 65, ID_PREFIX_SIZE = 9, POLICY_SIZE = 1024 };

struct httpd {
    const struct http_handler *handler;
    struct jobs *jobs;
    struct peers *peers;
    struct httpd_door doors[LISTEN_MAX];
    size_t door_count;
    atomic_bool is_stopping;
    struct metrics *metrics;
    const char *path_prefix;
    char policy[POLICY_SIZE];
    uint64_t receiving_limit_bytes;
    atomic_ullong receiving_bytes; /* of bodies that have not come whole */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    char id_prefix[ID_PREFIX_SIZE]; /* random, so that ids of two runs differ */
    atomic_ullong exchange_count;
    size_t in_flight; /* requests that have come whole and are not answered yet */
};

/* One request from its first line to the end of its answer. */
struct exchange {
    struct jobs_client client; /* first, so that it can be found by it */
    struct httpd *httpd;
    struct MHD_Connection *connection;
    struct peer *peer;
    struct request *request;
    const char *target;         /* as it came, with the prefix; in the pool of `request` */
    struct response *response;  /* NULL until there is one */
    struct body_reader *reader; /* of a body that is made while it is sent */
    bool has_begun, is_whole;
    bool is_bare;            /* its target is the prefix without its slash */
    bool is_last;            /* of its connection */
    bool is_in_body;         /* the answer comes before the end of the body */
    uint64_t seen_bytes;     /* of the body, those that are dropped too */
    uint64_t received_bytes; /* of them, those of this one */
    int status;
    char id[ID_SIZE];
    uint64_t sent_bytes;
    int64_t began_us;
};

static void release_body(void *body) { body_release(body); }

/* The library takes as much as it has room for. */
static ssize_t read_more(void *context, uint64_t position, char *into, size_t size)
{
    struct exchange *exchange = context;
    int64_t got = body_reader_read(exchange->reader, into, size);
    (void)position;
    exchange->sent_bytes += got > 0 ? (uint64_t)got : 0;
    return got > 0 ? (ssize_t)got : got < 0 ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
}

static struct MHD_Response *response_in_pieces(struct exchange *exchange, bool as_gzip)
{
    exchange->reader = body_reader_new(exchange->response->body, as_gzip);
    return exchange->reader
               ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE_BYTES, read_more, exchange, NULL)
               : NULL;
}

static struct MHD_Response *response_of(const struct body *body)
{
    static char nothing[1];
    if (!body)
        return MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
    return MHD_create_response_from_buffer_with_free_callback_cls(body->size, (void *)(uintptr_t)body->data,
                                                                  release_body, (void *)(uintptr_t)body);
}

/* Where there is no memory for an answer, a prepared answer is written past the library. */
static enum MHD_Result refuse_for_memory(struct exchange *exchange)
{
    exchange->status = 503;
    exchange->sent_bytes = 0;
    return httpd_door_refuse(exchange->connection);
}

static enum MHD_Result send_response(struct exchange *exchange)
{
    const struct response *response = exchange->response;
    bool wants_gzip = response->body && negotiate_gzip(exchange->request->accept_encoding);
    bool is_in_pieces = response->body && response->body->is_in_pieces;
    struct body *whole = is_in_pieces ? NULL : response_body_of_request(response, exchange->id);
    struct body *packed = wants_gzip && whole ? body_gzip(whole) : NULL;
    struct body *body = packed || !whole ? packed : body_plain(whole);
    bool is_lost = whole && !body;
    body_release(whole);
    if (is_lost)
        return refuse_for_memory(exchange);
    exchange->status = response->status;
    if (response->is_tagged && !request_method_acts(exchange->request->method) &&
        negotiate_matches(exchange->request->if_none_match, response->body->etag))
        exchange->status = MHD_HTTP_NOT_MODIFIED;
    struct MHD_Response *out = is_in_pieces ? response_in_pieces(exchange, wants_gzip) : response_of(body);
    if (!out) {
        body_release(body);
        return refuse_for_memory(exchange);
    }
    bool has_body = exchange->status != MHD_HTTP_NOT_MODIFIED && exchange->request->method != REQUEST_HEAD;
    exchange->sent_bytes = body && has_body ? body->size : 0;
    const struct httpd_headers headers = {
        .response = response,
        .policy = exchange->httpd->policy,
        .path_prefix = exchange->httpd->path_prefix,
        .location_query = exchange->is_bare ? exchange->target + strlen(exchange->httpd->path_prefix) : "",
        .id = exchange->id,
        .is_packed = packed != NULL || (is_in_pieces && wants_gzip),
        .is_last = exchange->is_last || atomic_load(&exchange->httpd->is_stopping) ||
                   peers_standing(exchange->peer) != PEERS_WELCOME,
    };
    bool is_whole = httpd_headers_add(&headers, out);
    peers_enter(exchange->httpd->peers, exchange->peer, PEERS_SENDING);
    unsigned status = (unsigned)exchange->status;
    enum MHD_Result result;
    if (!is_whole)
        result = refuse_for_memory(exchange);
    else if (exchange->is_in_body)
        result = httpd_door_send_past(exchange->connection, status, out, has_body && body ? body->data : "",
                                      exchange->sent_bytes);
    else
        result = MHD_queue_response(exchange->connection, status, out);
    MHD_destroy_response(out);
    return result;
}

/* ---- a request comes in ---------------------------------------------------------- */

/* The target without the prefix; as it is when it does not have it. "/a/b" itself is "/", which it is sent on to. */
static const char *strip_prefix(const struct httpd *httpd, const char *target, bool *is_bare)
{
    size_t length = strlen(httpd->path_prefix);
    bool has_it = length > 0 && strncmp(target, httpd->path_prefix, length) == 0;
    *is_bare = has_it && (target[length] == '\0' || target[length] == '?');
    return *is_bare ? "/" : has_it && target[length] == '/' ? target + length : target;
}

/* The first line of a request was read: `target` as it came. */
static void *httpd_begin(void *context, const char *target, struct MHD_Connection *connection)
{
    struct exchange *exchange = memory_new(sizeof(*exchange));
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    exchange->httpd = context;
    exchange->connection = connection;
    exchange->peer = info ? info->socket_context : NULL;
    exchange->request = request_new(strip_prefix(context, target, &exchange->is_bare),
                                    exchange->peer ? peers_text(exchange->peer) : "-");
    exchange->target = memory_pool_text(&exchange->request->pool, target, strlen(target));
    exchange->began_us = clock_us();
    if (exchange->peer)
        peers_enter(exchange->httpd->peers, exchange->peer, PEERS_HEADERS);
    snprintf(exchange->id, sizeof(exchange->id), "%s-%llx", exchange->httpd->id_prefix,
             atomic_fetch_add(&exchange->httpd->exchange_count, 1));
    return exchange;
}

static enum MHD_Result add_header(void *context, enum MHD_ValueKind kind, const char *name, size_t name_length,
                                  const char *value, size_t value_length)
{
    struct request *request = context;
    (void)kind;
    if (strlen(name) != name_length || (value && strlen(value) != value_length))
        request->fault = REQUEST_BAD_HEADER;
    request_add_header(request, name, value);
    return MHD_YES;
}

/* A proxy in front may have given the request an id already. */
static void take_id(struct exchange *exchange)
{
    static const char GOOD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    const char *given = exchange->request->id;
    size_t length = given ? strspn(given, GOOD) : 0;
    if (length > 0 && length < ID_SIZE && given[length] == '\0')
        memcpy(exchange->id, given, length + 1);
}

/* From a worker: the connection's own thread goes on with it. */
static void httpd_resume(struct jobs_client *client, struct response *response)
{
    struct exchange *exchange = (struct exchange *)client;
    exchange->response = response;
    MHD_resume_connection(exchange->connection);
}

/* While an answer is made, the library does not check its connection. A client that closed only its own direction looks
 * the same as one that is gone: it gets the same answer. */
static bool is_gone(const struct jobs_client *client)
{
    const struct exchange *exchange = (const struct exchange *)client;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd socket = {.fd = info ? info->connect_fd : -1, .events = POLLRDHUP};
    return poll(&socket, 1, 0) > 0 && (socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

static void count_in_flight(struct httpd *httpd, int change)
{
    pthread_mutex_lock(&httpd->lock);
    httpd->in_flight += (size_t)change;
    if (httpd->in_flight == 0)
        pthread_cond_broadcast(&httpd->answered);
    pthread_mutex_unlock(&httpd->lock);
}

/* Whether the daemon is well, everybody may know. */
static bool is_of_health(const struct request *request) { return strncmp(request->path, "/-/", 3) == 0; }

static struct response *refuse_peer(const struct exchange *exchange)
{
    enum peers_standing standing = peers_standing(exchange->peer);
    if (standing == PEERS_WELCOME || is_of_health(exchange->request))
        return NULL;
    if (standing == PEERS_ONE_TOO_MANY)
        return response_problem(503, "busy", "too many connections; close some and ask again");
    bool is_known = standing == PEERS_OTHER_USER;
    log_limited(LOG_OTHER_USERS, is_known ? "a connection of another user of this machine was refused"
                                          : "a connection was refused: its user is not known");
    return response_problem(403, "user",
                            "this daemon answers the user who started it, and root, and %s; --share lets every user of "
                            "its machine in",
                            is_known ? "not other users of its machine" : "cannot tell whose connection this is");
}

static void stop_receiving(struct exchange *exchange)
{
    atomic_fetch_sub(&exchange->httpd->receiving_bytes, exchange->received_bytes);
    exchange->received_bytes = 0;
}

static void come_whole(struct exchange *exchange)
{
    exchange->is_whole = true;
    stop_receiving(exchange);
    upload_end(exchange->request->body);
    count_in_flight(exchange->httpd, 1);
    peers_enter(exchange->httpd->peers, exchange->peer, PEERS_ANSWER);
}

/* Where a body ends cannot be said, or a name would not be what it seems: answered without reading on. */
static enum MHD_Result refuse_headers(struct exchange *exchange)
{
    exchange->is_last = true;
    come_whole(exchange);
    exchange->response = response_problem(
        400, "argument",
        exchange->request->fault == REQUEST_BAD_HEADER
            ? "a header has a NUL in it"
            : "the length of the body is given more than once, or by Transfer-Encoding and Content-Length");
    return send_response(exchange);
}

static enum MHD_Result httpd_answer(struct exchange *exchange)
{
    struct httpd *httpd = exchange->httpd;
    come_whole(exchange);
    exchange->response = refuse_peer(exchange);
    if (!exchange->response && exchange->is_bare) {
        exchange->response = response_empty(308);
        response_add_header(exchange->response, "Location", "/");
    } else if (!exchange->response)
        exchange->response = httpd->handler->answer_now(httpd->handler->context, exchange->request);
    if (exchange->response)
        return send_response(exchange);
    exchange->client.done = httpd_resume;
    exchange->client.is_gone = is_gone;
    exchange->client.owner = peers_text(exchange->peer);
    exchange->client.wants_gzip = negotiate_gzip(exchange->request->accept_encoding);
    MHD_suspend_connection(exchange->connection);
    jobs_submit(httpd->jobs, exchange->request, &exchange->client);
    return MHD_YES;
}

/* Is the body that the headers tell of larger than its route takes? Then it is refused before it is sent, or read. */
static bool is_too_large(const struct exchange *exchange)
{
    const struct request *request = exchange->request;
    return request->encoding_count == 0 && request->content_length > request->body->limit_bytes;
}

static enum MHD_Result refuse_body(struct exchange *exchange)
{
    exchange->request->body->fault = UPLOAD_TOO_LARGE;
    exchange->is_last = true;
    return httpd_answer(exchange);
}

static void take_body(struct exchange *exchange, const char *bytes, size_t size)
{
    struct upload *body = exchange->request->body;
    struct httpd *httpd = exchange->httpd;
    uint64_t before = exchange->seen_bytes / PEERS_PROGRESS_BYTES;
    exchange->seen_bytes += size;
    unsigned long long others_bytes = atomic_load(&httpd->receiving_bytes) - exchange->received_bytes;
    if (others_bytes > 0 && others_bytes + body->size + size > httpd->receiving_limit_bytes &&
        body->size + size > SMALL_BODY_BYTES && body->limit_bytes > REQUEST_BODY_LIMIT && body->fault == UPLOAD_GOOD)
        body->fault = UPLOAD_NO_ROOM; /* bodies that come in slowly leave the rest of the memory to others */
    upload_add(body, bytes, size);
    stop_receiving(exchange);
    exchange->received_bytes = body->size;
    atomic_fetch_add(&httpd->receiving_bytes, exchange->received_bytes);
    /* A refused body may still be received to its end, so that the client reads the refusal; but not for ever. */
    if (exchange->seen_bytes / PEERS_PROGRESS_BYTES > before && exchange->seen_bytes / 2 <= body->limit_bytes)
        peers_enter(httpd->peers, exchange->peer, PEERS_BODY);
}

/* Called by the library for the headers, for each piece of a body, at its end,
 * and when the connection is resumed. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state)
{
    struct exchange *exchange = *state;
    (void)context, (void)url, (void)version;
    if (!exchange || !exchange->peer)
        return MHD_NO;
    if (!exchange->has_begun) {
        exchange->has_begun = true;
        request_set_method(exchange->request, method);
        MHD_get_connection_values_n(connection, MHD_HEADER_KIND, add_header, exchange->request);
        peers_enter(exchange->httpd->peers, exchange->peer, PEERS_BODY);
        if (exchange->request->fault == REQUEST_BAD_HEADER || request_has_two_lengths(exchange->request))
            return refuse_headers(exchange);
        take_id(exchange);
        if (peers_standing(exchange->peer) == PEERS_WELCOME)
            exchange->httpd->handler->admit(exchange->httpd->handler->context, exchange->request);
        return is_too_large(exchange) ? refuse_body(exchange) : MHD_YES;
    }
    if (*upload_size > 0) {
        take_body(exchange, upload, *upload_size);
        *upload_size = 0;
        exchange->is_in_body = exchange->request->body->fault == UPLOAD_TOO_LARGE;
        return exchange->is_in_body ? refuse_body(exchange) : MHD_YES;
    }
    if (exchange->response)
        return send_response(exchange);
    return exchange->is_whole ? MHD_YES : httpd_answer(exchange);
}

static void httpd_end(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode reason)
{
    struct exchange *exchange = *state;
    (void)context, (void)connection, (void)reason;
    if (!exchange)
        return;
    *state = NULL;
    struct httpd *httpd = exchange->httpd;
    if (exchange->is_whole) {
        metrics_count(httpd->metrics, exchange->request->route_name, exchange->status, clock_us() - exchange->began_us,
                      exchange->sent_bytes, exchange->request->body->size);
        log_request(&(struct log_request){.id = exchange->id,
                                          .peer = peers_text(exchange->peer),
                                          .method = exchange->request->method_text,
                                          .target = exchange->target,
                                          .status = exchange->status,
                                          .is_expected = exchange->response && exchange->response->is_expected,
                                          .size_bytes = exchange->sent_bytes,
                                          .took_us = clock_us() - exchange->began_us});
        count_in_flight(httpd, -1);
    }
    if (exchange->peer)
        peers_enter(httpd->peers, exchange->peer, PEERS_IDLE);
    stop_receiving(exchange);
    body_reader_free(exchange->reader);
    response_release(exchange->response);
    request_release(exchange->request);
    free(exchange);
}

static void connect_or_close(void *context, struct MHD_Connection *connection, void **state,
                             enum MHD_ConnectionNotificationCode code)
{
    const struct httpd_door *door = context;
    struct httpd *httpd = door->context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *address =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        const struct sockaddr *from = address ? address->client_addr : NULL;
        const union MHD_ConnectionInfo *socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *state = peers_add(httpd->peers, socket ? socket->connect_fd : -1, from);
    } else {
        if (*state)
            peers_remove(httpd->peers, *state);
        *state = NULL;
        acceptor_count_closed(door->acceptor);
    }
}

/* ---- start and stop ------------------------------------------------------------------ */

struct httpd *httpd_start(const struct http_handler *handler, struct jobs *jobs, const struct listen_set *set,
                          const struct httpd_settings *settings)
{
    struct httpd *httpd = memory_new(sizeof(*httpd));
    httpd->handler = handler;
    httpd->jobs = jobs;
    httpd->metrics = settings->metrics;
    httpd->path_prefix = settings->path_prefix;
    snprintf(httpd->policy, sizeof(httpd->policy), RESPONSE_POLICY_HEAD("'self' %s", "'self' %s") "%s",
             settings->script_hash, settings->style_hash, settings->frame_ancestors);
    httpd->receiving_limit_bytes = settings->receiving_limit_bytes;
    httpd->peers = peers_new(settings->is_own_user_only);
    struct token random = {.text = ""};
    token_make(&random);
    snprintf(httpd->id_prefix, sizeof(httpd->id_prefix), "%.8s", random.text);
    pthread_mutex_init(&httpd->lock, NULL);
    clock_cond_init(&httpd->answered);
    const struct httpd_door_calls calls = {handle, httpd_begin, httpd_end, connect_or_close, httpd};
    for (size_t at = 0; at < set->count; at++) {
        httpd->door_count++;
        if (!httpd_door_open(&httpd->doors[at], set->sockets[at], MAX_OPEN, &calls)) {
            httpd_free(httpd);
            return NULL;
        }
    }
    return httpd;
}

void httpd_watch(struct httpd *httpd)
{
    peers_watch(httpd->peers);
    jobs_expire(httpd->jobs);
}

void httpd_stop_accepting(struct httpd *httpd)
{
    atomic_store(&httpd->is_stopping, true);
    for (size_t at = 0; at < httpd->door_count; at++)
        httpd_door_stop_accepting(&httpd->doors[at]);
}

bool httpd_drain(struct httpd *httpd, int64_t wait_ms)
{
    struct timespec until = clock_after(wait_ms);
    int reason = 0;
    pthread_mutex_lock(&httpd->lock);
    while (httpd->in_flight > 0 && reason == 0)
        reason = pthread_cond_timedwait(&httpd->answered, &httpd->lock, &until);
    bool is_drained = httpd->in_flight == 0;
    pthread_mutex_unlock(&httpd->lock);
    return is_drained;
}

void httpd_free(struct httpd *httpd)
{
    for (size_t at = 0; at < httpd->door_count; at++)
        httpd_door_close(&httpd->doors[at]);
    peers_free(httpd->peers);
    pthread_cond_destroy(&httpd->answered);
    pthread_mutex_destroy(&httpd->lock);
    free(httpd);
}
