/* SPDX-License-Identifier: Apache-2.0
 * regressions.c: the view "regressions": the steps that noise does not explain, up and down. */
#include "views/fleet/views.h"

#include <stdlib.h>

/* What a row is about. */
struct line {
    const struct fleet *fleet;
    const struct fleet_step *step;
    const struct fleet_point *point;            /* the first of the new level; the one before it is that of the old */
    const struct fleet_record *before, *record; /* before: of the last point of the old level */
};

static struct line line_of(const void *context, uint32_t at)
{
    const struct fleet *fleet = ((const struct views_listing *)context)->fleet;
    const struct fleet_step *step = &fleet->steps[at];
    return (struct line){fleet, step, &fleet->points[step->point], fleet_record_of(fleet, step->point - 1),
                         fleet_record_of(fleet, step->point)};
}

static struct table_value sentence_of(const void *context, uint32_t row)
{
    const struct views_listing *listing = context;
    const struct tool_request *request = listing->request;
    return views_text(
        fleet_step_sentence(listing->fleet, &listing->fleet->steps[row], request->arena, request->scratch));
}

static struct table_value plans_of(const void *context, uint32_t row)
{
    const struct views_listing *listing = context;
    const struct tool_request *request = listing->request;
    return views_text(fleet_step_plans_sentence(&listing->fleet->steps[row], request->arena, request->scratch));
}

static struct table_value change_percent(const struct line *line)
{
    int64_t before = line->step->level.before_bytes;
    return before > 0 ? table_real(100 * (double)fleet_step_change(line->step) / (double)before) : table_unknown();
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)

VALUE(job, views_text(line.record->job))
VALUE(module, views_text(line.record->module))
VALUE(kind, views_text(line.record->kind))
VALUE(space, views_text(line.record->memory_space))
VALUE(configuration, views_text(line.record->configuration))
VALUE(commit, views_text(line.record->commit))
VALUE(commit_before, views_text(line.before->commit))
VALUE(direction, table_text(fleet_step_change(line.step) > 0 ? STR("regression") : STR("improvement")))
VALUE(change, table_integer(fleet_step_change(line.step)))
VALUE(change_size, table_integer(llabs(fleet_step_change(line.step))))
VALUE(percent, change_percent(&line))
VALUE(before, table_integer(line.step->level.before_bytes))
VALUE(after, table_integer(line.step->level.after_bytes))
VALUE(capacity, views_known(line.record->capacity_bytes))
VALUE(noise, table_integer(line.step->level.noise_bytes))
VALUE(threshold, table_integer(line.step->level.threshold_bytes))
VALUE(before_count, table_integer((int64_t)line.step->level.before_count))
VALUE(after_count, table_integer((int64_t)line.step->level.after_count))
VALUE(lasting, views_yes(line.step->level.is_lasting))
VALUE(at, views_known(line.point->first_at_ms))
VALUE(category, views_text(line.step->category != FLEET_NONE ? line.fleet->category_names[line.step->category] : NULL))
VALUE(category_change, table_integer_if(line.step->category != FLEET_NONE, line.step->category_change_bytes))
VALUE(diff, views_text(line.step->diff_sentence))
VALUE(diff_unknown, views_text(line.step->diff_unknown))
VALUE(reference_before, views_text(line.before->reference))
VALUE(reference, views_text(line.record->reference))
VALUE(session_before, views_text(line.before->session_id))
VALUE(session, views_text(line.record->session_id))

