/* SPDX-License-Identifier: Apache-2.0
 * points.c: the view "points": each series at each of its commits. */
#include "views/fleet/views.h"

/* What a row is about. */
struct line {
    const struct fleet *fleet;
    const struct fleet_series *series;
    const struct fleet_point *point;
    const struct fleet_record *record;
};

static struct line line_of(const void *context, uint32_t at)
{
    const struct fleet *fleet = ((const struct views_listing *)context)->fleet;
    const struct fleet_point *point = &fleet->points[at];
    return (struct line){fleet, &fleet->series[point->series], point, &fleet->records[point->record]};
}

/* To the commit before. */
static struct table_value change_of(const struct line *line)
{
    bool is_first = line->point == &line->fleet->points[line->series->first_point];
    return is_first ? table_unknown() : table_integer(line->point->max_bytes - line->point[-1].max_bytes);
}

static struct table_value step_of(const struct line *line)
{
    if (line->point->step == FLEET_NONE)
        return table_unknown();
    int64_t change = fleet_step_change(&line->fleet->steps[line->point->step]);
    return table_text(change > 0 ? STR("regression") : STR("improvement"));
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)

VALUE(job, views_text(line.record->job))
VALUE(module, views_text(line.record->module))
VALUE(kind, views_text(line.record->kind))
VALUE(space, views_text(line.record->memory_space))
VALUE(configuration, views_text(line.record->configuration))
VALUE(commit, views_text(line.record->commit))
VALUE(user, views_text(line.record->user_name))
VALUE(host, views_text(fleet_host_of(line.fleet, line.point->series)))
VALUE(device, views_text(line.record->device))
VALUE(needed, table_integer(line.point->max_bytes))
VALUE(least, views_known(line.point->min_bytes))
VALUE(peak, views_known(line.point->peak_bytes))
VALUE(capacity, views_known(line.record->capacity_bytes))
VALUE(share, views_percent(line.point->max_bytes, line.record->capacity_bytes))
VALUE(change, change_of(&line))
VALUE(step, step_of(&line))
VALUE(first_at, views_known(line.point->first_at_ms))
VALUE(last_at, views_known(line.point->last_at_ms))
VALUE(rows, table_integer(line.point->row_count))
VALUE(hosts, views_hosts(line.point))
VALUE(verdict, views_text(line.record->verdict))
VALUE(logdir, views_text(line.record->logdir))
VALUE(file, views_text(line.record->file))
VALUE(session, views_text(line.record->session_id))
VALUE(reference, views_text(line.record->reference))

static void categories_write(struct json *json, const void *context, uint32_t row)
{
    const struct line line = line_of(context, row);
    json_array_begin(json);
    for (uint32_t i = 0; line.record->category_bytes != NULL && i < line.fleet->category_count; i++) {
        if (line.record->category_bytes[i] <= 0)
            continue;
        json_object_begin(json);
        json_key_text(json, "category", line.fleet->category_names[i]);
        json_key_int(json, "bytes", line.record->category_bytes[i]);
        json_object_end(json);
    }
    json_array_end(json);
}

static void category_cells(struct csv *csv, const void *context, uint32_t row)
{
    const struct fleet *fleet = ((const struct views_listing *)context)->fleet;
    const int64_t *bytes = row == TABLE_HEAD ? NULL : line_of(context, row).record->category_bytes;
    for (uint32_t i = 0; i < fleet->category_count; i++)
        if (row == TABLE_HEAD)
            csv_head(csv, arena_format(((const struct views_listing *)context)->request->arena, "category_%s_bytes",
                                       fleet->category_names[i]));
        else if (bytes != NULL && bytes[i] >= 0)
            csv_int(csv, bytes[i]);
        else
            csv_none(csv);
}

