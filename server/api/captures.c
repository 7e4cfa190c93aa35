/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/captures.h"

#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MS_PER_S = 1000, ADDRESS_SHOWN = 80 };

struct taking {
    struct task task; /* first */
    struct captures *of;
    const struct capture_address **addresses;
    size_t count;
    int64_t seconds;
    struct capture_progress progress; /* under the lock of the ring */
    struct capture_result result;     /* once it is done */
};

struct captures {
    struct captures_settings settings;
    struct task_ring ring; /* of takings */
};

static void taking_free(struct task *task)
{
    struct taking *taking = (struct taking *)task;
    capture_free(&taking->result);
    free(taking->addresses);
    free(taking);
}

/* ---- the thread ---- */

static bool captures_tick(void *context, const struct capture_progress *progress)
{
    struct taking *taking = context;
    pthread_mutex_lock(&taking->of->ring.lock);
    taking->progress = *progress;
    pthread_mutex_unlock(&taking->of->ring.lock);
    return !atomic_load(&taking->task.is_cancelled);
}

static void captures_work(struct task *task)
{
    struct taking *taking = (struct taking *)task;
    const struct captures_settings *settings = &taking->of->settings;
    const struct capture_request request = {settings->logdir, taking->addresses, taking->count,
                                            taking->seconds * MS_PER_S};
    capture_run(&request, &taking->result, captures_tick, taking);
    index_nudge(settings->index);
}

struct captures *captures_new(const struct captures_settings *settings)
{
    struct captures *made = memory_new(sizeof(*made));
    made->settings = *settings;
    task_ring_init(&made->ring, captures_work, taking_free, "another capture is at work");
    return made;
}

void captures_stop(struct captures *captures) { task_ring_stop(&captures->ring); }

void captures_free(struct captures *captures)
{
    task_ring_free(&captures->ring);
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
    taking_free(&taking->task);
    return NULL;
}

bool captures_begin(struct captures *captures, const char *const *addresses, size_t count, int64_t seconds,
                    char id[TASK_RING_ID_SIZE], struct err *err)
{
    struct taking *taking = taking_new(captures, addresses, count, seconds, err);
    bool is_begun = taking && task_ring_begin(&captures->ring, &taking->task, id, err);
    if (taking && !is_begun)
        taking_free(&taking->task);
    return is_begun;
}

bool captures_cancel(struct captures *captures, const char *id) { return task_ring_cancel(&captures->ring, id); }

/* ---- JSON ---- */

/* What an answer says about a capture; while it runs, there is no result. */
struct told {
    const struct taking *taking;
    const struct capture_result *result; /* NULL: it runs */
    struct capture_progress progress;
};

static struct told told_of(struct taking *taking)
{
    pthread_mutex_lock(&taking->of->ring.lock);
    const struct told told = {taking, taking->task.is_done ? &taking->result : NULL, taking->progress};
    pthread_mutex_unlock(&taking->of->ring.lock);
    return told;
}

static const char *told_state(const struct told *told)
{
    if (!told->result)
        return atomic_load(&told->taking->task.is_cancelled) ? "cancelling" : "running";
    return told->result->is_stopped ? "cancelled" : "done";
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
static void write_session(const struct told *told, struct json *json)
{
    const struct capture_result *result = told->result;
    struct index *index = told->taking->of->settings.index;
    struct snapshot *snapshot = result && result->kept_count > 0 ? index_hold(index) : NULL;
    const struct snapshot_session *found = NULL;
    for (size_t at = 0; snapshot && !found && at < snapshot->session_count; at++)
        found = has_trace(snapshot->sessions[at], result) ? snapshot->sessions[at] : NULL;
    json_key_text(json, "session", found && found->host_count >= result->kept_count ? found->id : NULL);
    if (snapshot)
        index_release(index, snapshot);
}

static void write_hosts(const struct told *told, struct json *json)
{
    json_key_array(json, "hosts");
    for (size_t at = 0; at < told->taking->count; at++) {
        const struct capture_host *host = told->result && at < told->result->count ? &told->result->hosts[at] : NULL;
        json_object_begin(json);
        json_key_text(json, "address", told->taking->addresses[at]->text);
        json_key_text(json, "file", host ? host->path : NULL);
        json_key_uint(json, "trace_bytes", host ? host->trace_bytes : 0);
        json_key_text(json, "reason", host && err_is_set(&host->err) ? host->err.text : NULL);
        json_object_end(json);
    }
    json_array_end(json);
}

static void told_write(const struct told *told, struct json *json)
{
    const struct capture_result *result = told->result;
    json_object_begin(json);
    json_key_text(json, "id", told->taking->task.id);
    json_key_text(json, "state", told_state(told));
    json_key_int(json, "seconds", told->taking->seconds);
    json_key_int(json, "recorded_ms", told->progress.recorded_ms);
    json_key_uint(json, "trace_bytes", told->progress.trace_bytes);
    write_hosts(told, json);
    json_key_text(json, "reason", result && err_is_set(&result->err) ? result->err.text : NULL);
    write_session(told, json);
    json_object_end(json);
}

/* Looks through all sessions: without the lock. */
bool captures_write(struct captures *captures, const char *id, struct json *json)
{
    struct task *task = task_ring_hold(&captures->ring, id);
    if (!task)
        return false;
    const struct told told = told_of((struct taking *)task);
    told_write(&told, json);
    task_ring_release(task);
    return true;
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
    char running[TASK_RING_ID_SIZE];
    json_object_begin(json);
    captures_write_addresses(captures, json);
    json_key_text(json, "logdir", captures->settings.logdir);
    json_key_int(json, "max_seconds", CAPTURE_SECONDS_MAX);
    json_key_text(json, "running", task_ring_running(&captures->ring, running) ? running : NULL);
    json_object_end(json);
}
