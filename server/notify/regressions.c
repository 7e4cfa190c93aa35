/* SPDX-License-Identifier: Apache-2.0 */
#include "server/notify/regressions.h"

#include "server/catalog/catalog_regressions.h"
#include "server/catalog/fleet_diff.h"
#include "server/catalog/fleet_tables.h"
#include "server/notify/notice.h"

#include <stdlib.h>
#include <string.h>

struct looking {
    const struct regressions_wanted *wanted;
    struct catalog *catalog; /* whose points are read */
    struct catalog_regressions *regressions;
    struct fleet_columns *columns;
    struct catalog_series_list list;
    struct regressions_counts counts;
};

/* ---- one step ---- */

static bool is_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/* Of the job's series, `count` from `first` on: the one that the record is of, or NULL: it is not settled. */
static const struct catalog_series *series_of(const struct looking *looking, size_t first, size_t count,
                                              const struct fleet_record *record)
{
    for (size_t at = first; at < first + count; at++) {
        const struct catalog_series *series = &looking->list.items[at];
        if (is_text(series->module, record->module) && is_text(series->kind, record->kind) &&
            is_text(series->memory_space, record->memory_space))
            return series;
    }
    return NULL;
}

static bool step_keep(struct looking *looking, struct analysis_fleet *fleet, size_t step, bool is_told, struct err *err)
{
    const struct fleet_record *before, *after;
    struct buf notice = BUF_INIT;
    char id[ROWS_ID_SIZE];
    bool has, is_regression;
    const struct level_step *level = analysis_fleet_step_level(fleet, step, &is_regression);
    analysis_fleet_step(fleet, step, &before, &after);
    notice_regression_id(id, after);
    const struct catalog_regression found = {.id = id,
                                             .job = after->job,
                                             .module = after->module,
                                             .kind = after->kind,
                                             .memory_space = after->memory_space,
                                             .commit = after->commit,
                                             .commit_before = before->commit,
                                             .before_bytes = level->before_bytes,
                                             .after_bytes = level->after_bytes,
                                             .noise_bytes = level->noise_bytes,
                                             .threshold_bytes = level->threshold_bytes};
    bool is_good = catalog_regressions_has(looking->regressions, id, &has, err);
    if (is_good && !has) {
        is_good =
            (!is_told || (fleet_diff_explain(looking->wanted->store, looking->wanted->snapshot, fleet, step, err) &&
                          notice_of_regression(fleet, step, &notice, err))) &&
            catalog_regressions_add(looking->regressions, &found, is_told ? &notice : NULL, err);
        looking->counts.found += is_good;
    }
    buf_free(&notice);
    return is_good;
}

/* ---- one job ---- */

static bool steps_look(struct looking *looking, struct analysis_fleet *fleet, size_t first, size_t count,
                       struct err *err)
{
    bool is_good = true;
    for (size_t step = 0; step < analysis_fleet_step_count(fleet) && is_good; step++) {
        const struct fleet_record *before, *after;
        bool is_regression;
        analysis_fleet_step_level(fleet, step, &is_regression);
        analysis_fleet_step(fleet, step, &before, &after);
        const struct catalog_series *series = is_regression ? series_of(looking, first, count, after) : NULL;
        if (series)
            is_good = step_keep(looking, fleet, step, looking->wanted->is_told && !series->was_before, err);
    }
    return is_good;
}

/* `count` series from `first` on are of one job. */
static bool job_look(struct looking *looking, size_t first, size_t count, struct err *err)
{
    const struct fleet_filter filter = {.job = looking->list.items[first].job, .since_ms = -1, .until_ms = -1};
    const struct fleet_tables_asked asked = {.catalog = looking->catalog,
                                             .columns = looking->columns,
                                             .filter = &filter,
                                             .snapshot = looking->wanted->snapshot};
    struct analysis_fleet *fleet =
        analysis_fleet_new((const char *const *)looking->columns->names, looking->columns->count, err);
    bool is_good = fleet && fleet_tables_add(&asked, fleet, err) &&
                   analysis_fleet_build(fleet, catalog_name(looking->catalog), true, 0, 0, err) &&
                   steps_look(looking, fleet, first, count, err) &&
                   catalog_regressions_looked(looking->regressions, &looking->list, first, count, err);
    analysis_fleet_free(fleet);
    looking->counts.series += is_good ? count : 0;
    return is_good;
}

/* ---- all of them ---- */

static bool begin(struct looking *looking, const struct regressions_wanted *wanted, struct err *err)
{
    *looking = (struct looking){.wanted = wanted, .columns = fleet_record_columns_new()};
    looking->regressions = catalog_regressions_open(wanted->catalog_url, err);
    return looking->regressions && (looking->catalog = catalog_open(wanted->catalog_url, err)) &&
           catalog_regressions_settled(looking->regressions, &looking->list, err);
}

static void end(struct looking *looking)
{
    catalog_regressions_list_free(&looking->list);
    catalog_regressions_close(looking->regressions);
    catalog_close(looking->catalog);
    fleet_record_columns_free(looking->columns);
}

static bool jobs_look(struct looking *looking, struct err *err)
{
    bool is_good = true;
    for (size_t first = 0, next; first < looking->list.count && is_good; first = next) {
        next = first + 1;
        while (next < looking->list.count && strcmp(looking->list.items[first].job, looking->list.items[next].job) == 0)
            next++;
        is_good = job_look(looking, first, next - first, err);
    }
    return is_good;
}

bool regressions_look(const struct regressions_wanted *wanted, struct regressions_counts *counts, struct err *err)
{
    struct looking looking;
    bool is_good = begin(&looking, wanted, err) && jobs_look(&looking, err);
    *counts = looking.counts;
    end(&looking);
    return is_good;
}

static bool has_those_before(const struct catalog_series_list *list)
{
    bool has = false;
    for (size_t at = 0; at < list->count && !has; at++)
        has = list->items[at].was_before;
    return has;
}

bool regressions_know_those_before(const struct regressions_wanted *wanted, struct err *err)
{
    struct looking looking;
    bool is_good = begin(&looking, wanted, err);
    if (is_good && has_those_before(&looking.list)) {
        catalog_regressions_list_free(&looking.list);
        is_good = catalog_regressions_lock(looking.regressions, err) &&
                  catalog_regressions_settled(looking.regressions, &looking.list, err) &&
                  (!has_those_before(&looking.list) || jobs_look(&looking, err));
    }
    end(&looking);
    return is_good;
}