/* clang-format off */
static const struct table_column columns[] = {
    {COLUMN_TEXT("job", job), .is_searched = true, .json = "job", .csv = "job", .title = "Job",
     .help = "its label: job:bert"},
    {COLUMN_TEXT("module", module), .is_searched = true, .json = "module", .csv = "module", .title = "Module",
     .help = "name of the program"},
    {COLUMN_TEXT("commit", commit), .is_searched = true, .json = "commit", .csv = "commit", .title = "Commit",
     .help = "its label"},
    {COLUMN_NUMBER("at", first_at, "unix_ms"), .json = "first_at_ms", .csv = "first_at_ms", .title = "First seen",
     .help = "Unix time in ms"},
    {COLUMN_NUMBER("needed", needed, "bytes"), .aliases = "size bytes", .is_main = true, .json = "needed_bytes",
     .csv = "needed_bytes", .title = "Needs", .help = "the most of its rows: needed:>8GiB"},
    {COLUMN_NUMBER("change", change, "bytes"), .json = "change_bytes", .csv = "change_bytes", .title = "Change",
     .help = "to the commit before"},
    {COLUMN_NUMBER("share", share, "percent"), .json = "of_capacity_percent", .csv = "of_capacity_percent",
     .title = "Of capacity", .help = "in percent: share:>80"},
    {COLUMN_NUMBER("capacity", capacity, "bytes"), .json = "capacity_bytes", .csv = "capacity_bytes",
     .help = "of the device"},
    {COLUMN_NUMBER("peak", peak, "bytes"), .json = "peak_bytes", .csv = "peak_bytes", .title = "Peak live",
     .help = "most that is live at a time"},
    {COLUMN_NUMBER("least", least, "bytes"), .json = "least_bytes", .csv = "least_bytes",
     .help = "the least of its rows"},
    {COLUMN_TEXT("step", step), .json = "step", .csv = "step", .title = "Step", .help = "regression, improvement"},
    {COLUMN_TEXT("", NULL), .write = categories_write, .cells = category_cells, .json = "categories",
     .csv = "categories"},
    {COLUMN_NUMBER("hosts", hosts, "count"), .json = "host_count", .csv = "host_count", .title = "Hosts",
     .help = "that it was seen on"},
    {COLUMN_NUMBER("rows", rows, "count"), .json = "row_count", .csv = "row_count", .help = "rows of the index"},
    {COLUMN_TEXT("kind", kind), .json = "kind", .csv = "kind", .help = "module, memory, failure, profiles"},
    {COLUMN_TEXT("configuration", configuration), .is_searched = true, .json = "configuration", .csv = "configuration",
     .help = "devices, mesh and batch that it was compiled for"},
    {COLUMN_TEXT("space", space), .json = "memory_space", .csv = "memory_space", .help = "memory space: HBM"},
    {COLUMN_TEXT("user", user), .json = "user_name", .csv = "user_name", .help = "its label"},
    {COLUMN_TEXT("host", host), .json = "host", .csv = "host", .help = "with by=host"},
    {COLUMN_TEXT("device", device), .json = "device", .csv = "device", .help = "the chip"},
    {COLUMN_TEXT("verdict", verdict), .json = "verdict", .csv = "verdict", .help = "what explain says of it"},
    {COLUMN_NUMBER("", last_at, "unix_ms"), .json = "last_at_ms", .csv = "last_at_ms"},
    {COLUMN_TEXT("", logdir), .json = "logdir", .csv = "logdir"},
    {COLUMN_TEXT("file", file), .is_searched = true, .json = "file", .csv = "file",
     .help = "of the row that needs most"},
    {COLUMN_TEXT("", session), .json = "session_id", .csv = "session_id"},
    {COLUMN_TEXT("", reference), .json = "reference", .csv = "reference"},
    {.name = NULL},
};
/* clang-format on */

static const struct table_spec spec = {.columns = columns, .sort = "job,module,-at"};

bool fleet_points(const struct tool_request *request, struct json *json, struct err *err)
{
    return views_table(request, &spec, ((const struct fleet *)request->model)->point_count, NULL, json, err);
}
