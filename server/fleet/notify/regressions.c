/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/regressions.h"

#include "server/fleet/catalog/catalog_regressions.h"
#include "server/fleet/catalog/fleet_diff.h"
#include "server/fleet/catalog/fleet_tables.h"
#include "server/fleet/notify/notice.h"

#include <stdlib.h>
#include <string.h>

struct regressions_looking {
    const struct regressions_wanted *wanted;
    struct catalog *catalog; /* whose points are read */
    struct catalog_regressions *regressions;
    struct fleet_columns *columns;
    struct catalog_series_list list;
    struct regressions_counts counts;
    struct buf found; /* "ID,ID": of the job that is looked at */
};

/* ---- one step ---- */

static bool is_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/* Series of the list, `count` from `first` on, all of one job. */
struct part {
    struct regressions_looking *looking;
    size_t first, count;
};

/* The one that the record is of, or NULL: it is not settled. */
static struct catalog_series *series_of(const struct part *part, const struct fleet_record *record)
{
    for (size_t at = part->first; at < part->first + part->count; at++) {
        struct catalog_series *series = &part->looking->list.items[at];
        if (is_text(series->module, record->module) && is_text(series->kind, record->kind) &&
            is_text(series->memory_space, record->memory_space) &&
            is_text(series->configuration, record->configuration))
            return series;
    }
    return NULL;
}

/* A regression that was not reported, because its series changed meanwhile, is found again when that is settled. */
static bool step_add(struct regressions_looking *looking, struct analysis_fleet *fleet, size_t step,
                     const struct catalog_regression *found, struct catalog_series *series, struct err *err)
{
    struct buf notice = BUF_INIT;
    bool is_told = looking->wanted->is_told && !series->was_before, is_settled = false;
    bool is_good =
        (!is_told || (fleet_diff_explain(looking->wanted->store, looking->wanted->snapshot, fleet, step, err) &&
                      notice_of_regression(fleet, step, &notice, err))) &&
        catalog_regressions_add(looking->regressions, found, is_told ? &notice : NULL, &is_settled, err);
    series->is_open |= is_good && !is_settled;
    looking->counts.found += is_good && is_settled;
    buf_free(&notice);
    return is_good;
}

static bool step_keep(struct regressions_looking *looking, struct analysis_fleet *fleet, size_t step,
                      struct catalog_series *series, struct err *err)
{
    const struct fleet_record *before, *after;
    char id[ROWS_ID_SIZE];
    bool has, is_regression;
    const struct level_step *level = analysis_fleet_step_level(fleet, step, &is_regression);
    analysis_fleet_step(fleet, step, &before, &after);
    notice_regression_id(id, after);
    buf_format(&looking->found, "%s%s", looking->found.length > 0 ? "," : "", id);
    const struct catalog_regression found = {.id = id,
                                             .series_id = series->id,
                                             .settled_at = looking->list.settled_at,
                                             .job = after->job,
                                             .module = after->module,
                                             .kind = after->kind,
                                             .memory_space = after->memory_space,
                                             .configuration = after->configuration,
                                             .commit = after->commit,
                                             .commit_before = before->commit,
                                             .before_bytes = level->before_bytes,
                                             .after_bytes = level->after_bytes,
                                             .noise_bytes = level->noise_bytes,
                                             .threshold_bytes = level->threshold_bytes};
    return catalog_regressions_has(looking->regressions, id, &has, err) &&
           (has || step_add(looking, fleet, step, &found, series, err));
}

/* ---- one job ---- */

static bool steps_look(const struct part *part, struct analysis_fleet *fleet, struct err *err)
{
    bool is_good = true;
    for (size_t step = 0; step < analysis_fleet_step_count(fleet) && is_good; step++) {
        const struct fleet_record *before, *after;
        bool is_regression;
        analysis_fleet_step_level(fleet, step, &is_regression);
        analysis_fleet_step(fleet, step, &before, &after);
        struct catalog_series *series = is_regression ? series_of(part, after) : NULL;
        if (series)
            is_good = step_keep(part->looking, fleet, step, series, err);
    }
    return is_good;
}

