/* SPDX-License-Identifier: Apache-2.0
 * fleet.c: see fleet.h. */
#include "model/fleet/fleet.h"

#include "base/sort.h"
#include "base/sum.h"
#include "model/fleet/robust.h"

#include <stdlib.h>

/* Comparisons of texts that sorting takes, about. */
enum { SORT_WORK = 32 };

struct fleet_building {
    struct fleet *fleet;
    const struct fleet_record *records;
    uint32_t *order; /* records with a job and a value, by series, commit and value */
    uint32_t count;
    struct arena *arena;
};

/* ---- records in order ---- */

static int text_order(const char *a, const char *b)
{
    return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int series_order(const struct fleet_building *building, const struct fleet_record *a,
                        const struct fleet_record *b)
{
    return text_order(a->job, b->job) ?: (building->fleet->is_by_host ? text_order(a->host, b->host) : 0)
        ?: text_order(a->module, b->module) ?: text_order(a->kind, b->kind)
        ?: text_order(a->memory_space, b->memory_space) ?: text_order(a->configuration, b->configuration);
}

static int place_order(const struct fleet_building *building, const struct fleet_record *a,
                       const struct fleet_record *b)
{
    return series_order(building, a, b) ?: text_order(a->commit, b->commit);
}

static bool is_size(int64_t bytes) { return bytes >= 0 && bytes <= SUM_MAX_BYTES_TOGETHER; }
static int64_t size_or_unknown(int64_t bytes) { return is_size(bytes) ? bytes : -1; }

/* The largest value first; of equal ones any, but always the same. */
static int record_order(const void *left, const void *right, void *context)
{
    const struct fleet_building *building = context;
    const struct fleet_record *records = building->records;
    const struct fleet_record *a = &records[*(const uint32_t *)left], *b = &records[*(const uint32_t *)right];
    return place_order(building, a, b) ?: ORDER(size_or_unknown(b->needed_bytes), size_or_unknown(a->needed_bytes))
        ?: ORDER(size_or_unknown(b->peak_bytes), size_or_unknown(a->peak_bytes)) ?: text_order(a->id, b->id)
        ?: text_order(a->host, b->host) ?: text_order(a->file, b->file) ?: ORDER(a->last_at_ms, b->last_at_ms);
}

static void records_order(struct fleet_building *building, size_t count)
{
    struct fleet *fleet = building->fleet;
    building->order = arena_array(building->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct fleet_record *record = &building->records[i];
        if (record->job == NULL || record->job[0] == '\0')
            fleet->unlabelled_count++;
        else if (!is_size(record->needed_bytes) && !is_size(record->peak_bytes))
            fleet->unknown_count++;
        else
            building->order[building->count++] = i;
    }
    arena_work(building->arena, (uint64_t)count * SORT_WORK);
    sort_items(building->order, building->count, sizeof(*building->order), record_order, building);
}

static const struct fleet_record *record_at(const struct fleet_building *building, uint32_t at)
{
    return &building->records[building->order[at]];
}

/* ---- hosts of a point: records from `first` to `end` in the order ---- */

struct host_value {
    const char *host;
    int64_t bytes;
};

static int by_host(const void *left, const void *right)
{
    const struct host_value *a = left, *b = right;
    return strcmp(a->host, b->host) ?: ORDER(b->bytes, a->bytes);
}

static int64_t value_of(const struct fleet_record *record, bool is_of_peaks)
{
    return is_of_peaks ? record->peak_bytes : record->needed_bytes;
}

/* One for each host, with its largest value. */
static uint32_t hosts_collect(const struct fleet_building *building, uint32_t first, uint32_t end, bool is_of_peaks,
                              struct host_value *hosts)
{
    uint32_t count = 0, kept = 0;
    for (uint32_t i = first; i < end; i++) {
        const struct fleet_record *record = record_at(building, i);
        if (record->host != NULL)
            hosts[count++] = (struct host_value){record->host, value_of(record, is_of_peaks)};
    }
    qsort(hosts, count, sizeof(*hosts), by_host);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(hosts[kept - 1].host, hosts[i].host) != 0)
            hosts[kept++] = hosts[i];
    return kept;
}

