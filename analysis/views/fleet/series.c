/* SPDX-License-Identifier: Apache-2.0
 * series.c: the view "series": what each job needs now, how that came about and when it fails; rows=job has of each job
 * the series that it, or with by=host each of its hosts, is drawn by alone. */
#include "base/nearest.h"
#include "views/fleet/views.h"

/* What a row is about. */
struct line {
    const struct fleet *fleet;
    const struct fleet_series *series;
    const struct fleet_point *first, *last;
    const struct fleet_record *record; /* of the last point */
};

static struct line line_of(const void *context, uint32_t at)
{
    const struct fleet *fleet = ((const struct views_listing *)context)->fleet;
    const struct fleet_series *series = &fleet->series[at];
    const struct fleet_point *last = &fleet->points[fleet_last_point(fleet, at)];
    return (struct line){fleet, series, &fleet->points[series->first_point], last, &fleet->records[last->record]};
}

static int64_t extreme_of(const struct line *line, bool is_largest)
{
    int64_t found = line->first->max_bytes;
    for (uint32_t i = 0; i < line->series->point_count; i++) {
        int64_t bytes = line->first[i].max_bytes;
        found = (bytes > found) == is_largest ? bytes : found;
    }
    return found;
}

static struct table_value days(double days) { return days >= 0 ? table_real(days) : table_unknown(); }

static struct table_value sentence_of(const void *context, uint32_t row)
{
    const struct views_listing *listing = context;
    const struct tool_request *request = listing->request;
    return views_text(fleet_trend_sentence(listing->fleet, row, request->arena, request->scratch));
}

/* Rises first: the soonest to fail, then those that are over. */
static struct table_value urgency_of(const void *context, uint32_t row)
{
    const struct line line = line_of(context, row);
    const struct capacity_trend *trend = &line.series->trend;
    return trend->kind == CAPACITY_TREND_OVER ? table_real(-1) : days(trend->days);
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)

VALUE(job, views_text(line.record->job))
VALUE(module, views_text(line.record->module))
VALUE(kind, views_text(line.record->kind))
VALUE(space, views_text(line.record->memory_space))
VALUE(configuration, views_text(line.record->configuration))
VALUE(commit, views_text(line.record->commit))
VALUE(host, views_text(fleet_host_of(line.fleet, (uint32_t)(line.series - line.fleet->series))))
VALUE(device, views_text(line.record->device))
VALUE(user, views_text(line.record->user_name))
VALUE(needed, table_integer(line.last->max_bytes))
VALUE(measure, table_text(line.series->is_of_peaks ? STR("peak") : STR("needed")))
VALUE(peak, views_known(line.last->peak_bytes))
VALUE(capacity, views_known(line.record->capacity_bytes))
VALUE(share, views_percent(line.last->max_bytes, line.record->capacity_bytes))
VALUE(change, table_integer(line.last->max_bytes - line.first->max_bytes))
VALUE(least, table_integer(extreme_of(&line, false)))
VALUE(most, table_integer(extreme_of(&line, true)))
VALUE(commits, table_integer(line.series->point_count))
VALUE(hosts, views_hosts(line.last))
VALUE(steps, table_integer(line.series->step_count))
VALUE(first_at, views_known(line.first->first_at_ms))
VALUE(last_at, views_known(line.last->last_at_ms))
VALUE(trend, table_text(str_of(capacity_trend_kind_name(line.series->trend.kind))))
VALUE(growth,
      line.series->trend.bytes_per_day > 0 ? table_integer((int64_t)line.series->trend.bytes_per_day) : table_unknown())
VALUE(fails_in, days(line.series->trend.days))
VALUE(soonest, days(line.series->trend.soonest_days))
VALUE(latest, days(line.series->trend.latest_days))
VALUE(is_line, views_yes(line.series->is_line))
VALUE(session, views_text(line.record->session_id))
VALUE(reference, views_text(line.record->reference))

