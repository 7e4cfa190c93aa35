/* SPDX-License-Identifier: Apache-2.0
 * fleet.h: what many jobs took over their commits: series of points, steps in them, hosts that differ, what fails next.
 *
 * In:     records: rows of `memviewd index`, or what many of them come to (docs/operate/fleet.md), in any order.
 * Out:    jobs, of each its series (a module, or whatever else has figures, of a configuration in a memory space), of
 *         each its points: one a commit, ordered by when it was first seen; if that is asked for, each host has series
 *         of its own. The same records in another order make the same fleet.
 * Value:  of a record needed_bytes; in a series where no record has that, peak_bytes. That of a point is the largest of
 *         its records, for the device that needs most decides whether a job runs.
 * Rules:  steps: level_steps.h; what fails next: capacity_trend.h. Hosts of one point: with three or more, one differs
 *         that is further from the median than level_steps_threshold says, with the noise of their median absolute
 *         deviation; of two that far apart both are told, for which one is odd cannot be known.
 * Units:  bytes, Unix time in ms. Below 0, or NULL: not known.
 * Memory: all lies in `arena`; texts of the records are borrowed. Work is charged to the arena. */
#pragma once

#include "base/buf.h"
#include "base/note.h"
#include "exchange/fleet.h"
#include "model/fleet/capacity_trend.h"
#include "model/fleet/level_steps.h"

enum { FLEET_RECORDS_MAX = 200000, FLEET_CATEGORIES_MAX = 64 };
#define FLEET_NONE UINT32_MAX

/* What all rows of one commit in a series come to. */
struct fleet_point {
    uint32_t series;
    uint32_t record; /* the one with the largest value: whose capacity, categories and file it has */
    uint32_t step;   /* that begins here, or FLEET_NONE */
    int64_t first_at_ms, last_at_ms;
    int64_t row_count, host_count;
    int64_t min_bytes, max_bytes; /* max: the value */
    int64_t peak_bytes;           /* the largest */
};

struct fleet_series {
    uint32_t job;
    uint32_t first_point, point_count;
    uint32_t first_step, step_count;
    bool is_of_peaks; /* the value is peak_bytes */
    bool is_line;     /* the job, or each of its hosts, is drawn by this series: see fleet_job */
    struct capacity_trend trend;
};

struct fleet_step {
    uint32_t series, point; /* point: the first of the new level */
    struct level_step level;
    uint32_t category; /* that changed most, in the direction of the step; FLEET_NONE: not known */
    int64_t category_change_bytes;
    /* What `memviewd diff` says of the two plans, and why nothing is known of that: each may be NULL. */
    const char *diff_sentence, *diff_unknown;
};

struct fleet_host {
    uint32_t series, point;
    const char *host;
    int64_t bytes;
    int64_t usual_bytes; /* the median of all hosts; of two the other one */
    int64_t threshold_bytes;
    uint32_t host_count;
};

struct fleet_job {
    const char *name;
    uint32_t first_series, series_count;
    /* The series that needs most at its last commit, of modules if there is one: what the job is drawn by. */
    uint32_t line;
    uint32_t step_count; /* of all series */
};

struct fleet {
    const char *const *category_names;
    uint32_t category_count;
    const struct fleet_record *records;
    struct fleet_job *jobs; /* by name */
    struct fleet_series *series;
    struct fleet_point *points; /* series by series */
    struct fleet_step *steps;   /* by series and place */
    struct fleet_host *hosts;   /* that differ, by point and name */
    uint32_t record_count, job_count, series_count, point_count, step_count, host_count;
    uint64_t unlabelled_count; /* records without a job: left out */
    uint32_t unknown_count;    /* records without a value: left out */
    bool hosts_are_summed;     /* a record is of several hosts: `hosts` does not have all that differ */
    /* Set by the caller that gave the records: where they come from, in words; whether that is a catalog; how many
     * files there are, and how many were read by now (none for a catalog); and notes about them. */
    const char *source;
    bool is_catalog;
    bool is_by_host; /* as it was asked for */
    uint64_t file_count, read_count;
    const struct note *notes;
    size_t note_count;
};

/* What a fleet is made of. At most FLEET_RECORDS_MAX records, else it gives up with `limit`; `category_count` at most
 * FLEET_CATEGORIES_MAX. `is_by_host`: each host has series of its own, and so none differs from the others of its
 * point. */
struct fleet_source {
    const struct fleet_record *records;
    size_t count;
    const char *const *category_names;
    size_t category_count;
    bool is_by_host;
};
void fleet_build(const struct fleet_source *source, struct arena *arena, struct fleet *out);

/* ---- of a fleet: its parts by their places ---- */

static inline const struct fleet_record *fleet_record_of(const struct fleet *fleet, uint32_t point)
{
    return &fleet->records[fleet->points[point].record];
}
/* The last point of a series, by time. */
static inline uint32_t fleet_last_point(const struct fleet *fleet, uint32_t series)
{
    return fleet->series[series].first_point + fleet->series[series].point_count - 1;
}
/* How far the value of a point is above the capacity of its device: 0: it is not; -1: the capacity is not known. */
static inline int64_t fleet_over_bytes(const struct fleet *fleet, const struct fleet_point *point)
{
    return capacity_trend_over_bytes(point->max_bytes, fleet->records[point->record].capacity_bytes);
}
/* The host of a series; NULL: it is of all hosts, or the files do not name it. */
static inline const char *fleet_host_of(const struct fleet *fleet, uint32_t series)
{
    return fleet->is_by_host ? fleet_record_of(fleet, fleet->series[series].first_point)->host : NULL;
}
static inline int64_t fleet_step_change(const struct fleet_step *step)
{
    return step->level.after_bytes - step->level.before_bytes;
}
/* Does the step go up for good? Users are notified of such steps. */
static inline bool fleet_step_is_regression(const struct fleet_step *step)
{
    return step->level.is_lasting && fleet_step_change(step) > 0;
}
/* The change of each category at a step, one for each name. False: the categories are not known on both sides. */
bool fleet_step_categories(const struct fleet *fleet, const struct fleet_step *step, int64_t *changes);

/* ---- sentences, in the arena of the caller ---- */

/* "1 job is over capacity: long (72.58 GiB of 15.75 GiB). 1 regression in 4 jobs: … 1 grows towards the capacity: …":
 * the first line of the page. */
const char *fleet_sentence(const struct fleet *fleet, struct arena *arena, struct buf *scratch);
/* "bert: jit_train_step needs 2.90 GiB more since c0ffee: 9.12 GiB became 12.02 GiB (32 %)." */
const char *fleet_step_sentence(const struct fleet *fleet, const struct fleet_step *step, struct arena *arena,
                                struct buf *scratch);
/* diff_sentence, and what its A and B are; NULL: there is none. */
const char *fleet_step_plans_sentence(const struct fleet_step *step, struct arena *arena, struct buf *scratch);
const char *fleet_host_sentence(const struct fleet *fleet, const struct fleet_host *host, struct arena *arena,
                                struct buf *scratch);
/* Says what fails next, or why no forecast is made. */
const char *fleet_trend_sentence(const struct fleet *fleet, uint32_t series, struct arena *arena, struct buf *scratch);
