/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/captures.h"

#include "base/hash.h"
#include "server/base/clock.h"
#include "server/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 16, MS_PER_S = 1000, ADDRESS_SHOWN = 80 };

struct taking {
    char id[CAPTURES_ID_SIZE];
    struct captures *of;
    const struct capture_address **addresses;
    size_t count;
    int64_t seconds;
    atomic_bool is_cancelled;
    /* under the lock */
    struct capture_progress progress;
    bool is_done;
    struct capture_result result; /* once it is done */
};

struct captures {
    struct captures_settings settings;
    pthread_mutex_t lock;
    pthread_mutex_t opening; /* one at a time begins one or ends them */
    struct taking *takings[KEPT];
    size_t next;
    uint64_t count;
    struct taking *running;
    pthread_t thread;
    bool has_thread, is_stopping;
};

struct captures *captures_new(const struct captures_settings *settings)
{
    struct captures *made = memory_new(sizeof(*made));
    made->settings = *settings;
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_init(&made->opening, NULL);
    return made;
}

static void taking_free(struct taking *taking)
{
    if (!taking)
        return;
    capture_free(&taking->result);
    free(taking->addresses);
    free(taking);
}

/* ---- the thread ---- */

static bool captures_tick(void *context, const struct capture_progress *progress)
{
    struct taking *taking = context;
    pthread_mutex_lock(&taking->of->lock);
    taking->progress = *progress;
    pthread_mutex_unlock(&taking->of->lock);
    return !atomic_load(&taking->is_cancelled);
}

static void *captures_work(void *context)
{
    struct taking *taking = context;
    struct captures *of = taking->of;
    struct capture_result result;
    const struct capture_request request = {of->settings.logdir, taking->addresses, taking->count,
                                            taking->seconds * MS_PER_S};
    capture_run(&request, &result, captures_tick, taking);
    index_nudge(of->settings.index);
    pthread_mutex_lock(&of->lock);
    taking->result = result;
    taking->is_done = true;
    of->running = NULL;
    pthread_mutex_unlock(&of->lock);
    return NULL;
}

static void captures_join(struct captures *captures)
{
    if (captures->has_thread)
        pthread_join(captures->thread, NULL);
    captures->has_thread = false;
}

void captures_stop(struct captures *captures)
{
    pthread_mutex_lock(&captures->opening);
    pthread_mutex_lock(&captures->lock);
    captures->is_stopping = true;
    if (captures->running)
        atomic_store(&captures->running->is_cancelled, true);
    pthread_mutex_unlock(&captures->lock);
    captures_join(captures); /* nobody else does while `opening` is held */
    pthread_mutex_unlock(&captures->opening);
}

void captures_free(struct captures *captures)
{
    captures_stop(captures);
    for (size_t at = 0; at < KEPT; at++)
        taking_free(captures->takings[at]);
    pthread_mutex_destroy(&captures->lock);
    pthread_mutex_destroy(&captures->opening);
    free(captures);
}

/* ---- beginning, cancelling ---- */

static const struct capture_address *captures_find_address(const struct captures *captures, const char *text)
{
    for (size_t at = 0; at < captures->settings.count; at++)
        if (strcmp(captures->settings.addresses[at]->text, text) == 0)
            return captures->settings.addresses[at];
    return NULL;
}

static bool add_address(const struct captures *captures, struct taking *taking, const char *text, struct err *err)
{
    const struct capture_address *address = captures_find_address(captures, text);
    if (!address)
        return err_set(err, ERR_argument, ERR_NO_OFFSET,
                       "%.*s is not among the addresses that --capture named when this daemon was started",
                       ADDRESS_SHOWN, text);
    for (size_t at = 0; at < taking->count; at++)
        if (taking->addresses[at] == address)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "%.*s is named twice", ADDRESS_SHOWN, text);
    taking->addresses[taking->count++] = address;
    return true;
}

