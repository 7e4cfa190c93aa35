/* SPDX-License-Identifier: Apache-2.0
 * check_snapshots.c: see check_snapshots.h. */
#include "server/cmd/check_snapshots.h"

#include "server/base/memory.h"
#include "server/store/subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_BYTES = 4096, NAME_MAX_BYTES = 512 };

/* A GPU of a snapshot, and how much of it the process took. */
struct taken {
    char name[NAME_MAX_BYTES], memory[NAME_MAX_BYTES];
    int64_t bytes;
};

struct takens {
    struct taken *items;
    size_t count, capacity;
};

bool check_snapshots_are_in(const struct snapshot *snapshot)
{
    struct snapshot_walk walk = {0};
    return snapshot_next_allocator(snapshot, &walk) != NULL;
}

/* "rank0"; of a snapshot of several GPUs "rank0, GPU 1". */
static void name_set(char name[NAME_MAX_BYTES], const struct snapshot_host *host, const struct subject *trace,
                     const struct analysis_trace_pool *pool)
{
    struct analysis_trace_pool second;
    bool has_several = analysis_trace_pool_at(trace->core, 1, &second);
    snprintf(name, NAME_MAX_BYTES, "%s%s%s", host->name, has_several ? ", " : "", has_several ? pool->name : "");
}

static void takens_add(const struct check_snapshots *snapshots, const struct snapshot_session *session,
                       const struct snapshot_host *host, struct takens *out)
{
    struct subject trace = {0};
    struct err err = ERR_INIT;
    struct analysis_trace_pool pool;
    const struct subjects_place place = subjects_trace(session, host);
    bool is_open = subjects_open(snapshots->store, &place, &trace, &err);
    for (size_t p = 0; is_open && analysis_trace_pool_at(trace.core, p, &pool); p++) {
        out->items = memory_grow(out->items, &out->capacity, out->count + 1, sizeof(*out->items));
        struct taken *taken = &out->items[out->count++];
        name_set(taken->name, host, &trace, &pool);
        snprintf(taken->memory, NAME_MAX_BYTES, "%s", pool.name);
        taken->bytes = pool.taken_bytes;
    }
    subjects_close(&trace);
}

/* Reads all GPUs of the baseline that can be read; others are in no baseline. */
static void takens_read(const struct check_snapshots *snapshots, const struct snapshot *snapshot, struct takens *out)
{
    struct snapshot_walk walk = {0};
    for (const struct snapshot_host *host; (host = snapshot_next_allocator(snapshot, &walk));)
        takens_add(snapshots, walk.session, host, out);
}

static const struct taken *taken_of(const struct takens *takens, const char *name, bool is_alone)
{
    if (is_alone && takens->count == 1)
        return &takens->items[0];
    for (size_t at = 0; at < takens->count; at++)
        if (strcmp(takens->items[at].name, name) == 0)
            return &takens->items[at];
    return NULL;
}

static bool has_one(const struct snapshot *snapshot)
{
    struct snapshot_walk walk = {0};
    return snapshot_next_allocator(snapshot, &walk) && !snapshot_next_allocator(snapshot, &walk);
}

static bool host_check(const struct check_snapshots *snapshots, const struct snapshot_session *session,
                       const struct snapshot_host *host, const struct takens *before, bool is_alone, struct err *err)
{
    char path[PATH_MAX_BYTES], name[NAME_MAX_BYTES], why[ERR_DESCRIPTION_SIZE];
    struct subject trace = {0};
    struct err fault = ERR_INIT;
    struct analysis_trace_pool pool, second;
    const struct subjects_place place = subjects_trace(session, host);
    snprintf(path, sizeof(path), "%s%s%s", snapshots->path, snapshots->is_folder ? "/" : "",
             snapshots->is_folder ? host->file->path : "");
    bool is_kept = true, is_open = subjects_open(snapshots->store, &place, &trace, &fault);
    bool is_one = is_open && !analysis_trace_pool_at(trace.core, 1, &second);
    if (!is_open || !analysis_trace_pool_at(trace.core, 0, &pool))
        is_kept = analysis_check_fault(snapshots->check, path, host->name,
                                       is_open ? "it holds no memory" : err_describe(&fault, why), err);
    for (size_t p = 0; is_open && is_kept && analysis_trace_pool_at(trace.core, p, &pool); p++) {
        name_set(name, host, &trace, &pool);
        const struct taken *was = taken_of(before, name, is_alone && is_one);
        const struct analysis_check_baseline against = {NULL, was ? was->memory : NULL, was ? was->bytes : -1};
        is_kept = analysis_check_snapshot(snapshots->check, path, name, trace.core, p, &against, err);
    }
    subjects_close(&trace);
    return is_kept;
}

bool check_snapshots_all(const struct check_snapshots *snapshots, const struct snapshot *found,
                         const struct snapshot *before, size_t *count, struct err *err)
{
    struct takens takens = {0};
    struct snapshot_walk walk = {0};
    bool is_kept = true, is_alone = has_one(found);
    takens_read(snapshots, before, &takens);
    for (const struct snapshot_host *host; is_kept && (host = snapshot_next_allocator(found, &walk)); (*count)++)
        is_kept = host_check(snapshots, walk.session, host, &takens, is_alone, err);
    free(takens.items);
    return is_kept;
}
