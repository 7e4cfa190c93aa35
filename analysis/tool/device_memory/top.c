/* SPDX-License-Identifier: Apache-2.0
 * top.c: the view "top": frames with what they hold, sorted, filtered and paged;
 * or all that match as CSV, with pprof's words for the columns. */
#include "base/csv.h"
#include "tool/device_memory/notes.h"
#include "tool/device_memory/top.h"
#include "tool/device_memory/order.h"
#include "tool/device_memory/sums.h"
#include "tool/device_memory/views.h"

enum field { SELF, TOTAL, COUNT, EACH, FUNCTION, FILE_NAME, LINE, NAME, FIELD_COUNT };

static const struct filter_field fields[FIELD_COUNT + 1] = {
    [SELF] = {"self", FILTER_NUMBER, false},      [TOTAL] = {"total", FILTER_NUMBER, false}, [COUNT] = {"count", FILTER_NUMBER, false},
    [EACH] = {"each", FILTER_NUMBER, false},      [FUNCTION] = {"fn", FILTER_TEXT, false},   [FILE_NAME] = {"file", FILTER_TEXT, false},
    [LINE] = {"line", FILTER_NUMBER, false},      [NAME] = {"name", FILTER_TEXT, true},      [FIELD_COUNT] = {NULL, FILTER_TEXT, false},
};

static bool number_of(const void *context, uint32_t row, size_t field, double *value)
{
    const struct sums *sums = context;
    uint32_t frame = sums->listed[row];
    const struct sums_row *sum = &sums->rows[frame];
    switch ((enum field)field) {
    case SELF: *value = (double)pprof_size(sum->self); return true;
    case TOTAL: *value = (double)pprof_size(sum->total); return true;
    case COUNT: *value = (double)sum->count; return true;
    case EACH: *value = (double)sum->each_most; return sum->each_most >= 0;
    case LINE: *value = (double)sums->study->frames->items[frame].line; return true;
    default: return false;
    }
}

static struct str text_of(const void *context, uint32_t row, size_t field)
{
    const struct sums *sums = context;
    const struct study *study = sums->study;
    const struct frame *frame = &study->frames->items[sums->listed[row]];
    struct buf *scratch = study->request->scratch;
    if (field == FUNCTION)
        return frame->function;
    if (field == FILE_NAME)
        return frame->file;
    frames_full_name(study->frames, sums->listed[row], scratch);
    return (struct str){scratch->data, scratch->length};
}

static void write_row(const struct sums *sums, uint32_t frame, struct json *json)
{
    const struct study *study = sums->study;
    const struct sums_row *row = &sums->rows[frame];
    json_object_begin(json);
    json_key(json, "frame");
    frames_write(study->frames, frame, study->request->scratch, json);
    sums_write(study, row, json);
    json_key(json, "self_percent");
    json_double(json, study_percent(row->self, study->percent_base));
    json_key(json, "total_percent");
    json_double(json, study_percent(row->total, study->percent_base));
    json_key_int(json, "count", row->count);
    json_key_int(json, "executable_count", row->executable_count);
    json_key_known(json, "each_least", row->each_least);
    json_key_known(json, "each_most", row->each_most);
    json_object_end(json);
}

static void write_csv(const struct sums *sums, const struct order *order, const struct order_rows *rows)
{
    const struct study *study = sums->study;
    struct buf *scratch = study->request->scratch;
    struct str unit = study->pprof->types[study->metric].unit;
    struct csv csv = CSV_INIT(study->request->out);
    buf_text(study->request->out, "flat,flat_percent,cum,cum_percent,unit,name\r\n");
    for (int64_t i = order->offset; i < order->offset + order->limit && i < rows->count; i++) {
        uint32_t frame = sums->listed[rows->rows[i]];
        const struct sums_row *row = &sums->rows[frame];
        frames_full_name(study->frames, frame, scratch);
        csv_int(&csv, row->self);
        csv_double(&csv, study_percent(row->self, study->percent_base));
        csv_int(&csv, row->total);
        csv_double(&csv, study_percent(row->total, study->percent_base));
        csv_text(&csv, unit);
        csv_text(&csv, (struct str){scratch->data, scratch->length});
        csv_row_end(&csv);
    }
}

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

bool device_memory_top(const struct tool_request *request, struct json *json, struct err *err)
{
    struct study study;
    struct sums sums = {.study = &study};
    struct filter_table table = {fields, text_of, number_of, &sums};
    struct order order;
    int64_t zeros, matched_self = 0;
    if (!study_open(request, &study, err) || !tool_param_number(request, "zeros", 0, 1, 1, &zeros, err) ||
        !order_read(request, &table, "-total,-self,name", &order, err))
        return false;
    sums_make(&study, &sums);
    if (zeros == 0)
        leave_out_zeros(&sums);
    struct order_rows rows = order_rows(request, &order, sums.listed_count);
    if (order.format == ORDER_CSV || order.format == ORDER_TEXT) {
        (order.format == ORDER_CSV ? write_csv : device_memory_top_text)(&sums, &order, &rows);
        return true;
    }
    for (uint32_t i = 0; i < rows.count; i++)
        matched_self = pprof_add(matched_self, sums.rows[sums.listed[rows.rows[i]]].self);
    json_object_begin(json);
    study_write(&study, json);
    json_key_uint(json, "row_count", sums.listed_count);
    json_key_uint(json, "matched_count", rows.count);
    json_key_int(json, "offset", order.offset);
    json_key_int(json, "matched_self", matched_self);
    json_key(json, "rows");
    json_array_begin(json);
    for (int64_t i = order.offset; i < order.offset + order.limit && i < rows.count; i++)
        write_row(&sums, sums.listed[rows.rows[i]], json);
    json_array_end(json);
    json_object_end(json);
    device_memory_notes_add(&study);
    return true;
}
