/* SPDX-License-Identifier: Apache-2.0
 * table.c: the view "table": modules by memory space, all hosts together or host by host. */
#include "views/table.h"
#include "base/nearest.h"
#include "views/modules/views.h"

struct table_listing {
    struct overview overview;
    struct table_rows rows;
    bool is_split, is_outliers; /* only what differs */
    bool has_space;
    int64_t space;
    const char *module; /* id; NULL: all */
};

/* What a row is about. */
struct line {
    const struct overview *overview;
    const struct overview_row *row;
    const struct overview_group *group;
    const struct module_item *item;
    const struct module_space *space; /* NULL: nothing is known */
    const struct module_run *run;     /* NULL: not told */
};

static struct line line_of(const void *context, uint32_t at)
{
    const struct overview *overview = &((const struct table_listing *)context)->overview;
    const struct overview_row *row = &overview->rows[at];
    const struct module_item *item = overview_item(overview, row);
    return (struct line){overview, row, &overview->groups[row->group], item, row->space, overview_run(item)};
}

/* ---- values ---- */

static struct table_value bytes_of(const struct line *line, size_t offset)
{
    return line->space != NULL    ? table_integer(*(const int64_t *)((const char *)line->space + offset))
           : line->row->has_space ? table_integer(0)
                                  : table_unknown();
}

/* Only where the peak is known. */
static struct table_value peak_part(const struct line *line, size_t offset)
{
    return line->space != NULL && !line->space->has_peak ? table_unknown() : bytes_of(line, offset);
}

static struct table_value table_share(int64_t part, int64_t whole)
{
    return whole > 0 ? table_real(100 * (double)part / (double)whole) : table_unknown();
}

static struct table_value table_text_one(const char *value)
{
    return value != NULL ? table_text(str_of(value)) : table_unknown();
}

static enum category largest_category(const struct module_space *space)
{
    enum category largest = CATEGORY_UNKNOWN;
    for (int at = 0; at < CATEGORY_COUNT; at++)
        if (space->category_bytes[at] > space->category_bytes[largest])
            largest = (enum category)at;
    return largest;
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)
#define BYTES(name) VALUE(name, bytes_of(&line, offsetof(struct module_space, name##_bytes)))
#define PEAK_PART(name) VALUE(name, peak_part(&line, offsetof(struct module_space, name##_bytes)))

BYTES(total)
BYTES(argument)
BYTES(temporary)
BYTES(output)
BYTES(output_reused)
BYTES(constant)
PEAK_PART(peak)
PEAK_PART(padding)
PEAK_PART(fragmentation)
VALUE(padding_percent, line.space != NULL && line.space->has_peak
                           ? table_share(line.space->padding_bytes, line.space->peak_bytes)
                           : table_unknown())
VALUE(fragmentation_percent, line.space != NULL && line.space->has_peak
                                 ? table_share(line.space->fragmentation_bytes, line.space->total_bytes)
                                 : table_unknown())
VALUE(capacity,
      table_integer_if(overview_capacity(line.overview, line.row) > 0, overview_capacity(line.overview, line.row)))
VALUE(of_capacity, line.space != NULL ? table_share(line.space->total_bytes, overview_capacity(line.overview, line.row))
                                      : table_unknown())
VALUE(code, table_integer_if(line.item->figures != NULL && line.item->figures->code_bytes >= 0,
                             line.item->figures != NULL ? line.item->figures->code_bytes : 0))
VALUE(name, table_text_one(line.item->name))
VALUE(key, table_text_one(line.item->key))
VALUE(id, table_text_one(line.item->id))
VALUE(file, table_text_one(line.item->file))
VALUE(space_number, table_integer_if(line.row->has_space, line.row->space_number))
VALUE(name_of_space, table_text_one(line.row->space_name))
VALUE(platform, table_text_one(line.item->figures != NULL ? line.item->figures->platform : NULL))
VALUE(host_id, table_text_one(line.item->host_id))
VALUE(host, table_text_one(line.item->host))
VALUE(host_count, table_integer_if(line.item->host_id != NULL, line.group->count))
VALUE(read_count, table_integer(line.group->read_count))
VALUE(failed_count, table_integer(line.group->failed_count))
VALUE(absent_count, table_integer(line.group->absent_count))
VALUE(outlier_count, table_integer(line.row->outlier_count))
VALUE(is_outlier, table_text(line.row->is_outlier ? STR("yes") : STR("no")))
VALUE(difference, table_integer_if(line.row->has_usual &&line.row->has_space, line.row->difference_bytes))
VALUE(category, line.space != NULL && line.space->peak_bytes > 0
                    ? table_text_one(category_name(largest_category(line.space)))
                    : table_unknown())