/* clang-format off */
static const struct table_column columns[] = {
    {COLUMN_TEXT("job", job), .is_searched = true, .json = "job", .csv = "job", .title = "Job",
     .help = "its label: job:bert"},
    {COLUMN_TEXT("module", module), .is_searched = true, .json = "module", .csv = "module", .title = "Module",
     .help = "name of the program"},
    {COLUMN_NUMBER("needed", needed, "bytes"), .aliases = "size bytes", .is_main = true, .json = "needed_bytes",
     .csv = "needed_bytes", .title = "Needs now", .help = "at its last commit: needed:>8GiB"},
    {COLUMN_NUMBER("share", share, "percent"), .aliases = "capacity%", .json = "of_capacity_percent",
     .csv = "of_capacity_percent",
     .title = "Of capacity", .help = "in percent: share:>80"},
    {COLUMN_NUMBER("capacity", capacity, "bytes"), .json = "capacity_bytes", .csv = "capacity_bytes",
     .help = "of the device"},
    {COLUMN_NUMBER("change", change, "bytes"), .json = "change_bytes", .csv = "change_bytes", .title = "Change",
     .help = "since its first commit that is known"},
    {COLUMN_NUMBER("fails", fails_in, "days"), .aliases = "fails_in", .order = urgency_of, .json = "fails_in_days",
     .csv = "fails_in_days", .title = "Fails in", .help = "days after the last commit: fails:<30"},
    {COLUMN_NUMBER("growth", growth, "bytes"), .json = "growth_bytes_per_day", .csv = "growth_bytes_per_day",
     .title = "A day", .help = "growth a day"},
    {COLUMN_TEXT("trend", trend), .json = "trend", .csv = "trend",
     .help = "reaches, over, steady, far, too_few, capacity_unknown"},
    {COLUMN_TEXT("next", sentence_of), .json = "trend_sentence", .csv = "trend_sentence", .title = "What comes next",
     .help = "when it fails, or why that is not known"},
    {COLUMN_NUMBER("steps", steps, "count"), .json = "step_count", .csv = "step_count", .title = "Steps",
     .help = "regressions and improvements"},
    {COLUMN_NUMBER("commits", commits, "count"), .json = "commit_count", .csv = "commit_count", .title = "Commits",
     .help = "that it was seen at"},
    {COLUMN_NUMBER("hosts", hosts, "count"), .json = "host_count", .csv = "host_count", .title = "Hosts",
     .help = "at its last commit"},
    {COLUMN_TEXT("commit", commit), .is_searched = true, .json = "commit", .csv = "commit", .title = "Last commit",
     .help = "by when it was first seen"},
    {COLUMN_NUMBER("", last_at, "unix_ms"), .json = "last_at_ms", .csv = "last_at_ms", .title = "Last seen"},
    {COLUMN_NUMBER("", first_at, "unix_ms"), .json = "first_at_ms", .csv = "first_at_ms"},
    {COLUMN_NUMBER("peak", peak, "bytes"), .json = "peak_bytes", .csv = "peak_bytes",
     .help = "most that is live at a time"},
    {COLUMN_NUMBER("least", least, "bytes"), .json = "least_bytes", .csv = "least_bytes", .help = "of all commits"},
    {COLUMN_NUMBER("most", most, "bytes"), .json = "most_bytes", .csv = "most_bytes", .help = "of all commits"},
    {COLUMN_NUMBER("", soonest, "days"), .json = "fails_soonest_days", .csv = "fails_soonest_days"},
    {COLUMN_NUMBER("", latest, "days"), .json = "fails_latest_days", .csv = "fails_latest_days"},
    {COLUMN_TEXT("measure", measure), .json = "measure", .csv = "measure", .help = "which figure it is: needed, peak"},
    {COLUMN_TEXT("line", is_line), .json = "line", .csv = "line", .help = "is its job drawn by it: yes, no"},
    {COLUMN_TEXT("kind", kind), .json = "kind", .csv = "kind", .title = "Kind",
     .help = "module, memory, failure, profiles"},
    {COLUMN_TEXT("configuration", configuration), .is_searched = true, .json = "configuration", .csv = "configuration",
     .title = "Configuration",
     .help = "devices, mesh and batch that it was compiled for"},
    {COLUMN_TEXT("space", space), .json = "memory_space", .csv = "memory_space", .title = "Space",
     .help = "memory space: HBM"},
    {COLUMN_TEXT("host", host), .json = "host", .csv = "host", .help = "with by=host"},
    {COLUMN_TEXT("device", device), .json = "device", .csv = "device", .help = "the chip"},
    {COLUMN_TEXT("user", user), .json = "user_name", .csv = "user_name", .help = "its label"},
    {COLUMN_TEXT("", session), .json = "session_id", .csv = "session_id"},
    {COLUMN_TEXT("", reference), .json = "reference", .csv = "reference"},
    {.name = NULL},
};
/* clang-format on */

static const struct table_spec spec = {.columns = columns, .sort = "-share,-needed,job,module"};

static bool is_line_of_job(const struct fleet *fleet, uint32_t row) { return fleet->series[row].is_line; }

bool fleet_series(const struct tool_request *request, struct json *json, struct err *err)
{
    static const char *const choices[] = {"series", "job"};
    const char *rows = tool_param_text(request, "rows");
    size_t chosen = 0;
    if (rows != NULL && rows[0] != '\0' && !nearest_choose("rows", "choice", str_of(rows), choices, 2, &chosen, err))
        return false;
    const struct fleet *fleet = request->model;
    return views_table(request, &spec, fleet->series_count, chosen == 1 ? is_line_of_job : NULL, json, err);
}
