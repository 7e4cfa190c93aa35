/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/rows_ahead.h"

#include "server/base/memory.h"
#include "server/base/ordered_work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)
/* `READ_FACTOR` times the size of the files and `READ_BYTES` are more than any reader of subjects.c sets aside. */
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
    uint64_t small_bytes;   /* a session of at most so many bytes leaves others enough */
    pthread_rwlock_t alone; /* held by whoever reads a larger one */
};

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
    if (session_bytes(made->session) <= ahead->small_bytes)
        pthread_rwlock_rdlock(&ahead->alone);
    else
        pthread_rwlock_wrlock(&ahead->alone);
    rows_session_write(&own, made->session, &made->counts);
    pthread_rwlock_unlock(&ahead->alone);
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

/* What is told of a failure has the labels of its file with it. */
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

/* As many threads as have room to read beside each other. */
static size_t thread_count(const struct store *store, uint64_t limit_bytes)
{
    uint64_t room = limit_bytes / (2 * READ_BYTES), count = store_workers(store)->count;
    return (size_t)(room < count ? room : count);
}

bool rows_ahead_write(const struct rows_wanted *wanted, struct rows_counts *counts)
{
    uint64_t limit_bytes = account_limit(store_account(wanted->store));
    size_t threads = thread_count(wanted->store, limit_bytes), labels_count = threads > 0 ? threads : 1;
    struct ahead ahead = {.wanted = wanted, .counts = counts};
    ahead.labels = memory_new(labels_count * sizeof(struct labels *));
    for (size_t at = 0; at < labels_count; at++)
        ahead.labels[at] = labels_copy(wanted->labels);
    ahead.small_bytes = threads > 0 ? (limit_bytes / threads - READ_BYTES) / READ_FACTOR : 0;
    pthread_rwlock_init(&ahead.alone, NULL);
    const struct ordered_work work = {.count = wanted->snapshot->session_count,
                                      .thread_count = threads,
                                      .ahead_bytes = AHEAD_BYTES,
                                      .make = session_make,
                                      .take = session_take,
                                      .free_made = session_free,
                                      .context = &ahead};
    bool is_whole = ordered_work_run(&work);
    pthread_rwlock_destroy(&ahead.alone);
    for (size_t at = 0; at < labels_count; at++)
        labels_free(ahead.labels[at]);
    free(ahead.labels);
    return is_whole;
}