VALUE(category_words_of, line.space != NULL && line.space->peak_bytes > 0
                             ? table_text_one(category_words(largest_category(line.space)))
                             : table_unknown())
VALUE(runs, table_integer_if(line.run != NULL || line.item->runs != NULL,
                             line.run != NULL ? (int64_t)line.run->run_count : 0))
VALUE(run_devices, table_integer_if(line.run != NULL, line.run != NULL ? line.run->device_count : 0))
VALUE(first_run, table_integer_if(line.run != NULL, line.run != NULL ? line.run->first_ps : 0))
VALUE(last_run, table_integer_if(line.run != NULL, line.run != NULL ? line.run->last_ps : 0))
VALUE(busy, table_integer_if(line.run != NULL, line.run != NULL ? line.run->busy_ps : 0))
VALUE(mean_run,
      table_integer_if(line.run != NULL, line.run != NULL ? line.run->busy_ps / (int64_t)line.run->run_count : 0))
VALUE(state, table_text_one(overview_state_name(overview_state_of(line.overview, line.row))))
VALUE(remark, table_text_one(overview_remark(line.overview, line.row)))
VALUE(code_word, table_text_one(line.item->figures == NULL ? line.item->code : NULL))

#define CATEGORY(constant, name_, words, is_of_arguments)                                                              \
    VALUE(of_##constant,                                                                                               \
          peak_part(&line, offsetof(struct module_space, category_bytes) + CATEGORY_##constant * sizeof(int64_t)))
#include "plan/category.def"
#undef CATEGORY

static void categories_write(struct json *json, const void *context, uint32_t row)
{
    const struct line line = line_of(context, row);
    bool is_known = line.space != NULL && line.space->has_peak;
    json_array_begin(json);
    for (int at = 0; is_known && at < CATEGORY_COUNT; at++) {
        if (line.space->category_bytes[at] == 0)
            continue;
        json_object_begin(json);
        json_key_text(json, "category", category_name((enum category)at));
        json_key_int(json, "bytes", line.space->category_bytes[at]);
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- columns ---- */

/* clang-format off */
static const struct table_column columns[] = {
    {COLUMN_NUMBER("total", total, "bytes"), .is_main = true, .aliases = "size bytes", .json = "total_bytes",
     .csv = "total_bytes",
     .title = "Total", .help = "what its allocations need, with fragmentation: total:>1GiB"},
    {COLUMN_NUMBER("peak", peak, "bytes"), .json = "peak_bytes", .csv = "peak_bytes", .title = "Peak live",
     .help = "most that is live at a time"},
    {COLUMN_NUMBER("capacity", of_capacity, "percent"), .aliases = "of_capacity share", .json = "of_capacity_percent",
     .csv = "of_capacity_percent", .title = "Of capacity",
     .help = "total of what the device has, in percent: capacity:>80"},
    {COLUMN_NUMBER("", capacity, "bytes"), .json = "capacity_bytes", .csv = "capacity_bytes"},
    {COLUMN_TEXT("", NULL), .write = categories_write, .json = "categories"},
    {COLUMN_TEXT("cat", category), .aliases = "category", .word = category_words_of, .json = "category",
     .csv = "category",
     .title = "Categories", .help = "whose memory most of the peak is: cat:saved_activation"},
    {COLUMN_NUMBER("args", argument, "bytes"), .aliases = "arguments", .json = "argument_bytes",
     .csv = "argument_bytes",
     .title = "Args", .help = "arguments of the program"},
    {COLUMN_NUMBER("temp", temporary, "bytes"), .aliases = "temporaries temporary", .json = "temporary_bytes",
     .csv = "temporary_bytes", .title = "Temporaries", .help = "what lives only while it runs"},
    {COLUMN_NUMBER("outputs", output, "bytes"), .json = "output_bytes", .csv = "output_bytes", .title = "Outputs",
     .help = "results, including those in the memory of arguments"},
    {COLUMN_NUMBER("reused", output_reused, "bytes"), .json = "output_reused_bytes", .csv = "output_reused_bytes",
     .help = "outputs in the memory of donated arguments"},
    {COLUMN_NUMBER("constants", constant, "bytes"), .json = "constant_bytes", .csv = "constant_bytes",
     .help = "constants"},
    {COLUMN_NUMBER("code", code, "bytes"), .json = "code_bytes", .csv = "code_bytes", .title = "Code",
     .help = "machine code, where the compiler wrote its size"},
    {COLUMN_NUMBER("pad", padding, "bytes"), .aliases = "padding", .json = "padding_bytes", .csv = "padding_bytes",
     .title = "Padding", .help = "of the peak: pad:>1MiB · pad:>10%"},
    {COLUMN_NUMBER("pad%", padding_percent, "percent")},
    {COLUMN_NUMBER("frag", fragmentation, "bytes"), .aliases = "fragmentation", .json = "fragmentation_bytes",
     .csv = "fragmentation_bytes", .title = "Frag.", .help = "total less peak: frag:>1MiB · frag:>10%"},
    {COLUMN_NUMBER("frag%", fragmentation_percent, "percent")},
    {COLUMN_NUMBER("runs", runs, "count"), .json = "run_count", .csv = "run_count", .title = "Runs",
     .help = "launches in the trace, on all devices of the host"},
    {COLUMN_NUMBER("run", mean_run, "ps"), .json = "mean_run_ps", .csv = "mean_run_ps", .title = "Each",
     .help = "time of one run, on average"},
    {COLUMN_NUMBER("first", first_run, "ps"), .json = "first_run_ps", .csv = "first_run_ps", .title = "First run",
     .help = "after the first launch of the trace"},
    {COLUMN_NUMBER("last", last_run, "ps"), .json = "last_run_end_ps", .csv = "last_run_end_ps",
     .help = "end of the last run"},
    {COLUMN_NUMBER("busy", busy, "ps"), .json = "busy_ps", .csv = "busy_ps", .help = "all runs added up"},
    {COLUMN_NUMBER("", run_devices, "count"), .json = "run_device_count", .csv = "run_device_count"},
    {COLUMN_NUMBER("hosts", host_count, "count"), .json = "host_count", .csv = "host_count", .title = "Hosts",
     .help = "that have it"},
    {COLUMN_NUMBER("outliers", outlier_count, "count"), .json = "outlier_count", .csv = "outlier_count",
     .help = "hosts whose total or peak is not that of most"},
    {COLUMN_TEXT("outlier", is_outlier), .json = "outlier", .csv = "outlier", .help = "does a host differ: yes, no"},
    {COLUMN_NUMBER("differs", difference, "bytes"), .aliases = "difference", .json = "difference_bytes",
     .csv = "difference_bytes", .title = "Differs by", .help = "total less that of most hosts"},
    {COLUMN_NUMBER("", read_count, "count"), .json = "read_host_count", .csv = "read_host_count"},
    {COLUMN_NUMBER("", failed_count, "count"), .json = "failed_host_count", .csv = "failed_host_count"},
    {COLUMN_NUMBER("absent", absent_count, "count"), .json = "absent_host_count", .csv = "absent_host_count",
     .help = "hosts that have it not"},
    {COLUMN_TEXT("module", name), .aliases = "name", .is_searched = true, .json = "module", .csv = "module",
     .title = "Module",
     .help = "name of the program"},
    {COLUMN_TEXT("key", key), .is_searched = true, .json = "key", .csv = "key", .help = "name with the program id"},
    {COLUMN_TEXT("", id), .json = "module_id", .csv = "module_id"},
    {COLUMN_TEXT("space", name_of_space), .json = "space_name", .csv = "space_name", .title = "Space",
     .help = "memory space: HBM, VMEM, …"},
    {COLUMN_NUMBER("", space_number, "count"), .json = "space", .csv = "space"},
    {COLUMN_TEXT("host", host), .is_searched = true, .json = "host_name", .csv = "host", .title = "Host",
     .help = "whose figures these are"},
    {COLUMN_TEXT("", host_id), .json = "host", .csv = "host_id"},
    {COLUMN_TEXT("platform", platform), .json = "platform", .csv = "platform", .help = "tpu, gpu, cpu"},
    {COLUMN_TEXT("file", file), .is_searched = true, .json = "file", .csv = "file", .help = "where it was read"},
    {COLUMN_TEXT("state", state), .json = "state", .csv = "state", .help = "read, not_read, failed, no_assignment"},
    {COLUMN_TEXT("", code_word), .json = "error_code", .csv = "error_code"},
    {COLUMN_TEXT("remark", remark), .json = "remark", .csv = "remark", .title = "Remark",
     .help = "what is not known of it, and why"},
#define CATEGORY(constant, name_, words, is_of_arguments)                                                              \
    {COLUMN_NUMBER(name_, of_##constant, "bytes"), .csv = "peak_" name_ "_bytes", .help = words " at the peak"},
#include "plan/category.def"
#undef CATEGORY
    {.name = NULL},
};
/* clang-format on */

static const struct table_spec spec_of_all = {.columns = columns, .sort = "-total,module"};
static const struct table_spec spec_of_hosts = {.columns = columns, .sort = "-outlier,-total,module"};

/* ---- the view ---- */

static bool choices_read(struct table_listing *listing, const struct tool_request *request, struct err *err)
{
    static const char *const rows[] = {"module", "host"}, *const hosts[] = {"all", "outliers"};
    const char *by = tool_param_text(request, "rows"), *which = tool_param_text(request, "hosts");
    const char *space = tool_param_text(request, "space");
    size_t chosen = 0;
    if (by != NULL && by[0] != '\0' && !nearest_choose("rows", "choice", str_of(by), rows, 2, &chosen, err))
        return false;
    listing->is_split = chosen == 1;
    chosen = 0;
    if (which != NULL && which[0] != '\0' && !nearest_choose("hosts", "choice", str_of(which), hosts, 2, &chosen, err))
        return false;
    listing->is_outliers = chosen == 1;
    listing->has_space = space != NULL && space[0] != '\0';
    listing->module = tool_param_text(request, "module");
    if (listing->module != NULL && listing->module[0] == '\0')
        listing->module = NULL;
    return tool_param_number(request, "space", INT64_MIN + 1, INT64_MAX, 0, &listing->space, err);
}

/* What is not known of is in every space. */
static bool is_chosen(const struct table_listing *listing, const struct overview_row *row)
{
    const struct overview *overview = &listing->overview;
    const struct overview_group *group = &overview->groups[row->group];
    bool is_module = listing->module == NULL;
    for (uint32_t i = 0; i < group->count && !is_module; i++) {
        const char *id = overview->set->items[overview->order[group->first + i]].id;
        is_module = id != NULL && strcmp(id, listing->module) == 0;
    }
    bool is_space = !listing->has_space || !row->has_space || row->space_number == listing->space;
    bool is_host = !listing->is_outliers || row->is_outlier || (!row->is_single && group->absent_count > 0);
    return is_module && is_space && is_host;
}

static bool is_module_known(const struct table_listing *listing)
{
    const struct module_set *set = listing->overview.set;
    for (uint32_t i = 0; listing->module != NULL && i < set->count; i++)
        if (set->items[i].id != NULL && strcmp(set->items[i].id, listing->module) == 0)
            return true;
    return listing->module == NULL;
}

static int64_t largest_total(const struct table_listing *listing)
{
    int64_t largest = 0;
    for (uint32_t i = 0; i < listing->overview.row_count; i++) {
        const struct overview_row *row = &listing->overview.rows[i];
        if (row->space != NULL && is_chosen(listing, row) && row->space->total_bytes > largest)
            largest = row->space->total_bytes;
    }
    return largest;
}

bool modules_table(const struct tool_request *request, struct json *json, struct err *err)
{
    struct table_listing *listing = arena_array(request->arena, struct table_listing, 1);
    if (!choices_read(listing, request, err) || !modules_overview(request, &listing->overview, err) ||
        !table_read(&listing->rows, request, listing->is_split ? &spec_of_hosts : &spec_of_all, listing, err))
        return false;
    if (!is_module_known(listing))
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "the session has no module with that id");
    if (listing->is_split)
        overview_split(&listing->overview);
    table_begin(&listing->rows, listing->overview.row_count);
    for (uint32_t i = 0; i < listing->overview.row_count; i++)
        if (is_chosen(listing, &listing->overview.rows[i]))
            table_take(&listing->rows, i);
    table_sort(&listing->rows);
    if (table_is_lines(&listing->rows)) {
        table_lines_write(&listing->rows, NULL);
        return true;
    }
    json_object_begin(json);
    json_key_text(json, "rows_of", listing->is_split ? "host" : "module");
    json_key_int(json, "largest_bytes", largest_total(listing));
    modules_summary_reading(&listing->overview, json);
    table_head_write(&listing->rows, json);
    table_rows_write(&listing->rows, "rows", json);
    json_object_end(json);
    return true;
}
