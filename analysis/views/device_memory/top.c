/* SPDX-License-Identifier: Apache-2.0
 * top.c: the view "top": frames with what they hold, sorted, filtered and paged;
 * or all that match as CSV, with pprof's words for the columns. */
#include "base/size_text.h"
#include "views/device_memory/frames_write.h"
#include "views/device_memory/sums.h"
#include "views/device_memory/views.h"
#include "views/table.h"

#include <stdio.h>

/* What a row is about. */
struct line {
    const struct model *model;
    const struct sums_row *sums;
    const struct frame *frame;
    uint32_t at; /* of the frame */
};

static struct line line_of(const void *context, uint32_t row)
{
    const struct sums *sums = context;
    uint32_t at = sums->listed[row];
    return (struct line){sums->model, &sums->rows[at], &sums->model->frames->items[at], at};
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)

VALUE(self, table_integer(line.sums->self))
VALUE(self_size, table_integer(pprof_size(line.sums->self)))
VALUE(self_percent, table_real(model_percent(line.sums->self, line.model->percent_base)))
VALUE(total, table_integer(line.sums->total))
VALUE(total_size, table_integer(pprof_size(line.sums->total)))
VALUE(total_percent, table_real(model_percent(line.sums->total, line.model->percent_base)))
VALUE(unit, table_text(line.model->pprof->types[line.model->metric].unit))
VALUE(count, table_integer(line.sums->count))
VALUE(executable_count, table_integer(line.sums->executable_count))
VALUE(each_min, table_integer_if(line.sums->each_min >= 0, line.sums->each_min))
VALUE(each_max, table_integer_if(line.sums->each_max >= 0, line.sums->each_max))
VALUE(function, table_text(line.frame->function))
VALUE(file, table_text(line.frame->file))
VALUE(number, table_integer(line.frame->line))
VALUE(name, table_text(frames_full_name(line.model->frames, line.at, line.model->request->scratch)))

static void frame_write(struct json *json, const void *context, uint32_t row)
{
    const struct line line = line_of(context, row);
    frames_write(line.model->frames, line.at, line.model->request->scratch, json);
}

/* Heads in CSV are pprof's words. */
static const struct table_column columns[] = {
    {COLUMN_TEXT("", NULL), .write = frame_write, .json = "frame"},
    {COLUMN_NUMBER("self", self, "metric"), .order = self_size, .is_main = true, .json = "self", .csv = "flat",
     .title = "Self", .help = "what it holds itself: self:>1MiB"},
    {COLUMN_NUMBER("total", total, "metric"), .order = total_size, .json = "total", .csv = "cum", .title = "Total",
     .help = "with all that it calls: total:>1MiB"},
    {COLUMN_NUMBER("self_percent", self_percent, "percent"), .json = "self_percent", .csv = "flat_percent",
     .title = "Self"},
    {COLUMN_NUMBER("total_percent", total_percent, "percent"), .json = "total_percent", .csv = "cum_percent",
     .title = "Total"},
    {COLUMN_TEXT("unit", unit), .csv = "unit"},
    {COLUMN_NUMBER("count", count, "count"), .json = "count", .title = "Buffers", .help = "count:>10"},
    {COLUMN_NUMBER("executable_count", executable_count, "count"), .json = "executable_count"},
    {COLUMN_NUMBER("each_min", each_min, "bytes"), .json = "each_min"},
    {COLUMN_NUMBER("each", each_max, "bytes"), .json = "each_max", .title = "Each", .help = "size of one: each:>64MiB"},
    {COLUMN_TEXT("fn", function), .aliases = "function", .title = "Function", .help = "name of the function"},
    {COLUMN_TEXT("file", file), .title = "File:line", .help = "path of the source file"},
    {COLUMN_NUMBER("line", number, NULL), .help = "line in the source file"},
    {COLUMN_TEXT("name", name), .is_searched = true, .csv = "name",
     .help = "function, file and line; * matches any text"},
    {.name = NULL},
};
static const char csv_names[] = "self self_percent total total_percent unit name";
static const char *const formats[] = {"json", "csv", "ndjson", "text", NULL};
static const struct table_spec spec = {columns, .sort = "-total,-self,name", .formats = formats,
                                       .limit_max = UINT32_MAX};

/* pprof lists what has a value and a stack; a page also what is counted without a size. Where frames are folded,
 * what has none left keeps its row, so that the rows add up to the total. */
static void leave_out_zeros(struct sums *sums)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sums->listed_count; i++) {
        const struct sums_row *row = &sums->rows[sums->listed[i]];
        if ((sums->model->folds || sums->listed[i] >= FRAMES_SPECIAL_COUNT) && (row->self != 0 || row->total != 0))
            sums->listed[kept++] = sums->listed[i];
    }
    sums->listed_count = kept;
}

