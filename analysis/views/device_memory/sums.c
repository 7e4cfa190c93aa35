/* SPDX-License-Identifier: Apache-2.0 */
#include "views/device_memory/sums.h"
#include "views/device_memory/frames_write.h"

#include <stdlib.h>

void sums_add(const struct model *model, const struct model_sample *sample, bool is_leaf, struct sums_row *row)
{
    int64_t value = model_value(model, sample), each;
    bool is_executable = model->is_executable[model->pprof->label_sets[sample->at]];
    row->total = pprof_add(row->total, value);
    int64_t *count = is_executable ? &row->executable_count : &row->count;
    *count = pprof_add(*count, model_count(model, sample));
    if (is_leaf)
        row->self = pprof_add(row->self, value);
    if (model->is_diff && model_is_base(model, sample)) {
        row->before_total = pprof_add(row->before_total, pprof_negated(value));
        row->before_self = is_leaf ? pprof_add(row->before_self, pprof_negated(value)) : row->before_self;
    }
    if (model_each(model, sample, &each) && !(is_executable && each == 0)) { /* 0: a GPU does not tell its size */
        row->each_min = row->each_min < 0 || each < row->each_min ? each : row->each_min;
        row->each_max = each > row->each_max ? each : row->each_max;
    }
}

void sums_make(const struct model *model, struct sums *sums)
{
    uint32_t frame_count = model->frames->table.count;
    uint32_t *seen = arena_array(model->arena, uint32_t, frame_count); /* the last sample that met it, plus 1 */
    struct model_walk walk;
    sums->model = model;
    sums->rows = arena_array(model->arena, struct sums_row, frame_count);
    sums->listed = arena_array(model->arena, uint32_t, frame_count);
    sums->listed_count = 0;
    for (uint32_t i = 0; i < frame_count; i++)
        sums->rows[i].each_min = sums->rows[i].each_max = -1;
    model_walk_init(model, &walk);
    for (uint32_t i = 0; i < model->sample_count; i++) {
        const struct model_sample *sample = &model->samples[i];
        model_walk_to(model, sample, &walk);
        uint32_t leaf = walk.frames[walk.count - 1];
        seen[leaf] = i + 1;
        sums_add(model, sample, true, &sums->rows[leaf]);
        for (uint32_t at = 0; at + 1 < walk.count; at++) {
            uint32_t frame = walk.frames[at];
            if (seen[frame] == i + 1)
                continue;
            seen[frame] = i + 1;
            sums_add(model, sample, false, &sums->rows[frame]);
        }
    }
    for (uint32_t i = 0; i < frame_count; i++)
        if (seen[i] > 0)
            sums->listed[sums->listed_count++] = i;
}

const char *sums_change(int64_t before, int64_t after)
{
    if (before == after)
        return "same";
    return before == 0 ? "new" : after == 0 ? "gone" : after > before ? "grown" : "shrunk";
}

void sums_sides_write(const struct model *model, const struct sums_row *row, struct json *json)
{
    if (!model->is_diff)
        return;
    int64_t after_total = pprof_add(row->total, row->before_total);
    json_key_int(json, "before_self", row->before_self);
    json_key_int(json, "before_total", row->before_total);
    json_key_int(json, "after_self", pprof_add(row->self, row->before_self));
    json_key_int(json, "after_total", after_total);
    json_key_text(json, "change", sums_change(row->before_total, after_total));
}

/* ---- call sites ---- */

struct same_key {
    const struct sites *sites;
    struct sites_key key;
};

static bool is_key(const void *context, uint64_t at)
{
    const struct same_key *same = context;
    const struct sites_key *known = &same->sites->keys[at];
    return known->frame == same->key.frame && str_equal(known->callee, same->key.callee);
}

void sums_sites_init(struct sites *sites, struct arena *arena)
{
    *sites = (struct sites){.arena = arena};
    map_init(&sites->table, arena, 0);
}

/* "mm" of PyTorch's "at::_ops::mm::call(at::Tensor const&, at::Tensor const&)", else the function's name. */
static struct str callee_words(struct str function)
{
    const struct str head = STR("at::_ops::");
    if (!str_starts(function, head))
        return function;
    struct str name = {function.data + head.length, 0};
    while (head.length + name.length < function.length && name.data[name.length] != ':')
        name.length++;
    return name;
}

uint32_t sums_site_of(struct sites *sites, const struct model *model, const struct model_walk *walk)
{
    struct same_key same = {sites, {walk->frames[walk->count - 1], {"", 0}}};
    if (walk->callee != PPROF_NONE)
        same.key.callee = callee_words(model->pprof->functions[model->pprof->lines[walk->callee].function].name);
    uint64_t hash = map_hash_text(sites->arena, same.key.callee, same.key.frame);
    bool is_new;
    uint32_t at = map_number(&sites->table, hash, is_key, &same, &is_new);
    if (!is_new)
        return at;
    sites->keys = arena_grown(sites->arena, sites->keys, (size_t)at + 1, &sites->capacity, sizeof(*sites->keys));
    sites->keys[at] = same.key;
    return at;
}

void sums_site_write(const struct sites *sites, uint32_t at, const struct model *model, struct json *json)
{
    const struct sites_key *key = &sites->keys[at];
    json_key(json, "frame");
    frames_write(model->frames, key->frame, model->request->scratch, json);
    json_key_string_if_any(json, "callee", key->callee);
}

/* ---- labels ---- */

void sums_of_label(const struct model *model, const char *key, bool counts_absent, struct label_values *label)
{
    const struct pprof *pprof = model->pprof;
    struct intern texts;
    intern_init(&texts, model->arena);
    label->values = arena_array(model->arena, struct label_value, (size_t)pprof->set_count + 1);
    label->of_sets = arena_array(model->arena, uint32_t, (size_t)pprof->set_count + 1);
    for (uint32_t set = 0; set < pprof->set_count; set++) {
        struct str text = chips_label_text(pprof, set, key, model->request->scratch);
        label->of_sets[set] = text.length == 0 && !counts_absent ? MAP_NONE : intern_number(&texts, text);
    }
    label->count = texts.map.count;
    for (uint32_t i = 0; i < label->count; i++)
        label->values[i] = (struct label_value){.text = texts.items[i], .number = i};
    for (uint32_t i = 0; i < model->sample_count; i++) {
        uint32_t at = label->of_sets[pprof->label_sets[model->samples[i].at]];
        if (at == MAP_NONE)
            continue;
        label->values[at].total = pprof_add(label->values[at].total, model_value(model, &model->samples[i]));
        label->values[at].count = pprof_add(label->values[at].count, model_count(model, &model->samples[i]));
    }
}

static int larger_first(const void *left, const void *right)
{
    const struct label_value *a = left, *b = right;
    return ORDER(pprof_size(b->total), pprof_size(a->total)) ?: str_compare(a->text, b->text);
}

void sums_rank_label(struct label_values *label)
{
    qsort(label->values, label->count, sizeof(*label->values), larger_first);
}