/* Adds those that differ; `values` has room for two times `count`. */
static void hosts_judge(struct fleet_building *building, const struct fleet_host *like, const struct host_value *hosts,
                        uint32_t count, int64_t *values)
{
    struct fleet *fleet = building->fleet;
    for (uint32_t i = 0; i < count; i++)
        values[i] = hosts[i].bytes;
    int64_t middle = robust_median(values, count);
    double noise =
        count < 3 ? 0 : (double)robust_deviation(values, count, middle, values + count) * ROBUST_DEVIATIONS_PER_MAD;
    for (uint32_t i = 0; i < count && count > 1; i++) {
        struct fleet_host found = *like;
        found.host = hosts[i].host;
        found.bytes = hosts[i].bytes;
        found.host_count = count;
        found.usual_bytes = count == 2 ? hosts[1 - i].bytes : middle;
        found.threshold_bytes = level_steps_threshold(middle, noise);
        if (llabs(found.bytes - found.usual_bytes) > found.threshold_bytes)
            fleet->hosts[fleet->host_count++] = found;
    }
}

/* How many hosts there are; those that differ are added. */
static int64_t hosts_add(struct fleet_building *building, uint32_t first, uint32_t end, const struct fleet_host *like,
                         bool is_of_peaks)
{
    if (end - first == 1)
        return record_at(building, first)->host != NULL;
    struct arena *scratch = arena_child(building->arena);
    struct host_value *hosts = arena_array(scratch, struct host_value, end - first);
    uint32_t count = hosts_collect(building, first, end, is_of_peaks, hosts);
    if (count > 1)
        hosts_judge(building, like, hosts, count, arena_array(scratch, int64_t, 2 * (size_t)count));
    arena_free(scratch);
    return count;
}

/* ---- points ---- */

static int64_t earlier(int64_t a, int64_t b) { return a < 0 ? b : b < 0 || a < b ? a : b; }
static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static void point_take(struct fleet_point *point, const struct fleet_record *record, bool is_of_peaks)
{
    int64_t value = value_of(record, is_of_peaks),
            least = is_of_peaks ? value : size_or_unknown(record->needed_min_bytes);
    point->first_at_ms = earlier(point->first_at_ms, record->first_at_ms);
    point->last_at_ms = later(point->last_at_ms, record->last_at_ms);
    point->row_count = sum_add(point->row_count, record->row_count > 0 ? record->row_count : 1);
    point->host_count = later(point->host_count, record->host_count);
    point->min_bytes = earlier(point->min_bytes, least < 0 || least > value ? value : least);
    point->max_bytes = later(point->max_bytes, value);
    point->peak_bytes = later(point->peak_bytes, size_or_unknown(record->peak_bytes));
}

/* Records from `first` to `end` are of one commit. */
static void point_add(struct fleet_building *building, uint32_t first, uint32_t end, uint32_t series, bool is_of_peaks)
{
    struct fleet *fleet = building->fleet;
    struct fleet_point *point = &fleet->points[fleet->point_count];
    const struct fleet_host like = {.series = series, .point = building->order[first]};
    *point = (struct fleet_point){.series = series,
                                  .record = building->order[first],
                                  .step = FLEET_NONE,
                                  .first_at_ms = -1,
                                  .last_at_ms = -1,
                                  .min_bytes = -1,
                                  .max_bytes = -1,
                                  .peak_bytes = -1};
    for (uint32_t i = first; i < end; i++)
        point_take(point, record_at(building, i), is_of_peaks);
    int64_t host_count = hosts_add(building, first, end, &like, is_of_peaks);
    fleet->hosts_are_summed |= point->host_count > 1; /* as records say it, and not what was counted here */
    point->host_count = later(point->host_count, host_count);
    fleet->point_count++;
}

static int point_order(const void *left, const void *right, void *context)
{
    const struct fleet_point *a = left, *b = right;
    const struct fleet_record *records = context;
    return ORDER(a->first_at_ms, b->first_at_ms) ?: ORDER(a->last_at_ms, b->last_at_ms)
        ?: text_order(records[a->record].commit, records[b->record].commit);
}

/* ---- series ---- */