static void json_write(const struct sums *sums, const struct table_rows *rows, int64_t matched_self, struct json *json)
{
    model_begin(sums->model, json);
    table_head_write(rows, json);
    json_key_int(json, "matched_self", matched_self);
    json_key_array(json, "rows");
    for (uint32_t i = rows->first; i < rows->end; i++) {
        uint32_t row = table_row_at(rows, i);
        json_object_begin(json);
        table_row_write(columns, sums, row, json);
        sums_sides_write(sums->model, &sums->rows[sums->listed[row]], json);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

/* ---- the table for a terminal: names come out of files, so only what it can print reaches it ---- */

enum { VALUE_TEXT = 32, PERCENT_TEXT = 16 };

/* "76.29 MiB", "-512 B"; other units as they are. */
static void value_text(char out[VALUE_TEXT], int64_t value, struct str unit)
{
    if (str_equal(unit, STR("bytes")))
        size_text_column(out, value);
    else
        snprintf(out, VALUE_TEXT, "%lld", (long long)value);
}

static void percent_text(char out[PERCENT_TEXT], int64_t value, int64_t whole)
{
    snprintf(out, PERCENT_TEXT, "%.2f%%", model_percent(value, whole));
}

/* Which moments of snapshots it is about, and the sentence on what is folded. */
static void moments_write(const struct model *model)
{
    const struct profile_set *set = model->request->model;
    struct buf *out = model->request->out;
    bool is_of_torch = false;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct profile_set_item *item = &set->items[i];
        if (item->moment == NULL)
            continue;
        is_of_torch = true;
        buf_text(out, item->is_base ? "less " : "live in ");
        buf_printable(out, item->moment->memory);
        buf_text(out, ": ");
        buf_printable(out, str_of(item->name));
        buf_char(out, '\n');
    }
    if (model->folds)
        buf_format(
            out,
            "frames of %s and Python count for the line that called them; machinery lists them too, as pprof does\n",
            is_of_torch ? "PyTorch" : "JAX");
}

/* A head of what is summed, and a line for each row: flat, flat %, sum %, cum, cum %, name. */
static void text_write(const struct sums *sums, const struct table_rows *rows)
{
    const struct model *model = sums->model;
    struct buf *out = model->request->out, *scratch = model->request->scratch;
    const struct pprof_type *type = &model->pprof->types[model->metric];
    char flat[VALUE_TEXT], cum[VALUE_TEXT], flat_percent[PERCENT_TEXT], sum_percent[PERCENT_TEXT],
        cum_percent[PERCENT_TEXT];
    int64_t sum = 0;
    value_text(flat, model->total, type->unit);
    value_text(cum, model->percent_base, type->unit);
    buf_printable(out, type->name);
    buf_format(out, ": %s", flat);
    if (!str_equal(type->unit, STR("bytes")) && !str_equal(type->unit, STR("count"))) {
        buf_char(out, ' ');
        buf_printable(out, type->unit);
    }
    buf_format(out, ", 100 %% is %s\n", cum);
    if (model->unknown_count > 0)
        buf_format(out, "%lld executables of unknown size are not in these sums\n", (long long)model->unknown_count);
    moments_write(model);
    buf_format(out, "%12s %8s %8s %12s %8s  %s\n", "flat", "flat%", "sum%", "cum", "cum%", "name");
    for (uint32_t i = rows->first; i < rows->end; i++) {
        uint32_t frame = sums->listed[table_row_at(rows, i)];
        const struct sums_row *row = &sums->rows[frame];
        sum = pprof_add(sum, row->self);
        value_text(flat, row->self, type->unit);
        value_text(cum, row->total, type->unit);
        percent_text(flat_percent, row->self, model->percent_base);
        percent_text(sum_percent, sum, model->percent_base);
        percent_text(cum_percent, row->total, model->percent_base);
        buf_format(out, "%12s %8s %8s %12s %8s  ", flat, flat_percent, sum_percent, cum, cum_percent);
        buf_printable(out, frames_full_name(model->frames, frame, scratch));
        buf_char(out, '\n');
    }
    if (rows->matched > rows->end)
        buf_format(out, "… %u more\n", rows->matched - rows->end);
}

bool device_memory_top(const struct tool_request *request, struct json *json, struct err *err)
{
    struct model model;
    struct sums sums = {.model = &model};
    struct table_rows rows;
    int64_t zeros, matched_self = 0;
    if (!model_open(request, &model, err) || !tool_param_number(request, "zeros", 0, 1, 1, &zeros, err) ||
        !table_read(&rows, request, &spec, &sums, err))
        return false;
    sums_make(&model, &sums);
    if (zeros == 0)
        leave_out_zeros(&sums);
    table_begin(&rows, sums.listed_count);
    for (uint32_t row = 0; row < sums.listed_count; row++)
        if (table_take(&rows, row))
            matched_self = pprof_add(matched_self, sums.rows[sums.listed[row]].self);
    table_sort(&rows);
    if (table_is_lines(&rows))
        table_lines_write(&rows, csv_names);
    else if (table_is_format(&rows, "text"))
        text_write(&sums, &rows);
    else
        json_write(&sums, &rows, matched_self, json);
    model_notes(&model);
    return true;
}
