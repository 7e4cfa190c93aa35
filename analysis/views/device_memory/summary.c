/* SPDX-License-Identifier: Apache-2.0
 * summary.c: the view "summary": totals, devices, kinds, and the call sites that hold most. */
#include "views/device_memory/sums.h"
#include "views/device_memory/views.h"

#include <stdlib.h>

enum { TOP_COUNT = 3 };

static void write_shares(const char *key, const struct label_values *label, struct json *json)
{
    json_key_array(json, key);
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

struct summary_ranked {
    uint32_t site;
    struct sums_row sum;
};

static int larger_site_first(const void *left, const void *right)
{
    const struct summary_ranked *a = left, *b = right;
    return ORDER(pprof_size(b->sum.self), pprof_size(a->sum.self)) ?: ORDER(a->site, b->site);
}

static void write_top(const struct model *model, struct json *json)
{
    struct sites sites;
    struct model_walk walk;
    struct summary_ranked *ranked = arena_array(model->arena, struct summary_ranked, (size_t)model->sample_count + 1);
    int64_t rest = model->total;
    sums_sites_init(&sites, model->arena);
    model_walk_init(model, &walk);
    for (uint32_t i = 0; i < model->sample_count; i++) {
        model_walk_to(model, &model->samples[i], &walk);
        uint32_t at = sums_site_of(&sites, model, &walk);
        ranked[at].site = at;
        sums_add(model, &model->samples[i], true, &ranked[at].sum);
    }
    qsort(ranked, sites.table.count, sizeof(*ranked), larger_site_first);
    json_key_array(json, "top");
    for (uint32_t i = 0; i < TOP_COUNT && i < sites.table.count && ranked[i].sum.self != 0; i++) {
        json_object_begin(json);
        sums_site_write(&sites, ranked[i].site, model, json);
        json_key_int(json, "self", ranked[i].sum.self);
        json_key_double(json, "percent", model_percent(ranked[i].sum.self, model->percent_base));
        json_key_int(json, "count", pprof_add(ranked[i].sum.count, ranked[i].sum.executable_count));
        json_object_end(json);
        rest = pprof_add(rest, pprof_negated(ranked[i].sum.self));
    }
    json_array_end(json);
    json_key_int(json, "rest", rest);
}

/* ---- totals ---- */

static int64_t total_of(const struct model *model, const struct pprof *pprof)
{
    uint32_t column = PPROF_NONE;
    int64_t total = 0;
    for (uint32_t i = 0; i < pprof->type_count; i++)
        if (str_equal(pprof->types[i].name, model->pprof->types[model->metric].name))
            column = i;
    for (uint32_t i = 0; column != PPROF_NONE && i < pprof->sample_count; i++)
        total = pprof_add(total, pprof->values[(size_t)i * pprof->type_count + column]);
    return total;
}

static void write_moment(const struct profile_set_moment *moment, struct json *json)
{
    if (!json_key_object_if(json, "moment", moment != NULL))
        return;
    json_key_string(json, "memory", moment->memory);
    json_key_text(json, "text", moment->text);
    json_key_text(json, "words", moment->words);
    json_key_int(json, "time_ps", moment->time_ps);
    json_key_known(json, "event", moment->event);
    json_key_int(json, "in_use_bytes", moment->in_use_bytes);
    json_object_end(json);
}

/* How many there are of what is measured, filters applied; the base's are taken away. */
static int64_t allocation_count(const struct model *model)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < model->sample_count; i++)
        count = pprof_add(count, model_count(model, &model->samples[i]));
    return count;
}

static void write_profiles(const struct model *model, struct json *json)
{
    const struct profile_set *set = model->request->model;
    json_key_array(json, "profiles");
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
        json_key_int(json, "total", item->pprof != NULL ? total_of(model, item->pprof) : 0);
        write_moment(item->moment, json);
        json_object_end(json);
    }
    json_array_end(json);
    json_key_array(json, "sample_types");
    for (uint32_t i = 0; i < model->pprof->type_count; i++) {
        json_object_begin(json);
        json_key_string(json, "name", model->pprof->types[i].name);
        json_key_string(json, "unit", model->pprof->types[i].unit);
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

static void write_sides(const struct model *model, struct json *json)
{
    int64_t before = 0;
    for (uint32_t i = 0; i < model->sample_count; i++)
        if (model_is_base(model, &model->samples[i]))
            before = pprof_add(before, pprof_negated(model_value(model, &model->samples[i])));
    if (model->is_diff) {
        json_key_int(json, "before_total", before);
        json_key_int(json, "after_total", pprof_add(model->total, before));
    }
}

bool device_memory_summary(const struct tool_request *request, struct json *json, struct err *err)
{
    struct model model;
    struct label_values devices, kinds;
    if (!model_open(request, &model, err))
        return false;
    sums_of_label(&model, "device", false, &devices);
    sums_of_label(&model, "kind", false, &kinds);
    sums_rank_label(&devices);
    sums_rank_label(&kinds);
    const struct label_value executables = value_named(&kinds, STR("executable"));
    model_begin(&model, json);
    write_profiles(&model, json);
    json_key_int(json, "buffer_count", value_named(&kinds, STR("buffer")).count);
    json_key_int(json, "executable_count", executables.count);
    json_key_int(json, "executable_unknown_count", model.unknown_count);
    json_key_int(json, "executable_total", executables.total);
    json_key_uint(json, "stackless_count", model.stackless_count);
    json_key_uint(json, "sample_count", model.sample_count);
    if (model.counting != PPROF_NONE)
        json_key_int(json, "allocation_count", allocation_count(&model));
    json_key_bool(json, "has_source", ((const struct profile_set *)request->model)->has_source);
    write_shares("devices", &devices, json);
    write_shares("kinds", &kinds, json);
    write_top(&model, json);
    write_sides(&model, json);
    return model_end(&model, json);
}