static struct taking *taking_new(struct captures *captures, const char *const *addresses, size_t count, int64_t seconds,
                                 struct err *err)
{
    if (captures->settings.count == 0) {
        err_set(err, ERR_unsupported, ERR_NO_OFFSET,
                "this daemon may ask no job for a trace: it was started without --capture=HOST:PORT");
        return NULL;
    }
    if (seconds < 1 || seconds > CAPTURE_SECONDS_MAX) {
        err_set(err, ERR_argument, ERR_NO_OFFSET, "seconds must be a number from 1 to %d", CAPTURE_SECONDS_MAX);
        return NULL;
    }
    struct taking *taking = memory_new(sizeof(*taking));
    taking->of = captures;
    taking->seconds = seconds;
    taking->addresses = memory_new(captures->settings.count * sizeof(*taking->addresses));
    for (size_t at = 0; at < count && !err_is_set(err); at++)
        add_address(captures, taking, addresses[at], err);
    for (size_t at = 0; at < captures->settings.count && count == 0; at++)
        taking->addresses[taking->count++] = captures->settings.addresses[at];
    if (!err_is_set(err))
        return taking;
    taking_free(taking);
    return NULL;
}

/* With both locks, and nothing that runs: takes the place of the oldest. */
static bool taking_begin(struct captures *captures, struct taking *taking)
{
    snapshot_write_id(taking->id, hash_number(++captures->count, (uint64_t)clock_unix_ns()));
    if (pthread_create(&captures->thread, NULL, captures_work, taking) != 0)
        return false;
    captures->has_thread = true;
    captures->running = taking;
    taking_free(captures->takings[captures->next]);
    captures->takings[captures->next] = taking;
    captures->next = (captures->next + 1) % KEPT;
    return true;
}

bool captures_begin(struct captures *captures, const char *const *addresses, size_t count, int64_t seconds,
                    char id[CAPTURES_ID_SIZE], struct err *err)
{
    struct taking *taking = taking_new(captures, addresses, count, seconds, err);
    bool is_begun = false;
    if (!taking)
        return false;
    pthread_mutex_lock(&captures->opening);
    pthread_mutex_lock(&captures->lock);
    if (captures->is_stopping) {
        err_set(err, ERR_limit, ERR_NO_OFFSET, "the daemon ends");
    } else if (captures->running) {
        err_set(err, ERR_conflict, ERR_NO_OFFSET, "another capture is at work: %s", captures->running->id);
    } else {
        captures_join(captures);
        is_begun = taking_begin(captures, taking);
        if (!is_begun)
            err_set(err, ERR_limit, ERR_NO_OFFSET, "there is no thread for it now");
    }
    if (is_begun)
        memcpy(id, taking->id, CAPTURES_ID_SIZE);
    pthread_mutex_unlock(&captures->lock);
    pthread_mutex_unlock(&captures->opening);
    if (!is_begun)
        taking_free(taking);
    return is_begun;
}

/* With the lock. */
static struct taking *captures_find(const struct captures *captures, const char *id)
{
    for (size_t at = 0; at < KEPT; at++)
        if (captures->takings[at] && strcmp(captures->takings[at]->id, id) == 0)
            return captures->takings[at];
    return NULL;
}

bool captures_cancel(struct captures *captures, const char *id)
{
    pthread_mutex_lock(&captures->lock);
    struct taking *taking = captures_find(captures, id);
    if (taking)
        atomic_store(&taking->is_cancelled, true);
    pthread_mutex_unlock(&captures->lock);
    return taking != NULL;
}

/* ---- JSON ---- */

static const char *taking_state(const struct taking *taking)
{
    if (!taking->is_done)
        return atomic_load(&taking->is_cancelled) ? "cancelling" : "running";
    return taking->result.is_stopped ? "cancelled" : "done";
}

/* Does the path of a file, below a root, end with the last four names of `path`: "plugins/profile/TIME/HOST.xplane.pb"?
 */
