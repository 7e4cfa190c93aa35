/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/confirmations.h"

#include "server/base/clock.h"
#include "server/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 160, LOOK_AGAIN_MS = 30000, PART_BYTES = 1 << 16 };
#define PLAN_MAX_BYTES ((size_t)1 << 30)

struct run {
    struct task task; /* first */
    struct api_subject subject;
    const struct snapshot_file *module; /* until it is done, in `subject` */
    char *session, *key, *topology, *otherwise;
    char **changes;
    size_t change_count;
    struct confirmations *of;
    /* under the lock of the ring */
    enum confirm_stage stage;
    struct compile_progress progress;
    /* once it is done */
    struct confirm_result result;
    char *plan, *plan_reason;   /* the changed program as a session, or why it is none */
    struct upload_set plan_set; /* held, so that it stays as long as this does */
};

struct confirmations {
    struct store *store;
    struct compile_apart *apart;
    const char *topology;
    struct task_ring ring;   /* of runs */
    pthread_mutex_t looking; /* one at a time looks for libtpu */
    /* under `looking` */
    struct plugin found;
    struct err fault;
    int64_t looked_at_ms;
};

static void run_free(struct task *task)
{
    struct run *run = (struct run *)task;
    confirm_free(&run->result);
    upload_set_close(&run->plan_set);
    api_close(&run->subject);
    for (size_t at = 0; at < run->change_count; at++)
        free(run->changes[at]);
    free(run->changes);
    free(run->session);
    free(run->key);
    free(run->topology);
    free(run->otherwise);
    free(run->plan);
    free(run->plan_reason);
    free(run);
}

/* ---- the changed program as a session ---- */

/* "jit_step with batch=0.5.hlo.pb": what the session is called. */
static char *plan_name(const struct run *run)
{
    struct buf name = BUF_INIT;
    buf_add(&name, run->key, strcspn(run->key, "("));
    for (size_t at = 0; at < run->change_count; at++)
        buf_format(&name, "%s%s", at == 0 ? " with " : " + ", run->changes[at]);
    for (size_t at = 0; at < name.length; at++) /* it is one part of a path */
        if (name.data[at] == '/' || name.data[at] == '\\')
            name.data[at] = ' ';
    char *text = memory_format("%.*s.hlo.pb", (int)(name.length < NAME_MAX_BYTES ? name.length : NAME_MAX_BYTES),
                               name.length > 0 ? name.data : "");
    buf_free(&name);
    return text;
}

/* All that `descriptor` reads. */
static bool bytes_read(int descriptor, struct upload *upload, struct err *err)
{
    char part[PART_BYTES];
    off_t at = 0;
    ssize_t length;
    while ((length = pread(descriptor, part, sizeof(part), at)) > 0 && upload->fault == UPLOAD_GOOD) {
        upload_add(upload, part, (size_t)length);
        at += length;
    }
    upload_end(upload);
    return length >= 0 || err_set(err, ERR_io, ERR_NO_OFFSET, "cannot be read: %s", strerror(errno));
}

static void plan_read(struct run *run, int descriptor, struct err *err)
{
    char *name = plan_name(run);
    struct upload *upload = upload_new(PLAN_MAX_BYTES, store_account(run->of->store));
    if (bytes_read(descriptor, upload, err)) {
        if (upload->fault != UPLOAD_GOOD || !upload_keep(upload, UPLOAD_SET_COST_BYTES))
            err_set(err, ERR_limit, ERR_NO_OFFSET, "there is no memory to open it now");
        else if (upload_set_add(run->of->store, NULL, name, upload, &run->plan_set, err)) {
            const struct snapshot *snapshot = upload_set_snapshot(&run->plan_set);
            if (snapshot->session_count > 0)
                run->plan = memory_text(snapshot->sessions[0]->id);
        }
    }
    free(name);
    upload_release(upload);
}

/* By the thread of the run, before it is done. */
static void plan_open(struct run *run)
{
    struct err err = ERR_INIT;
    if (run->result.changed.module_descriptor > 0)
        plan_read(run, run->result.changed.module_descriptor, &err);
    if (!run->plan && err_is_set(&err))
        run->plan_reason = memory_text(err.text);
    run->result.confirmation.plan = run->plan;
}

/* ---- the thread ---- */

static void confirmations_note(void *context, enum confirm_stage stage, const struct compile_progress *progress)
{
    struct run *run = context;
    pthread_mutex_lock(&run->of->ring.lock);
    run->stage = stage;
    run->progress = *progress;
    pthread_mutex_unlock(&run->of->ring.lock);
}

static void confirmations_work(struct task *task)
{
    struct run *run = (struct run *)task;
    struct confirmations *of = run->of;
    const struct confirm_request request = {
        .session = run->subject.session,
        .module = run->module,
        .key = run->key,
        .libraries = store_libraries(of->store),
        .changes = (const char *const *)run->changes,
        .change_count = run->change_count,
        .topology = run->topology,
        .otherwise = run->otherwise ? run->otherwise : of->topology,
        .apart = of->apart,
        .progress = confirmations_note,
        .context = run,
        .is_cancelled = &task->is_cancelled,
    };
    confirm_run(&request, &run->result);
    api_close(&run->subject);
    plan_open(run);
}

struct confirmations *confirmations_new(struct store *store, struct compile_apart *apart, const char *topology)
{
    struct confirmations *made = memory_new(sizeof(*made));
    made->store = store;
    made->apart = apart;
    made->topology = topology;
    made->fault = (struct err)ERR_INIT;
    task_ring_init(&made->ring, confirmations_work, run_free, "the compiler is at work already");
    pthread_mutex_init(&made->looking, NULL);
    return made;
}