bool fleet_step_categories(const struct fleet *fleet, const struct fleet_step *step, int64_t *changes)
{
    const struct fleet_record *before = fleet_record_of(fleet, step->point - 1),
                              *after = fleet_record_of(fleet, step->point);
    if (before->category_bytes == NULL || after->category_bytes == NULL)
        return false;
    for (uint32_t i = 0; i < fleet->category_count; i++) {
        bool is_known = is_size(before->category_bytes[i]) && is_size(after->category_bytes[i]);
        changes[i] = is_known ? after->category_bytes[i] - before->category_bytes[i] : 0;
    }
    return true;
}

static void step_explain(const struct fleet *fleet, struct fleet_step *step)
{
    int64_t changes[FLEET_CATEGORIES_MAX], sign = fleet_step_change(step) > 0 ? 1 : -1;
    step->category = FLEET_NONE;
    if (!fleet_step_categories(fleet, step, changes))
        return;
    for (uint32_t i = 0; i < fleet->category_count; i++)
        if (changes[i] * sign > step->category_change_bytes * sign) {
            step->category = i;
            step->category_change_bytes = changes[i];
        }
}

static void steps_add(struct fleet_building *building, uint32_t at)
{
    struct fleet *fleet = building->fleet;
    struct fleet_series *series = &fleet->series[at];
    struct arena *scratch = arena_child(building->arena);
    int64_t *values = arena_array(scratch, int64_t, series->point_count);
    size_t count;
    for (uint32_t i = 0; i < series->point_count; i++)
        values[i] = fleet->points[series->first_point + i].max_bytes;
    const struct level_step *found = level_steps_find(values, series->point_count, scratch, &count);
    series->first_step = fleet->step_count;
    series->step_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct fleet_step *step = &fleet->steps[fleet->step_count];
        *step = (struct fleet_step){.series = at, .level = found[i]};
        step->point = series->first_point + (uint32_t)found[i].at;
        fleet->points[step->point].step = fleet->step_count++;
        step_explain(fleet, step);
    }
    arena_free(scratch);
}

static struct capacity_trend trend_of(const struct fleet_building *building, const struct fleet_series *series)
{
    const struct fleet *fleet = building->fleet;
    struct arena *scratch = arena_child(building->arena);
    struct capacity_trend_point *points = arena_array(scratch, struct capacity_trend_point, series->point_count);
    uint32_t last = series->first_point + series->point_count - 1;
    for (uint32_t i = 0; i < series->point_count; i++) {
        const struct fleet_point *point = &fleet->points[series->first_point + i];
        points[i] = (struct capacity_trend_point){point->first_at_ms, point->max_bytes};
    }
    struct capacity_trend trend =
        capacity_trend_find(points, series->point_count, fleet_record_of(fleet, last)->capacity_bytes, building->arena);
    arena_free(scratch);
    return trend;
}

/* Hosts know the record of their point until points are in their order. */
static void hosts_place(struct fleet *fleet, uint32_t first_host, const struct fleet_series *series)
{
    for (uint32_t i = first_host; i < fleet->host_count; i++)
        for (uint32_t at = 0; at < series->point_count; at++)
            if (fleet->points[series->first_point + at].record == fleet->hosts[i].point) {
                fleet->hosts[i].point = series->first_point + at;
                break;
            }
}

/* The end of the records from `first` on that are alike in `order`. */
static uint32_t run_end(const struct fleet_building *building, uint32_t first, uint32_t end,
                        int (*order)(const struct fleet_building *building, const struct fleet_record *a,
                                     const struct fleet_record *b))
{
    uint32_t at = first + 1;
    while (at < end && order(building, record_at(building, first), record_at(building, at)) == 0)
        at++;
    return at;
}

/* Those of a series, with a value; in their place, from `first` on. How many. */
static uint32_t records_keep(struct fleet_building *building, uint32_t first, uint32_t end, bool is_of_peaks)
{
    uint32_t kept = first;
    for (uint32_t i = first; i < end; i++)
        if (is_size(value_of(record_at(building, i), is_of_peaks)))
            building->order[kept++] = building->order[i];
    building->fleet->unknown_count += end - kept;
    return kept;
}

