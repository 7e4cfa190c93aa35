/* SPDX-License-Identifier: Apache-2.0
 * summary.c: the view "summary": the whole in one sentence, what was counted, and the rules by which things are
 * found. */
#include "base/size_text.h"
#include "views/fleet/views.h"

enum { JOBS_MAX = 1000 };

static void counts_write(const struct fleet *fleet, struct json *json)
{
    uint64_t growths = 0, over = 0, reaching = 0;
    for (uint32_t i = 0; i < fleet->step_count; i++)
        growths += fleet_step_change(&fleet->steps[i]) > 0;
    for (uint32_t i = 0; i < fleet->series_count; i++) {
        over += fleet->series[i].trend.kind == CAPACITY_TREND_OVER;
        reaching += fleet->series[i].trend.kind == CAPACITY_TREND_REACHES;
    }
    json_key_uint(json, "record_count", fleet->record_count);
    json_key_uint(json, "job_count", fleet->job_count);
    json_key_uint(json, "series_count", fleet->series_count);
    json_key_uint(json, "point_count", fleet->point_count);
    json_key_uint(json, "regression_count", growths);
    json_key_uint(json, "improvement_count", fleet->step_count - growths);
    json_key_uint(json, "over_count", over);
    json_key_uint(json, "reaching_count", reaching);
    json_key_uint(json, "next_to_fail_count", over + reaching);
    bool has_all_hosts = !fleet->hosts_are_summed && !fleet->is_by_host;
    json_key_known(json, "outlier_count", has_all_hosts ? (int64_t)fleet->host_count : -1);
    json_key_uint(json, "unlabelled_count", fleet->unlabelled_count);
    json_key_uint(json, "unknown_count", fleet->unknown_count);
}

static void rules_write(const struct tool_request *request, struct json *json)
{
    json_key_object(json, "rules");
    json_key_text(
        json, "steps",
        arena_format(request->arena,
                     "A step is where a commit and those after it, %d or as many as there are, all lie on one "
                     "side of the median of the %d commits before, and further away than the largest of %s, "
                     "%d %% of it and %d times the noise: the robust standard deviation of the commits before "
                     "(median absolute deviation) or that of the changes from commit to commit. It lasts when "
                     "there are %d commits before and %d after.",
                     LEVEL_STEPS_AFTER_MAX, LEVEL_STEPS_BEFORE_MAX,
                     size_text((char[SIZE_TEXT_BYTES]){0}, LEVEL_STEPS_LEAST_BYTES), LEVEL_STEPS_LEAST_PERCENT,
                     LEVEL_STEPS_NOISES, LEVEL_STEPS_LASTING_BEFORE, LEVEL_STEPS_LASTING_AFTER));
    json_key_text(
        json, "hosts",
        arena_format(request->arena,
                     "Of three or more hosts of one commit, one differs that is further from their median than "
                     "the largest of %s, %d %% of it and %d times their robust standard deviation. If only "
                     "two hosts differ by the first two of these, both are listed.",
                     size_text((char[SIZE_TEXT_BYTES]){0}, LEVEL_STEPS_LEAST_BYTES), LEVEL_STEPS_LEAST_PERCENT,
                     LEVEL_STEPS_NOISES));
    json_key_text(
        json, "trend",
        arena_format(request->arena,
                     "Growth a day is the median growth between any two of the last %d commits (Theil and Sen). It "
                     "counts as a trend from %d commits on, over at least a day, if %d %% of the pairs rise. "
                     "Predictions reach at most %d times as far as the data, and at most %d days.",
                     CAPACITY_TREND_POINTS_MAX, CAPACITY_TREND_POINTS_LEAST, CAPACITY_TREND_RISING_PERCENT,
                     CAPACITY_TREND_SPANS_MAX, CAPACITY_TREND_DAYS_MAX));
    json_object_end(json);
}

static void jobs_write(const struct fleet *fleet, struct json *json)
{
    json_key_array(json, "jobs");
    for (uint32_t i = 0; i < fleet->job_count && i < JOBS_MAX; i++)
        json_text(json, fleet->jobs[i].name);
    json_array_end(json);
}

static void notes_add(const struct tool_request *request)
{
    const struct fleet *fleet = request->model;
    tool_note(
        request, "unlabelled", fleet->unlabelled_count,
        "rows do not say which job they are of: they are left out. Labels: --label job=…, memviewd.json beside the "
        "files, or --label-path.");
    tool_note(request, "unknown", fleet->unknown_count, "rows have no figure: they are left out.");
    for (uint32_t i = 0; i < fleet->note_count; i++)
        tool_note(request, fleet->notes[i].code, fleet->notes[i].count, fleet->notes[i].text);
}

bool fleet_summary(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct fleet *fleet = request->model;
    (void)err;
    json_object_begin(json);
    json_key_text(json, "sentence", fleet_sentence(fleet, request->arena, request->scratch));
    json_key_text(json, "source", fleet->source);
    json_key_bool(json, "is_catalog", fleet->is_catalog);
    json_key_object(json, "reading");
    json_key_bool(json, "is_complete", fleet->read_count >= fleet->file_count);
    json_key_uint(json, "file_count", fleet->file_count);
    json_key_uint(json, "read_count", fleet->read_count);
    json_object_end(json);
    counts_write(fleet, json);
    jobs_write(fleet, json);
    rules_write(request, json);
    json_object_end(json);
    notes_add(request);
    return true;
}
