/* SPDX-License-Identifier: Apache-2.0
 * summary.c: the view "summary": totals, devices, kinds, and the call sites that hold most. */
#include "tool/device_memory/labels.h"
#include "tool/device_memory/notes.h"
#include "tool/device_memory/sites.h"
#include "tool/device_memory/sums.h"
#include "tool/device_memory/views.h"

#include <stdlib.h>

enum { TOP_COUNT = 3 };

struct share {
    struct str name;
    int64_t total, count;
};

static int larger_first(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    if (a->total != b->total)
        return pprof_size(a->total) < pprof_size(b->total) ? 1 : -1;
    return str_compare(a->name, b->name);
}

struct same_name {
    const struct share *shares;
    struct str name;
};

static bool is_name(const void *context, uint32_t at)
{
    const struct same_name *same = context;
    return str_equal(same->shares[at].name, same->name);
}

/* Sums by the values of a label; samples without it are left out. */
static uint32_t shares_of(const struct study *study, const char *key, struct share **shares)
{
    const struct pprof *pprof = study->pprof;
    uint32_t *of_sets = arena_array(study->arena, uint32_t, (size_t)pprof->set_count + 1);
    struct intern table;
    intern_init(&table, study->arena);
    *shares = arena_array(study->arena, struct share, (size_t)pprof->set_count + 1);
    for (uint32_t set = 0; set < pprof->set_count; set++) {
        struct same_name same = {*shares, labels_text(pprof, set, key, study->request->scratch)};
        uint64_t hash = intern_hash_text(study->arena, same.name, 0);
        of_sets[set] = same.name.length == 0 ? INTERN_NONE : intern_find(&table, hash, is_name, &same);
        if (same.name.length > 0 && of_sets[set] == INTERN_NONE) {
            of_sets[set] = intern_add(&table, hash);
            (*shares)[of_sets[set]].name = (struct str){arena_text(study->arena, same.name), same.name.length};
        }
    }
    for (uint32_t i = 0; i < study->sample_count; i++) {
        uint32_t at = of_sets[pprof->label_sets[study->samples[i].at]];
        if (at == INTERN_NONE)
            continue;
        (*shares)[at].total = pprof_add((*shares)[at].total, study_value(study, &study->samples[i]));
        (*shares)[at].count = pprof_add((*shares)[at].count, study_count(study, &study->samples[i]));
    }
    qsort(*shares, table.count, sizeof(**shares), larger_first);
    return table.count;
}

static void write_shares(const char *key, const struct share *shares, uint32_t count, struct json *json)
{
    json_key(json, key);
    json_array_begin(json);
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(json);
        json_key_string(json, "name", shares[i].name);
        json_key_int(json, "total", shares[i].total);
        json_key_int(json, "count", shares[i].count);
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

static const struct share *share_named(const struct share *shares, uint32_t count, const char *name)
{
    static const struct share none = {{"", 0}, 0, 0};
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(shares[i].name, str_of(name)))
            return &shares[i];
    return &none;
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
    struct share *devices, *kinds;
    if (!study_open(request, &study, err))
        return false;
    uint32_t device_count = shares_of(&study, "device", &devices), kind_count = shares_of(&study, "kind", &kinds);
    const struct share *executables = share_named(kinds, kind_count, "executable");
    json_object_begin(json);
    study_write(&study, json);
    write_profiles(&study, json);
    json_key_int(json, "buffer_count", share_named(kinds, kind_count, "buffer")->count);
    json_key_int(json, "executable_count", executables->count);
    json_key_int(json, "executable_unknown_count", study.unknown_count);
    json_key_int(json, "executable_total", executables->total);
    json_key_uint(json, "stackless_count", study.stackless_count);
    json_key_uint(json, "sample_count", study.sample_count);
    json_key_bool(json, "has_source", ((const struct profile_set *)request->model)->has_source);
    write_shares("devices", devices, device_count, json);
    write_shares("kinds", kinds, kind_count, json);
    write_top(&study, json);
    write_sides(&study, json);
    json_object_end(json);
    device_memory_notes_add(&study);
    return true;
}