/* clang-format off */
static const struct table_column columns[] = {
    {COLUMN_NUMBER("change", change, "bytes"), .aliases = "size bytes", .is_main = true, .json = "change_bytes",
     .csv = "change_bytes", .title = "Change", .help = "from one level to the next: change:>1GiB"},
    {COLUMN_NUMBER("", percent, "percent"), .json = "change_percent", .csv = "change_percent", .title = "Change %"},
    {COLUMN_NUMBER("abs", change_size, "bytes"), .help = "the change without its sign"},
    {COLUMN_TEXT("job", job), .is_searched = true, .json = "job", .csv = "job", .title = "Job",
     .help = "its label: job:bert"},
    {COLUMN_TEXT("module", module), .is_searched = true, .json = "module", .csv = "module", .title = "Module",
     .help = "name of the program"},
    {COLUMN_TEXT("commit", commit), .is_searched = true, .json = "commit", .csv = "commit", .title = "Since commit",
     .help = "the first with the new level"},
    {COLUMN_NUMBER("at", at, "unix_ms"), .json = "first_at_ms", .csv = "first_at_ms", .title = "First seen",
     .help = "Unix time in ms"},
    {COLUMN_TEXT("sentence", sentence_of), .json = "sentence", .csv = "sentence", .title = "What changed",
     .help = "in words"},
    {COLUMN_TEXT("diff", diff), .is_searched = true, .json = "diff_sentence", .csv = "diff_sentence",
     .title = "What the plans differ by: A before, B since", .help = "as memviewd diff says it"},
    {COLUMN_TEXT("", plans_of), .json = "plans_sentence"},
    {COLUMN_TEXT("", diff_unknown), .json = "diff_unknown", .csv = "diff_unknown"},
    {COLUMN_TEXT("direction", direction), .json = "direction", .csv = "direction", .help = "regression, improvement"},
    {COLUMN_NUMBER("before", before, "bytes"), .json = "before_bytes", .csv = "before_bytes", .title = "Before",
     .help = "median of the commits before"},
    {COLUMN_NUMBER("after", after, "bytes"), .json = "after_bytes", .csv = "after_bytes", .title = "After",
     .help = "median of the commits after"},
    {COLUMN_NUMBER("capacity", capacity, "bytes"), .json = "capacity_bytes", .csv = "capacity_bytes",
     .help = "of the device"},
    {COLUMN_TEXT("lasting", lasting), .json = "lasting", .csv = "lasting", .title = "Lasts",
     .help = "enough commits before and after: yes, no"},
    {COLUMN_NUMBER("threshold", threshold, "bytes"), .json = "threshold_bytes", .csv = "threshold_bytes",
     .help = "what a step had to exceed"},
    {COLUMN_NUMBER("noise", noise, "bytes"), .json = "noise_bytes", .csv = "noise_bytes",
     .help = "robust standard deviation"},
    {COLUMN_NUMBER("", before_count, "count"), .json = "before_count", .csv = "before_count"},
    {COLUMN_NUMBER("", after_count, "count"), .json = "after_count", .csv = "after_count"},
    {COLUMN_TEXT("cat", category), .aliases = "category", .json = "category", .csv = "category",
     .help = "that changed most"},
    {COLUMN_NUMBER("", category_change, "bytes"), .json = "category_change_bytes", .csv = "category_change_bytes"},
    {COLUMN_TEXT("", commit_before), .json = "commit_before", .csv = "commit_before"},
    {COLUMN_TEXT("kind", kind), .json = "kind", .csv = "kind", .help = "module, memory, failure, profiles"},
    {COLUMN_TEXT("configuration", configuration), .is_searched = true, .json = "configuration", .csv = "configuration",
     .title = "Configuration",
     .help = "devices, mesh and batch that it was compiled for"},
    {COLUMN_TEXT("space", space), .json = "memory_space", .csv = "memory_space", .help = "memory space: HBM"},
    {COLUMN_TEXT("", session_before), .json = "session_id_before", .csv = "session_id_before"},
    {COLUMN_TEXT("", session), .json = "session_id", .csv = "session_id"},
    {COLUMN_TEXT("", reference_before), .json = "reference_before", .csv = "reference_before"},
    {COLUMN_TEXT("", reference), .json = "reference", .csv = "reference"},
    {.name = NULL},
};
/* clang-format on */

static const struct table_spec spec = {.columns = columns, .sort = "-change,job,module"};

bool fleet_regressions(const struct tool_request *request, struct json *json, struct err *err)
{
    return views_table(request, &spec, ((const struct fleet *)request->model)->step_count, NULL, json, err);
}

void fleet_regression_write(const struct fleet *fleet, uint32_t step, struct arena *arena, struct buf *scratch,
                            struct json *json)
{
    const struct tool_request request = {.arena = arena, .scratch = scratch};
    const struct views_listing listing = {.fleet = fleet, .request = &request};
    json_object_begin(json);
    table_row_write(columns, &listing, step, json);
    json_object_end(json);
}
