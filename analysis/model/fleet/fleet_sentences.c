/* SPDX-License-Identifier: Apache-2.0
 * fleet_sentences.c: what a fleet tells, in words: see fleet.h. */
#include "base/size_text.h"
#include "model/fleet/fleet.h"

#include <stdlib.h>

enum { NAME_MAX = 80 };

#define SIZE(bytes) size_text((char[SIZE_TEXT_BYTES]){0}, (uint64_t)(bytes))
#define SIZE_BESIDE(bytes, other) size_text_beside((char[SIZE_TEXT_BYTES]){0}, (uint64_t)(bytes), (uint64_t)(other))
#define COUNT(count) size_text_count((char[COUNT_TEXT_BYTES]){0}, (uint64_t)(count))
#define SHARE(part, whole) size_text_share((char[SHARE_TEXT_BYTES]){0}, (part), (whole))
#define PLURAL(count) ((count) == 1 ? "" : "s")

static const char *fleet_sentences_taken(struct arena *arena, const struct buf *out)
{
    return arena_text(arena, (struct str){out->data, out->length});
}

/* A name out of a file, without what would end a line; cut between letters. */
static void name_say(struct buf *out, const char *name) { buf_printable_cut(out, str_of(name), NAME_MAX); }

/* Do they differ in their configuration alone? Such series lie side by side. */
static bool is_of_same_module(const struct fleet *fleet, uint32_t series, uint32_t other)
{
    const struct fleet_record *a = fleet_record_of(fleet, fleet->series[series].first_point);
    const struct fleet_record *b = fleet_record_of(fleet, fleet->series[other].first_point);
    const char *const texts[][2] = {{a->job, b->job},
                                    {a->module, b->module},
                                    {a->kind, b->kind},
                                    {a->memory_space, b->memory_space},
                                    {fleet_host_of(fleet, series), fleet_host_of(fleet, other)}};
    bool is_same = true;
    for (size_t at = 0; at < sizeof(texts) / sizeof(texts[0]) && is_same; at++) {
        const char *left = texts[at][0], *right = texts[at][1];
        is_same = left == NULL || right == NULL ? left == right : strcmp(left, right) == 0;
    }
    return is_same;
}

/* " (8 devices, batch 64x1024)", where the job has several configurations of the module. */
static void configuration_say(const struct fleet *fleet, uint32_t series, const char *configuration, struct buf *out)
{
    bool has_others = (series > 0 && is_of_same_module(fleet, series, series - 1)) ||
                      (series + 1 < fleet->series_count && is_of_same_module(fleet, series, series + 1));
    if (!has_others)
        return;
    buf_text(out, " (");
    name_say(out, configuration != NULL ? configuration : "configuration not known");
    buf_char(out, ')');
}

/* "bert: jit_train_step needs"; of allocators and profiles, which have no module: "bert: memory needs". */
static void subject_say(const struct fleet *fleet, uint32_t point, bool is_of_peaks, struct buf *out)
{
    const struct fleet_record *record = fleet_record_of(fleet, point);
    name_say(out, record->job);
    buf_text(out, ": ");
    name_say(out, record->module != NULL ? record->module : record->kind != NULL ? record->kind : "memory");
    configuration_say(fleet, fleet->points[point].series, record->configuration, out);
    const char *host = fleet_host_of(fleet, fleet->points[point].series);
    if (host != NULL) {
        buf_text(out, " on ");
        name_say(out, host);
    }
    buf_text(out, is_of_peaks ? " has a peak of" : " needs");
}

static void commit_say(const struct fleet *fleet, uint32_t point, struct buf *out)
{
    const char *commit = fleet_record_of(fleet, point)->commit;
    if (commit != NULL)
        name_say(out, commit);
    else
        buf_text(out, "the rows without a commit");
}

/* ---- a step ---- */

static void lasting_say(const struct fleet *fleet, const struct fleet_step *step, struct buf *out)
{
    const struct fleet_series *series = &fleet->series[step->series];
    uint32_t next = step->point + 1, end = series->first_point + series->point_count;
    while (next < end && fleet->points[next].step == FLEET_NONE)
        next++;
    uint32_t after = next - step->point;
    buf_format(out, " Seen in %s commit%s since", COUNT(after), PLURAL(after));
    if (step->level.is_lasting)
        buf_char(out, '.');
    else
        buf_format(out, ", after %zu before: too few to be sure that it lasts.", step->level.before_count);
}

