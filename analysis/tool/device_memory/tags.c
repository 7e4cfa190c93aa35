/* SPDX-License-Identifier: Apache-2.0
 * tags.c: the view "tags": what samples with each value of each label hold, and
 * two labels against each other: devices and kinds. */
#include "tool/device_memory/notes.h"
#include "tool/device_memory/sums.h"
#include "tool/device_memory/views.h"

#include <stdlib.h>

enum { VALUES_MAX = 200 };

static int by_text(const void *left, const void *right)
{
    return str_compare(((const struct label_value *)left)->text, ((const struct label_value *)right)->text);
}

static void write_key(const struct study *study, const char *key, struct json *json)
{
    struct label_values label;
    int64_t total = 0;
    sums_of_label(study, key, false, &label);
    for (uint32_t i = 0; i < label.count; i++)
        total = pprof_add(total, label.values[i].total);
    sums_rank_label(&label);
    json_object_begin(json);
    json_key_text(json, "key", key);
    json_key_int(json, "total", total);
    json_key_uint(json, "value_count", label.count);
    json_key(json, "values");
    json_array_begin(json);
    for (uint32_t i = 0; i < label.count && i < VALUES_MAX; i++) {
        json_object_begin(json);
        json_key_string(json, "value", label.values[i].text);
        json_key_int(json, "total", label.values[i].total);
        json_key(json, "percent");
        json_double(json, study_percent(label.values[i].total, study->percent_base));
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

static void write_keys(const struct study *study, struct json *json)
{
    const struct pprof *pprof = study->pprof;
    const char **keys = arena_array(study->arena, const char *, (size_t)pprof->label_count + 1);
    for (uint32_t i = 0; i < pprof->label_count; i++)
        keys[i] = arena_text(study->arena, pprof->labels[i].key);
    qsort(keys, pprof->label_count, sizeof(*keys), by_word);
    json_key(json, "keys");
    json_array_begin(json);
    for (uint32_t i = 0, written = 0; i < pprof->label_count && written < VALUES_MAX; i++) {
        if (i > 0 && strcmp(keys[i], keys[i - 1]) == 0)
            continue;
        arena_work(study->arena, study->sample_count);
        write_key(study, keys[i], json);
        written++;
    }
    json_array_end(json);
}

/* ---- two labels ---- */

static void write_names(const char *key, const struct label_values *label, uint32_t count, struct json *json)
{
    json_key(json, key);
    json_array_begin(json);
    for (uint32_t i = 0; i < count; i++)
        json_string(json, label->values[i].text);
    json_array_end(json);
}

static void write_cells(const char *key, const int64_t *cells, const struct label_values *rows, uint32_t row_count,
                        const struct label_values *columns, uint32_t column_count, struct json *json)
{
    json_key(json, key);
    json_array_begin(json);
    for (uint32_t i = 0; i < row_count; i++) {
        json_array_begin(json);
        for (uint32_t j = 0; j < column_count; j++)
            json_int(json, cells[(size_t)rows->values[i].number * columns->count + columns->values[j].number]);
        json_array_end(json);
    }
    json_array_end(json);
}

static void write_pivot(const struct study *study, struct json *json)
{
    const char *row_key = tool_param_text(study->request, "rows"),
               *column_key = tool_param_text(study->request, "columns");
    struct label_values rows, columns;
    row_key = row_key != NULL && row_key[0] != '\0' ? row_key : "device";
    column_key = column_key != NULL && column_key[0] != '\0' ? column_key : "kind";
    sums_of_label(study, row_key, true, &rows);
    sums_of_label(study, column_key, true, &columns);
    size_t cell_count = (size_t)rows.count * columns.count + 1;
    int64_t *totals = arena_array(study->arena, int64_t, cell_count),
            *counts = arena_array(study->arena, int64_t, cell_count);
    for (uint32_t i = 0; i < study->sample_count; i++) {
        uint32_t set = study->pprof->label_sets[study->samples[i].at];
        size_t cell = (size_t)rows.of_sets[set] * columns.count + columns.of_sets[set];
        totals[cell] = pprof_add(totals[cell], study_value(study, &study->samples[i]));
        counts[cell] = pprof_add(counts[cell], study_count(study, &study->samples[i]));
    }
    qsort(rows.values, rows.count, sizeof(*rows.values), by_text);
    qsort(columns.values, columns.count, sizeof(*columns.values), by_text);
    uint32_t row_count = rows.count < VALUES_MAX ? rows.count : VALUES_MAX;
    uint32_t column_count = columns.count < VALUES_MAX ? columns.count : VALUES_MAX;
    json_key(json, "pivot");
    json_object_begin(json);
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
    struct study study;
    if (!study_open(request, &study, err))
        return false;
    json_object_begin(json);
    study_write(&study, json);
    write_keys(&study, json);
    write_pivot(&study, json);
    json_object_end(json);
    device_memory_notes_add(&study);
    return true;
}