void confirmations_stop(struct confirmations *confirmations) { task_ring_stop(&confirmations->ring); }

void confirmations_free(struct confirmations *confirmations)
{
    task_ring_free(&confirmations->ring);
    plugin_free(&confirmations->found);
    pthread_mutex_destroy(&confirmations->looking);
    free(confirmations);
}

/* ---- libtpu ---- */

/* With `looking`. One that was found stays; where there is none, it is looked for again after a while. */
static bool libtpu_is_found(struct confirmations *confirmations)
{
    bool is_old = confirmations->looked_at_ms == 0 || clock_ms() - confirmations->looked_at_ms > LOOK_AGAIN_MS;
    if (!confirmations->found.path && is_old) {
        confirmations->fault = (struct err)ERR_INIT;
        if (!compile_apart_find(confirmations->apart, &confirmations->found, &confirmations->fault)) {
            plugin_free(&confirmations->found);
        }
        confirmations->looked_at_ms = clock_ms();
    }
    return confirmations->found.path != NULL;
}

bool confirmations_is_offered(struct confirmations *confirmations, struct err *err)
{
    pthread_mutex_lock(&confirmations->looking);
    bool is_found = libtpu_is_found(confirmations);
    if (!is_found)
        *err = confirmations->fault;
    pthread_mutex_unlock(&confirmations->looking);
    return is_found;
}

void confirmations_write_offer(struct confirmations *confirmations, struct json *json)
{
    char running[TASK_RING_ID_SIZE];
    pthread_mutex_lock(&confirmations->looking);
    bool is_found = libtpu_is_found(confirmations);
    json_object_begin(json);
    json_key_bool(json, "is_available", is_found);
    json_key_text(json, "reason", is_found ? NULL : confirmations->fault.text);
    bool is_tpu = confirmations->found.kind == PLUGIN_TPU;
    json_key_text(json, "compiler", is_found ? plugin_kind_name(confirmations->found.kind) : NULL);
    json_key_text(json, "libtpu_version", is_found && is_tpu ? confirmations->found.version : NULL);
    json_key_text(json, "topology", confirmations->topology);
    pthread_mutex_unlock(&confirmations->looking);
    json_key_text(json, "running", task_ring_running(&confirmations->ring, running) ? running : NULL);
    json_object_end(json);
}

/* ---- beginning, cancelling ---- */

static struct run *run_new(struct confirmations *confirmations, const struct confirmations_asked *asked)
{
    struct run *run = memory_new(sizeof(*run));
    run->of = confirmations;
    run->subject = *asked->subject;
    run->module = asked->module;
    run->session = memory_text(asked->subject->session->id);
    run->key = memory_text(asked->key);
    run->topology = asked->topology ? memory_text(asked->topology) : NULL;
    run->otherwise = asked->otherwise ? memory_text(asked->otherwise) : NULL;
    run->changes = memory_new((asked->change_count + 1) * sizeof(*run->changes));
    for (run->change_count = 0; run->change_count < asked->change_count; run->change_count++)
        run->changes[run->change_count] = memory_text(asked->changes[run->change_count]);
    return run;
}

bool confirmations_begin(struct confirmations *confirmations, const struct confirmations_asked *asked,
                         char id[TASK_RING_ID_SIZE], struct err *err)
{
    struct run *run = run_new(confirmations, asked);
    bool is_begun = task_ring_begin(&confirmations->ring, &run->task, id, err);
    if (is_begun) {
        *asked->subject = (struct api_subject){0};
        return true;
    }
    run->subject = (struct api_subject){0};
    run_free(&run->task);
    return false;
}

bool confirmations_cancel(struct confirmations *confirmations, const char *id)
{
    return task_ring_cancel(&confirmations->ring, id);
}

/* ---- JSON ---- */

static const char *state_of(const struct run *run, bool is_done)
{
    if (!is_done)
        return atomic_load(&run->task.is_cancelled) ? "cancelling" : "running";
    return run->result.is_cancelled ? "cancelled" : "done";
}

static void run_write(const struct run *run, bool is_done, struct json *json)
{
    json_object_begin(json);
    json_key_text(json, "id", run->task.id);
    json_key_text(json, "state", state_of(run, is_done));
    json_key_text(json, "session", run->session);
    json_key_text(json, "module", run->key);
    json_key_array(json, "changes");
    for (size_t at = 0; at < run->change_count; at++)
        json_text(json, run->changes[at]);
    json_array_end(json);
    json_key_text(json, "stage", confirm_stage_name(run->stage));
    json_key_text(json, "step", compile_stage_name(run->progress.stage));
    json_key_int(json, "took_ms", run->progress.took_ms);
    json_key_uint(json, "resident_bytes", run->progress.resident_bytes);
    json_key(json, "confirmed");
    if (is_done)
        analysis_confirmation_write(&run->result.confirmation, json);
    else
        json_null(json);
    json_key_text(json, "plan_session", is_done ? run->plan : NULL);
    json_key_text(json, "plan_reason", is_done ? run->plan_reason : NULL);
    json_object_end(json);
}

bool confirmations_write(struct confirmations *confirmations, const char *id, struct json *json)
{
    struct task *task = task_ring_hold(&confirmations->ring, id);
    if (!task)
        return false;
    pthread_mutex_lock(&confirmations->ring.lock); /* of its stage and progress */
    run_write((const struct run *)task, task->is_done, json);
    pthread_mutex_unlock(&confirmations->ring.lock);
    task_ring_release(task);
    return true;
}