const char *fleet_step_sentence(const struct fleet *fleet, const struct fleet_step *step, struct arena *arena,
                                struct buf *scratch)
{
    int64_t change = fleet_step_change(step), before = step->level.before_bytes, after = step->level.after_bytes;
    struct buf *out = scratch;
    out->length = 0;
    subject_say(fleet, step->point, fleet->series[step->series].is_of_peaks, out);
    buf_format(out, " %s %s since ", SIZE(llabs(change)), change > 0 ? "more" : "less");
    commit_say(fleet, step->point, out);
    buf_format(out, ": %s became %s", SIZE_BESIDE(before, after), SIZE_BESIDE(after, before));
    if (before > 0)
        buf_format(out, " (%s%s)", change > 0 ? "+" : "\xE2\x88\x92", SHARE(llabs(change), before));
    buf_char(out, '.');
    if (step->category != FLEET_NONE) {
        buf_text(out, " Most of it: ");
        for (const char *at = fleet->category_names[step->category]; *at != '\0'; at++)
            buf_char(out, *at == '_' ? ' ' : *at);
        buf_format(out, " %s%s.", step->category_change_bytes > 0 ? "+" : "\xE2\x88\x92",
                   SIZE(llabs(step->category_change_bytes)));
    }
    lasting_say(fleet, step, out);
    return fleet_sentences_taken(arena, out);
}

const char *fleet_step_plans_sentence(const struct fleet_step *step, struct arena *arena, struct buf *scratch)
{
    if (step->diff_sentence == NULL)
        return NULL;
    scratch->length = 0;
    buf_format(scratch, "What the plans differ by, A before and B since: %s", step->diff_sentence);
    return fleet_sentences_taken(arena, scratch);
}

/* ---- a host ---- */

const char *fleet_host_sentence(const struct fleet *fleet, const struct fleet_host *host, struct arena *arena,
                                struct buf *scratch)
{
    struct buf *out = scratch;
    const struct fleet_record *record = fleet_record_of(fleet, host->point);
    int64_t difference = host->bytes - host->usual_bytes;
    bool is_of_peaks = fleet->series[host->series].is_of_peaks;
    out->length = 0;
    name_say(out, host->host);
    buf_format(out, "%s %s %s than ", is_of_peaks ? " has a peak that is" : " needs", SIZE(llabs(difference)),
               difference > 0 ? (is_of_peaks ? "higher" : "more") : (is_of_peaks ? "lower" : "less"));
    if (host->host_count == 2)
        buf_format(out, "the other host (%s", SIZE(host->usual_bytes));
    else
        buf_format(out, "the median of %s hosts (%s", COUNT(host->host_count), SIZE(host->usual_bytes));
    buf_text(out, ") for ");
    name_say(out, record->module != NULL ? record->module : record->job);
    buf_text(out, " at ");
    commit_say(fleet, host->point, out);
    buf_text(out, host->host_count == 2 ? "; of two it cannot be known which is the odd one." : ".");
    return fleet_sentences_taken(arena, out);
}

/* ---- what fails next ---- */

static void days_say(struct buf *out, double days)
{
    if (days < 1)
        buf_text(out, "within a day");
    else
        buf_format(out, "in about %.0f day%s", days, days < 1.5 ? "" : "s");
}

static void reaches_say(const struct capacity_trend *trend, int64_t capacity_bytes, struct buf *out)
{
    buf_format(out, "Grows %s a day: reaches %s ", SIZE((int64_t)trend->bytes_per_day), SIZE(capacity_bytes));
    days_say(out, trend->days);
    if (trend->latest_days < 0)
        buf_format(out, " (in %.0f or later)", trend->soonest_days);
    else if (trend->latest_days - trend->soonest_days >= 1)
        buf_format(out, " (%.0f to %.0f)", trend->soonest_days, trend->latest_days);
    buf_format(out, " after its last commit, by %zu commits.", trend->point_count);
}

const char *fleet_trend_sentence(const struct fleet *fleet, uint32_t series, struct arena *arena, struct buf *scratch)
{
    struct buf *out = scratch;
    const struct capacity_trend *trend = &fleet->series[series].trend;
    const struct fleet_point *last = &fleet->points[fleet_last_point(fleet, series)];
    int64_t capacity = fleet->records[last->record].capacity_bytes;
    out->length = 0;
    switch (trend->kind) {
    case CAPACITY_TREND_REACHES: reaches_say(trend, capacity, out); break;
    case CAPACITY_TREND_OVER:
        buf_format(out, "Over already: %s of %s.", SIZE_BESIDE(last->max_bytes, capacity),
                   SIZE_BESIDE(capacity, last->max_bytes));
        break;
    case CAPACITY_TREND_STEADY: buf_text(out, "Does not grow steadily."); break;
    case CAPACITY_TREND_FAR:
        buf_format(out, "Grows %s a day: too slowly for its end to be foretold from what was seen.",
                   SIZE((int64_t)trend->bytes_per_day));
        break;
    case CAPACITY_TREND_TOO_FEW:
        buf_format(out, "Not known: a trend needs %d commits over a day.", CAPACITY_TREND_POINTS_LEAST);
        break;
    case CAPACITY_TREND_CAPACITY_UNKNOWN: buf_text(out, "Not known: what the device has is not known."); break;
    }
    return fleet_sentences_taken(arena, out);
}

/* ---- the whole ---- */

/* The largest growth, and how many there are. */
static const struct fleet_step *worst_growth(const struct fleet *fleet, uint32_t *count)
{
    const struct fleet_step *worst = NULL;
    *count = 0;
    for (uint32_t i = 0; i < fleet->step_count; i++) {
        const struct fleet_step *step = &fleet->steps[i];
        if (fleet_step_change(step) <= 0)
            continue;
        ++*count;
        if (worst == NULL || fleet_step_change(step) > fleet_step_change(worst))
            worst = step;
    }
    return worst;
}