static void series_add(struct fleet_building *building, uint32_t first, uint32_t end)
{
    struct fleet *fleet = building->fleet;
    uint32_t at = fleet->series_count++, first_host = fleet->host_count;
    struct fleet_series *series = &fleet->series[at];
    *series = (struct fleet_series){.first_point = fleet->point_count, .is_of_peaks = true};
    for (uint32_t i = first; i < end; i++)
        series->is_of_peaks &= !is_size(record_at(building, i)->needed_bytes);
    end = records_keep(building, first, end, series->is_of_peaks);
    for (uint32_t i = first, next; i < end; i = next) {
        next = run_end(building, i, end, place_order);
        point_add(building, i, next, at, series->is_of_peaks);
    }
    series->point_count = fleet->point_count - series->first_point;
    sort_items(fleet->points + series->first_point, series->point_count, sizeof(*fleet->points), point_order,
               (void *)building->records);
    arena_work(building->arena, (uint64_t)(fleet->host_count - first_host) * series->point_count);
    hosts_place(fleet, first_host, series);
    steps_add(building, at);
    series->trend = trend_of(building, series);
}

/* ---- jobs ---- */

static bool is_module(const struct fleet *fleet, uint32_t series)
{
    return text_order(fleet_record_of(fleet, fleet->series[series].first_point)->kind, "module") == 0;
}

/* Is it rather drawn than the other? */
static bool is_before(const struct fleet *fleet, uint32_t series, uint32_t other)
{
    int64_t bytes = fleet->points[fleet_last_point(fleet, series)].max_bytes;
    int64_t others = fleet->points[fleet_last_point(fleet, other)].max_bytes;
    return is_module(fleet, series) != is_module(fleet, other) ? is_module(fleet, series) : bytes > others;
}

static void jobs_add(struct fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->series_count; i++) {
        const char *name = fleet_record_of(fleet, fleet->series[i].first_point)->job;
        struct fleet_job *job = &fleet->jobs[fleet->job_count - (fleet->job_count > 0)];
        if (fleet->job_count == 0 || strcmp(job->name, name) != 0) {
            job = &fleet->jobs[fleet->job_count++];
            *job = (struct fleet_job){.name = name, .first_series = i, .line = i};
        }
        fleet->series[i].job = fleet->job_count - 1;
        job->series_count++;
        job->step_count += fleet->series[i].step_count;
        if (is_before(fleet, i, job->line))
            job->line = i;
    }
}

/* Marks one series for each job. If hosts have series of their own, which are then neighbours, marks one for each
 * host. */
static void lines_mark(struct fleet *fleet)
{
    for (uint32_t i = 0, line = 0; i < fleet->series_count; i++) {
        bool is_first = i == 0 || fleet->series[i].job != fleet->series[i - 1].job ||
                        text_order(fleet_host_of(fleet, i), fleet_host_of(fleet, i - 1)) != 0;
        if (!is_first && !is_before(fleet, i, line))
            continue;
        if (!is_first)
            fleet->series[line].is_line = false;
        fleet->series[i].is_line = true;
        line = i;
    }
}

void fleet_build(const struct fleet_source *source, struct arena *arena, struct fleet *out)
{
    struct fleet_building building = {.fleet = out, .records = source->records, .arena = arena};
    *out = (struct fleet){.records = source->records,
                          .record_count = (uint32_t)source->count,
                          .category_names = source->category_names,
                          .category_count = (uint32_t)source->category_count,
                          .is_by_host = source->is_by_host};
    if (source->count > FLEET_RECORDS_MAX || source->category_count > FLEET_CATEGORIES_MAX) {
        err_set(arena->err, ERR_limit, ERR_NO_OFFSET, "more than %d rows are not looked at together",
                FLEET_RECORDS_MAX);
        arena_give_up(arena);
    }
    records_order(&building, source->count);
    out->jobs = arena_array(arena, struct fleet_job, building.count + 1);
    out->series = arena_array(arena, struct fleet_series, building.count + 1);
    out->points = arena_array(arena, struct fleet_point, building.count + 1);
    out->steps = arena_array(arena, struct fleet_step, building.count + 1);
    out->hosts = arena_array(arena, struct fleet_host, building.count + 1);
    for (uint32_t i = 0, next; i < building.count; i = next) {
        next = run_end(&building, i, building.count, series_order);
        series_add(&building, i, next);
    }
    jobs_add(out);
    lines_mark(out);
}