static bool is_same_trace(const char *below_root, const char *path)
{
    const char *tail = path + strlen(path);
    for (int names = 0; names < 4 && tail > path; names++)
        while (tail > path && *--tail != '/')
            continue;
    size_t length = strlen(++tail), whole = strlen(below_root);
    return whole >= length && strcmp(below_root + whole - length, tail) == 0 &&
           (whole == length || below_root[whole - length - 1] == '/');
}

static bool has_trace(const struct snapshot_session *session, const struct capture_result *result)
{
    for (size_t at = 0; at < session->host_count && session->kind == SNAPSHOT_TRACE; at++)
        for (size_t host = 0; host < result->count; host++)
            if (result->hosts[host].path && is_same_trace(session->hosts[at].file->path, result->hosts[host].path))
                return true;
    return false;
}

/* Its id, or null: nothing was kept, or the scanner has not met all that was. */
static void write_session(const struct taking *taking, struct json *json)
{
    const struct capture_result *result = &taking->result;
    struct snapshot *snapshot = result->kept_count > 0 ? index_hold(taking->of->settings.index) : NULL;
    const struct snapshot_session *found = NULL;
    for (size_t at = 0; snapshot && !found && at < snapshot->session_count; at++)
        found = has_trace(snapshot->sessions[at], result) ? snapshot->sessions[at] : NULL;
    json_key_text(json, "session", found && found->host_count >= result->kept_count ? found->id : NULL);
    if (snapshot)
        index_release(taking->of->settings.index, snapshot);
}

static void write_hosts(const struct taking *taking, struct json *json)
{
    json_key_array(json, "hosts");
    for (size_t at = 0; at < taking->count; at++) {
        const struct capture_host *host = at < taking->result.count ? &taking->result.hosts[at] : NULL;
        json_object_begin(json);
        json_key_text(json, "address", taking->addresses[at]->text);
        json_key_text(json, "file", host ? host->path : NULL);
        json_key_uint(json, "trace_bytes", host ? host->trace_bytes : 0);
        json_key_text(json, "reason", host && err_is_set(&host->err) ? host->err.text : NULL);
        json_object_end(json);
    }
    json_array_end(json);
}

static void taking_write(const struct taking *taking, struct json *json)
{
    json_object_begin(json);
    json_key_text(json, "id", taking->id);
    json_key_text(json, "state", taking_state(taking));
    json_key_int(json, "seconds", taking->seconds);
    json_key_int(json, "recorded_ms", taking->progress.recorded_ms);
    json_key_uint(json, "trace_bytes", taking->progress.trace_bytes);
    write_hosts(taking, json);
    json_key_text(json, "reason", err_is_set(&taking->result.err) ? taking->result.err.text : NULL);
    write_session(taking, json);
    json_object_end(json);
}

bool captures_write(struct captures *captures, const char *id, struct json *json)
{
    pthread_mutex_lock(&captures->lock); /* so it does not go meanwhile */
    const struct taking *taking = captures_find(captures, id);
    if (taking)
        taking_write(taking, json);
    pthread_mutex_unlock(&captures->lock);
    return taking != NULL;
}

void captures_write_addresses(struct captures *captures, struct json *json)
{
    json_key_array(json, "capture_addresses");
    for (size_t at = 0; at < captures->settings.count; at++)
        json_text(json, captures->settings.addresses[at]->text);
    json_array_end(json);
}

void captures_write_offer(struct captures *captures, struct json *json)
{
    json_object_begin(json);
    captures_write_addresses(captures, json);
    json_key_text(json, "logdir", captures->settings.logdir);
    json_key_int(json, "max_seconds", CAPTURE_SECONDS_MAX);
    pthread_mutex_lock(&captures->lock);
    json_key_text(json, "running", captures->running ? captures->running->id : NULL);
    pthread_mutex_unlock(&captures->lock);
    json_object_end(json);
}
