/* SPDX-License-Identifier: Apache-2.0
 * sums.c: see sums.h. */
#include "tool/device_memory/sums.h"

#include "tool/device_memory/labels.h"

#include <stdlib.h>

void sums_add(const struct study *study, const struct study_sample *sample, bool is_leaf, struct sums_row *row)
{
    int64_t value = study_value(study, sample), each;
    row->total = pprof_add(row->total, value);
    int64_t *count = study->is_executable[study->pprof->label_sets[sample->at]] ? &row->executable_count : &row->count;
    *count = pprof_add(*count, study_count(study, sample));
    if (is_leaf)
        row->self = pprof_add(row->self, value);
    if (study->is_diff && study_is_base(study, sample)) {
        row->before_total = pprof_add(row->before_total, pprof_negated(value));
        row->before_self = is_leaf ? pprof_add(row->before_self, pprof_negated(value)) : row->before_self;
    }
    if (study_each(study, sample, &each)) {
        row->each_min = row->each_min < 0 || each < row->each_min ? each : row->each_min;
        row->each_max = each > row->each_max ? each : row->each_max;
    }
}

void sums_make(const struct study *study, struct sums *sums)
{
    uint32_t frame_count = study->frames->table.count;
    uint32_t *seen = arena_array(study->arena, uint32_t, frame_count); /* the last sample that met it, plus 1 */
    struct study_walk walk;
    sums->study = study;
    sums->rows = arena_array(study->arena, struct sums_row, frame_count);
    sums->listed = arena_array(study->arena, uint32_t, frame_count);
    sums->listed_count = 0;
    for (uint32_t i = 0; i < frame_count; i++)
        sums->rows[i].each_min = sums->rows[i].each_max = -1;
    study_walk_init(study, &walk);
    for (uint32_t i = 0; i < study->sample_count; i++) {
        const struct study_sample *sample = &study->samples[i];
        study_walk_to(study, sample, &walk);
        uint32_t leaf = walk.frames[walk.count - 1];
        seen[leaf] = i + 1;
        sums_add(study, sample, true, &sums->rows[leaf]);
        for (uint32_t at = 0; at + 1 < walk.count; at++) {
            uint32_t frame = walk.frames[at];
            if (seen[frame] == i + 1)
                continue;
            seen[frame] = i + 1;
            sums_add(study, sample, false, &sums->rows[frame]);
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

void sums_sides_write(const struct study *study, const struct sums_row *row, struct json *json)
{
    if (!study->is_diff)
        return;
    int64_t after_total = pprof_add(row->total, row->before_total);
    json_key_int(json, "before_self", row->before_self);
    json_key_int(json, "before_total", row->before_total);
    json_key_int(json, "after_self", pprof_add(row->self, row->before_self));
    json_key_int(json, "after_total", after_total);
    json_key_text(json, "change", sums_change(row->before_total, after_total));
}

/* ---- labels ---- */

void sums_of_label(const struct study *study, const char *key, bool counts_absent, struct label_values *label)
{
    const struct pprof *pprof = study->pprof;
    struct intern texts;
    intern_init(&texts, study->arena);
    label->values = arena_array(study->arena, struct label_value, (size_t)pprof->set_count + 1);
    label->of_sets = arena_array(study->arena, uint32_t, (size_t)pprof->set_count + 1);
    for (uint32_t set = 0; set < pprof->set_count; set++) {
        struct str text = labels_text(pprof, set, key, study->request->scratch);
        label->of_sets[set] = text.length == 0 && !counts_absent ? MAP_NONE : intern_number(&texts, text);
    }
    label->count = texts.map.count;
    for (uint32_t i = 0; i < label->count; i++)
        label->values[i] = (struct label_value){.text = texts.items[i], .number = i};
    for (uint32_t i = 0; i < study->sample_count; i++) {
        uint32_t at = label->of_sets[pprof->label_sets[study->samples[i].at]];
        if (at == MAP_NONE)
            continue;
        label->values[at].total = pprof_add(label->values[at].total, study_value(study, &study->samples[i]));
        label->values[at].count = pprof_add(label->values[at].count, study_count(study, &study->samples[i]));
    }
}

static int larger_first(const void *left, const void *right)
{
    const struct label_value *a = left, *b = right;
    int64_t x = pprof_size(a->total), y = pprof_size(b->total);
    return x != y ? (x < y ? 1 : -1) : str_compare(a->text, b->text);
}

void sums_rank_label(struct label_values *label)
{
    qsort(label->values, label->count, sizeof(*label->values), larger_first);
}
