/* SPDX-License-Identifier: Apache-2.0
 * tags.c: the view "tags": what samples with each value of each label hold, and
 * two labels against each other: devices and kinds. */
#include "views/device_memory/sums.h"
#include "views/device_memory/views.h"

#include <stdlib.h>

enum { VALUES_MAX = 200 };

static int by_text(const void *left, const void *right)
{
    return str_compare(((const struct label_value *)left)->text, ((const struct label_value *)right)->text);
}

static void write_key(const struct model *model, const char *key, struct json *json)
{
    struct label_values label;
    int64_t total = 0;
    sums_of_label(model, key, false, &label);
    for (uint32_t i = 0; i < label.count; i++)
        total = pprof_add(total, label.values[i].total);
    sums_rank_label(&label);
    json_object_begin(json);
    json_key_text(json, "key", key);
    json_key_int(json, "total", total);
    json_key_uint(json, "value_count", label.count);
    json_key_array(json, "values");
    for (uint32_t i = 0; i < label.count && i < VALUES_MAX; i++) {
        json_object_begin(json);
        json_key_string(json, "value", label.values[i].text);
        json_key_int(json, "total", label.values[i].total);
        json_key_double(json, "percent", model_percent(label.values[i].total, model->percent_base));
        json_key_int(json, "count", label.values[i].count);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static int by_word(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void write_keys(const struct model *model, struct json *json)
{
    const struct pprof *pprof = model->pprof;
    const char **keys = arena_array(model->arena, const char *, (size_t)pprof->label_count + 1);
    for (uint32_t i = 0; i < pprof->label_count; i++)
        keys[i] = arena_text(model->arena, pprof->labels[i].key);
    qsort(keys, pprof->label_count, sizeof(*keys), by_word);
    json_key_array(json, "keys");
    for (uint32_t i = 0, written = 0; i < pprof->label_count && written < VALUES_MAX; i++) {
        if (i > 0 && strcmp(keys[i], keys[i - 1]) == 0)
            continue;
        arena_work(model->arena, model->sample_count);
        write_key(model, keys[i], json);
        written++;
    }
    json_array_end(json);
}

/* ---- two labels ---- */

static void write_names(const char *key, const struct label_values *label, uint32_t count, struct json *json)
{
    json_key_array(json, key);
    for (uint32_t i = 0; i < count; i++)
        json_string(json, label->values[i].text);
    json_array_end(json);
}

static void write_cells(const char *key, const int64_t *cells, const struct label_values *rows, uint32_t row_count,
                        const struct label_values *columns, uint32_t column_count, struct json *json)
{
    json_key_array(json, key);
    for (uint32_t i = 0; i < row_count; i++) {
        json_array_begin(json);
        for (uint32_t j = 0; j < column_count; j++)
            json_int(json, cells[(size_t)rows->values[i].number * columns->count + columns->values[j].number]);
        json_array_end(json);
    }
    json_array_end(json);
}

static void write_pivot(const struct model *model, struct json *json)
{
    const char *row_key = tool_param_text(model->request, "rows"),
               *column_key = tool_param_text(model->request, "columns");
    struct label_values rows, columns;
    row_key = row_key != NULL && row_key[0] != '\0' ? row_key : "device";
    column_key = column_key != NULL && column_key[0] != '\0' ? column_key : "kind";
    sums_of_label(model, row_key, true, &rows);
    sums_of_label(model, column_key, true, &columns);
    size_t cell_count = (size_t)rows.count * columns.count + 1;
    int64_t *totals = arena_array(model->arena, int64_t, cell_count),
            *counts = arena_array(model->arena, int64_t, cell_count);
    for (uint32_t i = 0; i < model->sample_count; i++) {
        uint32_t set = model->pprof->label_sets[model->samples[i].at];
        size_t cell = (size_t)rows.of_sets[set] * columns.count + columns.of_sets[set];
        totals[cell] = pprof_add(totals[cell], model_value(model, &model->samples[i]));
        counts[cell] = pprof_add(counts[cell], model_count(model, &model->samples[i]));
    }
    qsort(rows.values, rows.count, sizeof(*rows.values), by_text);
    qsort(columns.values, columns.count, sizeof(*columns.values), by_text);
    uint32_t row_count = rows.count < VALUES_MAX ? rows.count : VALUES_MAX;
    uint32_t column_count = columns.count < VALUES_MAX ? columns.count : VALUES_MAX;
    json_key_object(json, "pivot");
    json_key_text(json, "row_key", row_key);
    json_key_text(json, "column_key", column_key);
    json_key_uint(json, "row_count", rows.count);
    json_key_uint(json, "column_count", columns.count);
    write_names("rows", &rows, row_count, json);
    write_names("columns", &columns, column_count, json);
    write_cells("totals", totals, &rows, row_count, &columns, column_count, json);
    write_cells("counts", counts, &rows, row_count, &columns, column_count, json);
    json_object_end(json);
}

bool device_memory_tags(const struct tool_request *request, struct json *json, struct err *err)
{
    struct model model;
    if (!model_open(request, &model, err))
        return false;
    model_begin(&model, json);
    write_keys(&model, json);
    write_pivot(&model, json);
    return model_end(&model, json);
}
