/* SPDX-License-Identifier: Apache-2.0
 * summary.c: the view "summary": totals, devices, kinds, and the call sites that hold most. */
#include "tool/device_memory/notes.h"
#include "tool/device_memory/sites.h"
#include "tool/device_memory/sums.h"
#include "tool/device_memory/views.h"

#include <stdlib.h>

enum { TOP_COUNT = 3 };

static void write_shares(const char *key, const struct label_values *label, struct json *json)
{
    json_key(json, key);
    json_array_begin(json);
    for (uint32_t i = 0; i < label->count; i++) {
        json_object_begin(json);
        json_key_string(json, "name", label->values[i].text);
        json_key_int(json, "total", label->values[i].total);
        json_key_int(json, "count", label->values[i].count);
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- call sites ---- */

struct ranked {
    uint32_t site;
    struct sums_row sum;
};

static int larger_site_first(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    int64_t x = pprof_size(a->sum.self), y = pprof_size(b->sum.self);
    return x != y ? (x < y ? 1 : -1) : (a->site > b->site) - (a->site < b->site);
}

static void write_top(const struct study *study, struct json *json)
{
    struct sites sites;
    struct study_walk walk;
    struct ranked *ranked = arena_array(study->arena, struct ranked, (size_t)study->sample_count + 1);
    int64_t rest = study->total;
    sites_init(&sites, study->arena);
    study_walk_init(study, &walk);
    for (uint32_t i = 0; i < study->sample_count; i++) {
        study_walk_to(study, &study->samples[i], &walk);
        uint32_t at = sites_of(&sites, study, &walk);
        ranked[at].site = at;
        sums_add(study, &study->samples[i], true, &ranked[at].sum);
    }
    qsort(ranked, sites.table.count, sizeof(*ranked), larger_site_first);
    json_key(json, "top");
    json_array_begin(json);
    for (uint32_t i = 0; i < TOP_COUNT && i < sites.table.count && ranked[i].sum.self != 0; i++) {
        json_object_begin(json);
        sites_write(&sites, ranked[i].site, study, json);
        json_key_int(json, "self", ranked[i].sum.self);
        json_key(json, "percent");
        json_double(json, study_percent(ranked[i].sum.self, study->percent_base));
        json_key_int(json, "count", pprof_add(ranked[i].sum.count, ranked[i].sum.executable_count));
        json_object_end(json);
        rest = pprof_add(rest, pprof_negated(ranked[i].sum.self));
    }
    json_array_end(json);
    json_key_int(json, "rest", rest);
}

/* ---- totals ---- */

static int64_t total_of(const struct study *study, const struct pprof *pprof)
{
    uint32_t column = PPROF_NONE;
    int64_t total = 0;
    for (uint32_t i = 0; i < pprof->type_count; i++)
        if (str_equal(pprof->types[i].name, study->pprof->types[study->metric].name))
            column = i;
    for (uint32_t i = 0; column != PPROF_NONE && i < pprof->sample_count; i++)
        total = pprof_add(total, pprof->values[(size_t)i * pprof->type_count + column]);
    return total;
}

static void write_profiles(const struct study *study, struct json *json)
{
    const struct profile_set *set = study->request->model;
    json_key(json, "profiles");
    json_array_begin(json);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct profile_set_item *item = &set->items[i];
        json_object_begin(json);
        json_key_text(json, "id", item->id);
        json_key_text(json, "name", item->name);
        json_key_text(json, "role", item->is_base ? "base" : "profile");
        json_key_uint(json, "size_bytes", item->size_bytes);
        json_key_known(json, "captured_at_ms", item->captured_at_ms > 0 ? item->captured_at_ms : -1);
        json_key_text(json, "captured_at_from", item->captured_from);
        json_key_known(json, "sample_count", item->pprof != NULL ? (int64_t)item->pprof->sample_count : -1);
        json_key_int(json, "total", item->pprof != NULL ? total_of(study, item->pprof) : 0);
        json_object_end(json);
    }
    json_array_end(json);
    json_key(json, "sample_types");
    json_array_begin(json);
    for (uint32_t i = 0; i < study->pprof->type_count; i++) {
        json_object_begin(json);
        json_key_string(json, "name", study->pprof->types[i].name);
        json_key_string(json, "unit", study->pprof->types[i].unit);
        json_object_end(json);
    }
    json_array_end(json);
}

static struct label_value value_named(const struct label_values *label, struct str name)
{
    for (uint32_t i = 0; i < label->count; i++)
        if (str_equal(label->values[i].text, name))
            return label->values[i];
    return (struct label_value){{"", 0}, 0, 0, 0};
}

static void write_sides(const struct study *study, struct json *json)
{
    int64_t before = 0;
    for (uint32_t i = 0; i < study->sample_count; i++)
        if (study_is_base(study, &study->samples[i]))
            before = pprof_add(before, pprof_negated(study_value(study, &study->samples[i])));
    if (study->is_diff) {
        json_key_int(json, "before_total", before);
        json_key_int(json, "after_total", pprof_add(study->total, before));
    } else {
        json_key_null(json, "before_total");
        json_key_null(json, "after_total");
    }
}

bool device_memory_summary(const struct tool_request *request, struct json *json, struct err *err)
{
    struct study study;
    struct label_values devices, kinds;
    if (!study_open(request, &study, err))
        return false;
    sums_of_label(&study, "device", false, &devices);
    sums_of_label(&study, "kind", false, &kinds);
    sums_rank_label(&devices);
    sums_rank_label(&kinds);
    const struct label_value executables = value_named(&kinds, STR("executable"));
    json_object_begin(json);
    study_write(&study, json);
    write_profiles(&study, json);
    json_key_int(json, "buffer_count", value_named(&kinds, STR("buffer")).count);
    json_key_int(json, "executable_count", executables.count);
    json_key_int(json, "executable_unknown_count", study.unknown_count);
    json_key_int(json, "executable_total", executables.total);
    json_key_uint(json, "stackless_count", study.stackless_count);
    json_key_uint(json, "sample_count", study.sample_count);
    json_key_bool(json, "has_source", ((const struct profile_set *)request->model)->has_source);
    write_shares("devices", &devices, json);
    write_shares("kinds", &kinds, json);
    write_top(&study, json);
    write_sides(&study, json);
    json_object_end(json);
    device_memory_notes_add(&study);
    return true;
}
