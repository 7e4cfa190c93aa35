/* SPDX-License-Identifier: Apache-2.0
 * hosts.c: the view "hosts": those that need more or less than the others for the same commit. */
#include "views/fleet/views.h"

#include <stdlib.h>

/* What a row is about. */
struct line {
    const struct fleet_host *host;
    const struct fleet_point *point;
    const struct fleet_record *record;
};

static struct line line_of(const void *context, uint32_t at)
{
    const struct fleet *fleet = ((const struct views_listing *)context)->fleet;
    const struct fleet_host *host = &fleet->hosts[at];
    return (struct line){host, &fleet->points[host->point], fleet_record_of(fleet, host->point)};
}

static struct table_value sentence_of(const void *context, uint32_t row)
{
    const struct views_listing *listing = context;
    const struct tool_request *request = listing->request;
    return views_text(
        fleet_host_sentence(listing->fleet, &listing->fleet->hosts[row], request->arena, request->scratch));
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)

VALUE(host, views_text(line.host->host))
VALUE(job, views_text(line.record->job))
VALUE(module, views_text(line.record->module))
VALUE(kind, views_text(line.record->kind))
VALUE(space, views_text(line.record->memory_space))
VALUE(configuration, views_text(line.record->configuration))
VALUE(commit, views_text(line.record->commit))
VALUE(needed, table_integer(line.host->bytes))
VALUE(usual, table_integer(line.host->usual_bytes))
VALUE(difference, table_integer(line.host->bytes - line.host->usual_bytes))
VALUE(difference_size, table_integer(llabs(line.host->bytes - line.host->usual_bytes)))
VALUE(threshold, table_integer(line.host->threshold_bytes))
VALUE(hosts, table_integer(line.host->host_count))
VALUE(at, views_known(line.point->first_at_ms))
VALUE(last_at, views_known(line.point->last_at_ms))

/* clang-format off */
static const struct table_column columns[] = {
    {COLUMN_TEXT("host", host), .is_searched = true, .json = "host", .csv = "host", .title = "Host",
     .help = "that differs"},
    {COLUMN_NUMBER("differs", difference, "bytes"), .aliases = "difference size", .is_main = true,
     .json = "difference_bytes",
     .csv = "difference_bytes", .title = "Differs by", .help = "from the median: differs:>100MiB"},
    {COLUMN_NUMBER("abs", difference_size, "bytes"), .help = "the difference without its sign"},
    {COLUMN_NUMBER("needed", needed, "bytes"), .json = "needed_bytes", .csv = "needed_bytes", .title = "Needs",
     .help = "on this host"},
    {COLUMN_NUMBER("usual", usual, "bytes"), .json = "usual_bytes", .csv = "usual_bytes", .title = "Usual",
     .help = "median of the hosts; of two the other one"},
    {COLUMN_TEXT("job", job), .is_searched = true, .json = "job", .csv = "job", .title = "Job",
     .help = "its label: job:bert"},
    {COLUMN_TEXT("module", module), .is_searched = true, .json = "module", .csv = "module", .title = "Module",
     .help = "name of the program"},
    {COLUMN_TEXT("commit", commit), .is_searched = true, .json = "commit", .csv = "commit", .title = "Commit",
     .help = "its label"},
    {COLUMN_TEXT("sentence", sentence_of), .json = "sentence", .csv = "sentence", .title = "What differs",
     .help = "in words"},
    {COLUMN_NUMBER("hosts", hosts, "count"), .json = "host_count", .csv = "host_count", .title = "Hosts",
     .help = "that were compared"},
    {COLUMN_NUMBER("threshold", threshold, "bytes"), .json = "threshold_bytes", .csv = "threshold_bytes",
     .help = "what a difference had to exceed"},
    {COLUMN_NUMBER("at", at, "unix_ms"), .json = "first_at_ms", .csv = "first_at_ms", .title = "First seen",
     .help = "Unix time in ms"},
    {COLUMN_NUMBER("", last_at, "unix_ms"), .json = "last_at_ms", .csv = "last_at_ms"},
    {COLUMN_TEXT("kind", kind), .json = "kind", .csv = "kind", .help = "module, memory, failure, profiles"},
    {COLUMN_TEXT("configuration", configuration), .is_searched = true, .json = "configuration", .csv = "configuration",
     .help = "devices, mesh and batch that it was compiled for"},
    {COLUMN_TEXT("space", space), .json = "memory_space", .csv = "memory_space", .help = "memory space: HBM"},
    {.name = NULL},
};
/* clang-format on */

static const struct table_spec spec = {.columns = columns, .sort = "-at,-abs,host"};

bool fleet_hosts(const struct tool_request *request, struct json *json, struct err *err)
{
    return views_table(request, &spec, ((const struct fleet *)request->model)->host_count, NULL, json, err);
}