/* In the points that the filter names. Where they are cut and `needs_all`, nothing is looked for. */
static bool points_look(const struct part *part, const struct fleet_filter *filter, bool needs_all, bool *is_cut,
                        struct err *err)
{
    struct regressions_looking *looking = part->looking;
    const struct fleet_tables_asked asked = {.catalog = looking->catalog,
                                             .columns = looking->columns,
                                             .filter = filter,
                                             .snapshot = looking->wanted->snapshot,
                                             .is_cut = is_cut};
    struct analysis_fleet *fleet =
        analysis_fleet_new((const char *const *)looking->columns->names, looking->columns->count, err);
    bool is_good = fleet && fleet_tables_add(&asked, fleet, err);
    if (is_good && !(*is_cut && needs_all))
        is_good = analysis_fleet_build(fleet, catalog_name(looking->catalog), true, 0, 0, err) &&
                  steps_look(part, fleet, err);
    analysis_fleet_free(fleet);
    return is_good;
}

static bool is_of_same_points(const struct catalog_series *a, const struct catalog_series *b)
{
    return is_text(a->module, b->module) && is_text(a->kind, b->kind);
}

/* Series of one module and kind, and several memory spaces, once. */
static bool modules_look(const struct part *part, struct err *err)
{
    const struct catalog_series *items = &part->looking->list.items[part->first];
    bool is_good = true;
    for (size_t at = 0; at < part->count && is_good; at++) {
        size_t same = 0;
        bool is_cut = false;
        while (!is_of_same_points(&items[same], &items[at]))
            same++;
        if (same < at)
            continue;
        const struct fleet_filter filter = {
            .job = items[at].job, .module = items[at].module, .kind = items[at].kind, .since_ms = -1, .until_ms = -1};
        is_good = points_look(part, &filter, false, &is_cut, err);
        part->looking->counts.cut += is_cut;
        for (size_t other = at; other < part->count; other++)
            part->looking->list.items[part->first + other].is_cut |=
                is_cut && is_of_same_points(&items[at], &items[other]);
    }
    return is_good;
}

static bool job_look(const struct part *part, struct err *err)
{
    struct regressions_looking *looking = part->looking;
    const struct fleet_filter filter = {.job = looking->list.items[part->first].job, .since_ms = -1, .until_ms = -1};
    bool is_cut = false;
    looking->found.length = 0;
    bool is_good = points_look(part, &filter, true, &is_cut, err) && (!is_cut || modules_look(part, err)) &&
                   catalog_regressions_looked(looking->regressions, &looking->list, part->first, part->count,
                                              &looking->found, looking->wanted->is_told, err);
    looking->counts.series += is_good ? part->count : 0;
    return is_good;
}

/* ---- all of them ---- */

static bool regressions_begin(struct regressions_looking *looking, const struct regressions_wanted *wanted,
                              struct err *err)
{
    *looking = (struct regressions_looking){.wanted = wanted, .columns = fleet_record_columns_new(), .found = BUF_INIT};
    looking->regressions = catalog_regressions_open(wanted->catalog_url, err);
    return looking->regressions && (looking->catalog = catalog_open(wanted->catalog_url, err)) &&
           catalog_regressions_settled(looking->regressions, &looking->list, err);
}

static void regressions_end(struct regressions_looking *looking)
{
    catalog_regressions_list_free(&looking->list);
    catalog_regressions_close(looking->regressions);
    catalog_close(looking->catalog);
    fleet_record_columns_free(looking->columns);
    buf_free(&looking->found);
}

static bool jobs_look(struct regressions_looking *looking, struct err *err)
{
    bool is_good = true;
    for (size_t first = 0, next; first < looking->list.count && is_good; first = next) {
        next = first + 1;
        while (next < looking->list.count && strcmp(looking->list.items[first].job, looking->list.items[next].job) == 0)
            next++;
        const struct part part = {looking, first, next - first};
        is_good = job_look(&part, err);
    }
    return is_good;
}

bool regressions_look(const struct regressions_wanted *wanted, struct regressions_counts *counts, struct err *err)
{
    struct regressions_looking looking;
    bool is_good = regressions_begin(&looking, wanted, err) && jobs_look(&looking, err);
    *counts = looking.counts;
    regressions_end(&looking);
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
    struct regressions_looking looking;
    bool is_good = regressions_begin(&looking, wanted, err);
    if (is_good && has_those_before(&looking.list)) {
        catalog_regressions_list_free(&looking.list);
        is_good = catalog_regressions_lock(looking.regressions, err) &&
                  catalog_regressions_settled(looking.regressions, &looking.list, err) &&
                  (!has_those_before(&looking.list) || jobs_look(&looking, err));
    }
    regressions_end(&looking);
    return is_good;
}
