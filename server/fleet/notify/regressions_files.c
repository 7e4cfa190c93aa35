/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/regressions_files.h"

#include "server/base/memory.h"
#include "server/fleet/catalog/fleet_diff.h"
#include "server/fleet/notify/notice.h"

#include <stdlib.h>
#include <string.h>

enum { READ_MS = 1000 };

struct regressions_files {
    struct fleet_files *files;
    struct store *store;
    char (*known)[ROWS_ID_SIZE]; /* ids */
    size_t known_count, known_capacity;
    bool has_looked;
};

struct regressions_files *regressions_files_new(struct fleet_files *files, struct store *store)
{
    struct regressions_files *regressions = memory_new(sizeof(*regressions));
    regressions->files = files;
    regressions->store = store;
    return regressions;
}

void regressions_files_free(struct regressions_files *regressions)
{
    if (!regressions)
        return;
    free(regressions->known);
    free(regressions);
}

/* They are few. */
static bool is_known(const struct regressions_files *regressions, const char *id)
{
    bool is_among = false;
    for (size_t at = 0; at < regressions->known_count && !is_among; at++)
        is_among = strcmp(regressions->known[at], id) == 0;
    return is_among;
}

static void know(struct regressions_files *regressions, const char *id)
{
    regressions->known = memory_grow(regressions->known, &regressions->known_capacity, regressions->known_count + 1,
                                     sizeof(*regressions->known));
    memcpy(regressions->known[regressions->known_count++], id, ROWS_ID_SIZE);
}

static bool regressions_files_tell(struct regressions_files *regressions, const struct snapshot *snapshot,
                                   struct analysis_fleet *fleet, size_t step, const char *id, struct outbox *outbox,
                                   struct err *err)
{
    struct buf body = BUF_INIT;
    bool is_good = fleet_diff_explain(regressions->store, snapshot, fleet, step, err) &&
                   notice_of_regression(fleet, step, &body, err);
    if (is_good)
        outbox_add(outbox, id, "regression", &body);
    buf_free(&body);
    return is_good;
}

static bool steps_look(struct regressions_files *regressions, const struct snapshot *snapshot,
                       struct analysis_fleet *fleet, struct outbox *outbox, struct err *err)
{
    bool is_good = true;
    for (size_t step = 0; step < analysis_fleet_step_count(fleet) && is_good; step++) {
        const struct fleet_record *before, *after;
        char id[ROWS_ID_SIZE];
        bool is_regression;
        analysis_fleet_step_level(fleet, step, &is_regression);
        analysis_fleet_step(fleet, step, &before, &after);
        notice_regression_id(id, after);
        if (!is_regression || is_known(regressions, id))
            continue;
        is_good =
            !regressions->has_looked || regressions_files_tell(regressions, snapshot, fleet, step, id, outbox, err);
        if (is_good)
            know(regressions, id);
    }
    return is_good;
}

bool regressions_files_look(struct regressions_files *regressions, const struct snapshot *snapshot,
                            struct outbox *outbox, bool *is_over, struct err *err)
{
    static const struct fleet_filter all = {.since_ms = -1, .until_ms = -1};
    const struct fleet_columns *columns = fleet_files_columns(regressions->files);
    struct fleet_files_reading reading;
    if (!fleet_files_read(regressions->files, regressions->store, snapshot, READ_MS, &reading, err))
        return false;
    *is_over = reading.read_count >= reading.file_count;
    if (!*is_over)
        return true;
    struct analysis_fleet *fleet = analysis_fleet_new((const char *const *)columns->names, columns->count, err);
    bool is_good =
        fleet && fleet_files_add(regressions->files, snapshot, &all, fleet, err) &&
        analysis_fleet_build(fleet, "the folders of this daemon", false, reading.file_count, reading.read_count, err) &&
        steps_look(regressions, snapshot, fleet, outbox, err);
    analysis_fleet_free(fleet);
    regressions->has_looked |= is_good;
    return is_good;
}
