/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/rows_ahead.h"

#include "server/base/memory.h"
#include "server/base/ordered_work.h"
#include "server/files/remote/remote_address.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)
/* `READ_FACTOR` times the size of the files and `READ_BYTES` are more than any reader of subjects.c sets aside. */
/* For objects on a server, whose answers are waited for: as many as it is asked for at a time. */
enum { REMOTE_THREADS = 8 };
static const uint64_t AHEAD_BYTES = 64 * MIB, READ_BYTES = 256 * MIB, READ_FACTOR = 256;

/* One that was made, until it is taken. */
struct made_file {
    struct rows_file file; /* its `rows` and `content_sha256` are set when it is taken */
    struct buf rows;
    char *path; /* that of `file`, which may be gone with what made it */
    char content_sha256[SHA256_TEXT_SIZE];
    const struct snapshot_text *told; /* of a failure; NULL */
};

struct made_session {
    const struct rows_wanted *wanted; /* who asked for it */
    const struct snapshot_session *session;
    struct rows_counts counts;
    struct made_file *files;
    size_t count, capacity;
    const struct snapshot_text *told; /* of the file that comes next */
    uint64_t cost_bytes;
};

struct ahead {
    const struct rows_wanted *wanted;
    struct rows_counts *counts;
    struct labels **labels; /* one for each thread: they keep what they read last */
    /* Memory for reading: sessions take their parts in turn. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t limit_bytes, free_bytes;
    size_t next_turn, turn;
};

/* ---- room ---- */

/* More than reading the session sets aside; at most all there is, and then it is read alone. */
static uint64_t room_of(const struct ahead *ahead, uint64_t session_bytes)
{
    if (session_bytes >= ahead->limit_bytes / READ_FACTOR)
        return ahead->limit_bytes;
    uint64_t bytes = READ_BYTES + session_bytes * READ_FACTOR;
    return bytes < ahead->limit_bytes ? bytes : ahead->limit_bytes;
}

/* Who came first is first, so that a large session is not passed by for ever. */
static void room_take(struct ahead *ahead, uint64_t bytes)
{
    pthread_mutex_lock(&ahead->lock);
    size_t own = ahead->next_turn++;
    while (ahead->turn != own || ahead->free_bytes < bytes)
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    ahead->free_bytes -= bytes;
    ahead->turn++;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

static void room_give(struct ahead *ahead, uint64_t bytes)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->free_bytes += bytes;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

/* ---- one session, by any thread ---- */

static bool is_wanted(void *context, const struct rows_file *file)
{
    const struct rows_wanted *wanted = ((const struct made_session *)context)->wanted;
    return !wanted->is_wanted || wanted->is_wanted(wanted->context, file);
}

static bool keep_told(void *context, const struct snapshot_session *session, const struct snapshot_text *text)
{
    (void)session;
    ((struct made_session *)context)->told = text;
    return true;
}

static bool rows_ahead_keep(void *context, const struct rows_file *file)
{
    struct made_session *made = context;
    made->files = memory_grow(made->files, &made->capacity, made->count + 1, sizeof(*made->files));
    struct made_file *kept = &made->files[made->count++];
    *kept = (struct made_file){.file = *file, .rows = BUF_INIT, .path = memory_text(file->path), .told = made->told};
    kept->file.path = kept->path;
    memcpy(kept->content_sha256, file->content_sha256, strlen(file->content_sha256) + 1);
    buf_add(&kept->rows, file->rows->data, file->rows->length);
    made->told = NULL;
    made->cost_bytes += sizeof(*kept) + file->rows->length + strlen(file->path) + 1;
    return true;
}

static uint64_t session_bytes(const struct snapshot_session *session)
{
    uint64_t bytes = 0;
    for (size_t at = 0; at < session->file_count; at++)
        bytes += session->files[at]->identity.size_bytes;
    for (size_t at = 0; at < session->program_file_count; at++)
        bytes += session->program_files[at]->identity.size_bytes;
    return bytes;
}

static void *session_make(void *context, size_t thread, size_t at, uint64_t *cost_bytes)
{
    struct ahead *ahead = context;
    struct made_session *made = memory_new(sizeof(*made));
    made->wanted = ahead->wanted;
    made->session = ahead->wanted->snapshot->sessions[at];
    struct rows_wanted own = *ahead->wanted;
    own.labels = ahead->labels[thread];
    own.is_wanted = is_wanted;
    own.fails = own.fails ? keep_told : NULL;
    own.fails_context = own.context = made;
    own.take = rows_ahead_keep;
    uint64_t room_bytes = room_of(ahead, session_bytes(made->session));
    room_take(ahead, room_bytes);
    rows_session_write(&own, made->session, &made->counts);
    room_give(ahead, room_bytes);
    *cost_bytes = sizeof(*made) + made->cost_bytes;
    return made;
}

static void session_free(void *value)
{
    struct made_session *made = value;
    for (size_t at = 0; at < made->count; at++) {
        buf_free(&made->files[at].rows);
        free(made->files[at].path);
    }
    free(made->files);
    free(made);
}

/* ---- by the caller's thread ---- */

/* A notice of a failure includes the labels of its file. */
static bool file_tell(const struct rows_wanted *wanted, const struct made_session *made, const struct made_file *kept)
{
    struct err ignored = ERR_INIT;
    const char *broken = NULL;
    if (!kept->told)
        return true;
    labels_find(wanted->labels, &kept->file.file->place, &broken, &ignored);
    return wanted->fails(wanted->fails_context, made->session, kept->told);
}

static bool session_take(void *context, void *value)
{
    const struct ahead *ahead = context;
    const struct rows_wanted *wanted = ahead->wanted;
    struct made_session *made = value;
    bool is_good = true;
    for (size_t at = 0; at < made->count && is_good; at++) {
        struct made_file *kept = &made->files[at];
        kept->file.rows = &kept->rows;
        kept->file.content_sha256 = kept->content_sha256;
        is_good = !kept->rows.failed && file_tell(wanted, made, kept) && wanted->take(wanted->context, &kept->file);
    }
    ahead->counts->files += made->counts.files;
    ahead->counts->known += made->counts.known;
    ahead->counts->rows += made->counts.rows;
    ahead->counts->errors += made->counts.errors;
    ahead->counts->unread += made->counts.unread;
    return is_good;
}

static bool has_remote(const struct snapshot *snapshot)
{
    bool has = false;
    for (size_t at = 0; at < snapshot->root_count && !has; at++)
        has = remote_address_is(snapshot->roots[at].path);
    return has;
}

/* As many threads as have room to read beside each other. */
static size_t thread_count(const struct rows_wanted *wanted, uint64_t limit_bytes)
{
    uint64_t room = limit_bytes / (2 * READ_BYTES), count = store_workers(wanted->store)->count;
    if (count < REMOTE_THREADS && has_remote(wanted->snapshot))
        count = REMOTE_THREADS;
    return (size_t)(room < count ? room : count);
}

bool rows_ahead_write(const struct rows_wanted *wanted, struct rows_counts *counts)
{
    uint64_t limit_bytes = account_limit(store_account(wanted->store));
    size_t threads = thread_count(wanted, limit_bytes), labels_count = threads > 0 ? threads : 1;
    struct ahead ahead = {.wanted = wanted, .counts = counts, .limit_bytes = limit_bytes, .free_bytes = limit_bytes};
    ahead.labels = memory_new(labels_count * sizeof(struct labels *));
    for (size_t at = 0; at < labels_count; at++)
        ahead.labels[at] = labels_copy(wanted->labels);
    pthread_mutex_init(&ahead.lock, NULL);
    pthread_cond_init(&ahead.changed, NULL);
    const struct ordered_work work = {.count = wanted->snapshot->session_count,
                                      .thread_count = threads,
                                      .ahead_bytes = AHEAD_BYTES,
                                      .make = session_make,
                                      .take = session_take,
                                      .free_made = session_free,
                                      .context = &ahead};
    bool is_whole = ordered_work_run(&work);
    pthread_cond_destroy(&ahead.changed);
    pthread_mutex_destroy(&ahead.lock);
    for (size_t at = 0; at < labels_count; at++)
        labels_free(ahead.labels[at]);
    free(ahead.labels);
    return is_whole;
}