static void growth_say(const struct fleet *fleet, struct buf *out)
{
    uint32_t count;
    const struct fleet_step *worst = worst_growth(fleet, &count);
    if (worst == NULL) {
        buf_format(out, "No regression in %s job%s.", COUNT(fleet->job_count), PLURAL(fleet->job_count));
        return;
    }
    buf_format(out, "%s regression%s in %s job%s%s: ", COUNT(count), PLURAL(count), COUNT(fleet->job_count),
               PLURAL(fleet->job_count), count > 1 ? ", the largest" : "");
    subject_say(fleet, worst->point, fleet->series[worst->series].is_of_peaks, out);
    buf_format(out, " %s more since ", SIZE(fleet_step_change(worst)));
    commit_say(fleet, worst->point, out);
    buf_char(out, '.');
}

/* Among two series over their capacity, the one that exceeds it by more bytes fails first; among two on their way, the
 * sooner one. */
static bool fails_before(const struct fleet *fleet, uint32_t series, uint32_t other)
{
    const struct fleet_series *a = &fleet->series[series], *b = &fleet->series[other];
    const struct fleet_point *a_last = &fleet->points[fleet_last_point(fleet, series)];
    const struct fleet_point *b_last = &fleet->points[fleet_last_point(fleet, other)];
    if (a->trend.kind == CAPACITY_TREND_REACHES)
        return a->trend.days < b->trend.days;
    return a_last->max_bytes - fleet->records[a_last->record].capacity_bytes >
           b_last->max_bytes - fleet->records[b_last->record].capacity_bytes;
}

/* How many jobs have a series whose trend is of this kind; *worst: their series that fails worst. */
static uint32_t jobs_of_trend(const struct fleet *fleet, enum capacity_trend_kind kind, uint32_t *worst)
{
    uint32_t count = 0, job = FLEET_NONE;
    *worst = FLEET_NONE;
    for (uint32_t i = 0; i < fleet->series_count; i++) { /* job by job */
        const struct fleet_series *series = &fleet->series[i];
        if (series->trend.kind != kind)
            continue;
        count += series->job != job;
        job = series->job;
        if (*worst == FLEET_NONE || fails_before(fleet, i, *worst))
            *worst = i;
    }
    return count;
}

static void job_say(const struct fleet *fleet, uint32_t series, uint32_t count, const char *word, struct buf *out)
{
    buf_text(out, count > 1 ? word : "");
    name_say(out, fleet->jobs[fleet->series[series].job].name);
}

/* " of VMEM", where the job is not drawn by this series. */
static void space_say(const struct fleet *fleet, uint32_t series, struct buf *out)
{
    const char *space = fleet_record_of(fleet, fleet->series[series].first_point)->memory_space;
    if (fleet->series[series].is_line || space == NULL)
        return;
    buf_text(out, " of ");
    name_say(out, space);
}

static void over_say(const struct fleet *fleet, struct buf *out)
{
    uint32_t over, count = jobs_of_trend(fleet, CAPACITY_TREND_OVER, &over);
    if (count == 0)
        return;
    const struct fleet_point *last = &fleet->points[fleet_last_point(fleet, over)];
    int64_t capacity = fleet->records[last->record].capacity_bytes;
    buf_format(out, "%s job%s %s over capacity: ", COUNT(count), PLURAL(count), count == 1 ? "is" : "are");
    job_say(fleet, over, count, "by most ", out);
    buf_format(out, " (%s of %s", SIZE_BESIDE(last->max_bytes, capacity), SIZE_BESIDE(capacity, last->max_bytes));
    space_say(fleet, over, out);
    buf_text(out, "). ");
}

static void reaching_say(const struct fleet *fleet, struct buf *out)
{
    uint32_t reaching, count = jobs_of_trend(fleet, CAPACITY_TREND_REACHES, &reaching);
    if (count == 0)
        return;
    buf_format(out, " %s grow%s towards the capacity: ", COUNT(count), count == 1 ? "s" : "");
    job_say(fleet, reaching, count, "first ", out);
    buf_text(out, " (");
    days_say(out, fleet->series[reaching].trend.days);
    buf_text(out, ").");
}

const char *fleet_sentence(const struct fleet *fleet, struct arena *arena, struct buf *scratch)
{
    struct buf *out = scratch;
    out->length = 0;
    if (fleet->job_count == 0) {
        buf_text(out, fleet->unlabelled_count > 0 ? "No row says which job it is of."
                      : fleet->unknown_count > 0  ? "No row has a figure."
                                                  : "There are no rows.");
        return fleet_sentences_taken(arena, out);
    }
    over_say(fleet, out); /* what fails already goes before what grew */
    growth_say(fleet, out);
    reaching_say(fleet, out);
    return fleet_sentences_taken(arena, out);
}
