/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/api.h"

#include "server/api/routes.h"
#include "server/base/clock.h"
#include "server/base/wanted.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ASKED = 16, MAX_TEXT_BYTES = 1 << 20 };
/* A page shows nothing before the answer is there. What is not done by then has to be asked for alone. */
enum { TOGETHER_MS = 1000, LOOK_MS = 50 };

static const char ROOT[] = "/api/v1/";

/* Ends the work for the questions once it took too long, or no one waits for it. */
struct batch_watch {
    struct wanted own, *outer;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_done, has_thread;
};

static void *batch_look(void *context)
{
    struct batch_watch *watch = context;
    int64_t until_ms = clock_ms() + TOGETHER_MS;
    pthread_mutex_lock(&watch->lock);
    wanted_work_for(watch->outer);
    while (!watch->is_done && clock_ms() < until_ms && !wanted_is_over()) {
        struct timespec until = clock_after(LOOK_MS);
        pthread_cond_timedwait(&watch->ended, &watch->lock, &until);
    }
    pthread_mutex_unlock(&watch->lock);
    wanted_release(&watch->own); /* another who waits for the same thing still gets it */
    return NULL;
}

static void watch_begin(struct batch_watch *watch)
{
    *watch = (struct batch_watch){.outer = wanted_now()};
    wanted_begin(&watch->own);
    pthread_mutex_init(&watch->lock, NULL);
    clock_cond_init(&watch->ended);
    watch->has_thread = pthread_create(&watch->thread, NULL, batch_look, watch) == 0;
    if (watch->has_thread)
        wanted_work_for(&watch->own);
}

static void watch_end(struct batch_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    watch->is_done = true;
    pthread_cond_signal(&watch->ended);
    pthread_mutex_unlock(&watch->lock);
    if (watch->has_thread)
        pthread_join(watch->thread, NULL);
    wanted_work_for(watch->outer);
    pthread_cond_destroy(&watch->ended);
    pthread_mutex_destroy(&watch->lock);
}

static bool is_utf8(const char *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t length = str_utf8_length(data + at, size - at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

/* Appends {"status": …, "body": …} of one question, or "text" of one that answers with plain text. False: it has no
 * memory. */
static bool answer_add(struct buf *out, const struct server *server, const struct request *request, const char *asked)
{
    char *target = memory_format("%s%s", ROOT, asked);
    struct response *response = routes_answer_beside(server, request, target);
    free(target);
    if (wanted_is_over()) { /* whatever it says, it was not done to its end */
        response_release(response);
        response = response_problem(503, "stopped", "%.100s: took too long beside others: ask for it alone", asked);
    }
    bool is_whole = response->body && !response->body->is_in_pieces;
    bool is_json = is_whole && response->content_type && strstr(response->content_type, "json");
    struct body *body = is_whole ? body_plain(response->body) : NULL;
    bool is_text = body && !is_json && response->content_type && !strstr(response->content_type, "csv") &&
                   body->size <= MAX_TEXT_BYTES && is_utf8(body->data, body->size);
    if (!is_json && !is_text) {
        body_release(body);
        response_release(response);
        response = response_problem(400, "argument", "%.100s: its answer is no JSON: ask for it alone", asked);
        body = response->body ? body_plain(response->body) : NULL;
    }
    if (body && is_text) {
        struct json json = JSON_INIT(out);
        json_object_begin(&json);
        json_key_int(&json, "status", response->status);
        json_key_string(&json, "text", (struct str){body->data, body->size});
        json_object_end(&json);
    } else if (body) {
        buf_format(out, "{\"status\":%d,\"body\":", response->status);
        buf_add(out, body->data, body->size);
        buf_text(out, "}");
    }
    bool is_good = body != NULL;
    body_release(body);
    response_release(response);
    return is_good;
}

/* NULL, or the refusal. */
static struct response *batch_check(const struct request *request)
{
    for (size_t at = 0; at < request->param_count; at++)
        if (strcmp(request->params[at].name, "ask") != 0)
            return response_problem(400, "argument", "%.100s: not a parameter of this path", request->params[at].name);
    if (request->param_count == 0)
        return response_problem(400, "argument", "ask is missing: a path below %s with its query", ROOT);
    return request->param_count > MAX_ASKED
               ? response_problem(400, "limit", "more than %d questions at once", MAX_ASKED)
               : NULL;
}

struct response *api_batch(const struct server *server, const struct request *request)
{
    struct buf out = BUF_INIT;
    struct batch_watch watch;
    bool is_good = true;
    struct response *refusal = batch_check(request);
    if (refusal)
        return refusal;
    buf_text(&out, "{\"answers\":[");
    watch_begin(&watch);
    for (size_t at = 0; at < request->param_count && is_good; at++) {
        buf_text(&out, at > 0 ? "," : "");
        is_good = answer_add(&out, server, request, request->params[at].value);
    }
    watch_end(&watch);
    buf_text(&out, "]}");
    if (is_good)
        return response_json(&out);
    buf_free(&out);
    return response_problem(503, "busy", "there is no memory for these answers now; ask again");
}
