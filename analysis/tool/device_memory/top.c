/* SPDX-License-Identifier: Apache-2.0
 * top.c: the view "top": frames with what they hold, sorted, filtered and paged;
 * or all that match as CSV, with pprof's words for the columns. */
#include "tool/device_memory/top.h"
#include "tool/device_memory/notes.h"
#include "tool/device_memory/views.h"

/* What a row is about. */
struct line {
    const struct study *study;
    const struct sums_row *sums;
    const struct frame *frame;
    uint32_t at; /* of the frame */
};

static struct line line_of(const void *context, uint32_t row)
{
    const struct sums *sums = context;
    uint32_t at = sums->listed[row];
    return (struct line){sums->study, &sums->rows[at], &sums->study->frames->items[at], at};
}

static struct str name_text(const struct line *line)
{
    struct buf *scratch = line->study->request->scratch;
    frames_full_name(line->study->frames, line->at, scratch);
    return (struct str){scratch->data, scratch->length};
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)

VALUE(self, table_integer(line.sums->self))
VALUE(self_size, table_integer(pprof_size(line.sums->self)))
VALUE(self_percent, table_real(study_percent(line.sums->self, line.study->percent_base)))
VALUE(total, table_integer(line.sums->total))
VALUE(total_size, table_integer(pprof_size(line.sums->total)))
VALUE(total_percent, table_real(study_percent(line.sums->total, line.study->percent_base)))
VALUE(unit, table_text(line.study->pprof->types[line.study->metric].unit))
VALUE(count, table_integer(line.sums->count))
VALUE(executable_count, table_integer(line.sums->executable_count))
VALUE(each_min, table_integer_if(line.sums->each_min >= 0, line.sums->each_min))
VALUE(each_max, table_integer_if(line.sums->each_max >= 0, line.sums->each_max))
VALUE(function, table_text(line.frame->function))
VALUE(file, table_text(line.frame->file))
VALUE(number, table_integer(line.frame->line))
VALUE(name, table_text(name_text(&line)))

static void frame_write(struct json *json, const void *context, uint32_t row)
{
    const struct line line = line_of(context, row);
    frames_write(line.study->frames, line.at, line.study->request->scratch, json);
}

#define TEXT(name_, value_) .name = name_, .type = TABLE_TEXT, .value = value_
#define NUMBER(name_, value_) .name = name_, .type = TABLE_NUMBER, .value = value_

/* Heads in CSV are pprof's words. */
static const struct table_column columns[] = {
    {TEXT("", NULL), .write = frame_write, .json = "frame"},
    {NUMBER("self", self), .order = self_size, .is_main = true, .json = "self", .csv = "flat", .title = "Self",
     .unit = "metric", .help = "what it holds itself: self:>1MiB"},
    {NUMBER("total", total), .order = total_size, .json = "total", .csv = "cum", .title = "Total", .unit = "metric",
     .help = "with all that it calls: total:>1MiB"},
    {NUMBER("self_percent", self_percent), .json = "self_percent", .csv = "flat_percent", .title = "Self",
     .unit = "percent"},
    {NUMBER("total_percent", total_percent), .json = "total_percent", .csv = "cum_percent", .title = "Total",
     .unit = "percent"},
    {TEXT("unit", unit), .csv = "unit"},
    {NUMBER("count", count), .json = "count", .title = "Buffers", .unit = "count", .help = "count:>10"},
    {NUMBER("executable_count", executable_count), .json = "executable_count", .unit = "count"},
    {NUMBER("each_least", each_min), .json = "each_least", .unit = "bytes"},
    {NUMBER("each", each_max), .json = "each_most", .title = "Each", .unit = "bytes",
     .help = "size of one: each:>64MiB"},
    {TEXT("fn", function), .aliases = "function", .title = "Function", .help = "name of the function"},
    {TEXT("file", file), .title = "File:line", .help = "path of the source file"},
    {NUMBER("line", number), .help = "line in the source file"},
    {TEXT("name", name), .is_searched = true, .csv = "name", .help = "function, file and line; * stands for any text"},
    {.name = NULL},
};
static const char csv_names[] = "self self_percent total total_percent unit name";
static const char *const formats[] = {"json", "csv", "text", NULL};
static const struct table_spec spec = {columns, .sort = "-total,-self,name", .formats = formats,
                                       .limit_max = UINT32_MAX};

/* pprof lists what has a value and a stack; a page also what is counted without a size. Where frames are folded,
 * what has none left keeps its row, so that the rows add up to the total. */
static void leave_out_zeros(struct sums *sums)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sums->listed_count; i++) {
        const struct sums_row *row = &sums->rows[sums->listed[i]];
        if ((sums->study->folds || sums->listed[i] >= FRAMES_SPECIAL_COUNT) && (row->self != 0 || row->total != 0))
            sums->listed[kept++] = sums->listed[i];
    }
    sums->listed_count = kept;
}

static void json_write(const struct sums *sums, const struct table_rows *rows, int64_t matched_self, struct json *json)
{
    json_object_begin(json);
    study_write(sums->study, json);
    table_head_write(rows, json);
    json_key_int(json, "matched_self", matched_self);
    json_key(json, "rows");
    json_array_begin(json);
    for (uint32_t i = rows->first; i < rows->end; i++) {
        uint32_t row = table_row_at(rows, i);
        json_object_begin(json);
        table_row_write(columns, sums, row, json);
        sums_sides_write(sums->study, &sums->rows[sums->listed[row]], json);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

bool device_memory_top(const struct tool_request *request, struct json *json, struct err *err)
{
    struct study study;
    struct sums sums = {.study = &study};
    struct table_rows rows;
    int64_t zeros, matched_self = 0;
    if (!study_open(request, &study, err) || !tool_param_number(request, "zeros", 0, 1, 1, &zeros, err) ||
        !table_read(&rows, request, &spec, &sums, err))
        return false;
    sums_make(&study, &sums);
    if (zeros == 0)
        leave_out_zeros(&sums);
    table_begin(&rows, sums.listed_count);
    for (uint32_t row = 0; row < sums.listed_count; row++)
        if (table_take(&rows, row))
            matched_self = pprof_add(matched_self, sums.rows[sums.listed[row]].self);
    table_sort(&rows);
    if (table_is_format(&rows, "csv"))
        table_csv_write(&rows, csv_names);
    else if (table_is_format(&rows, "text"))
        device_memory_top_text(&sums, &rows);
    else
        json_write(&sums, &rows, matched_self, json);
    device_memory_notes_add(&study);
    return true;
}
