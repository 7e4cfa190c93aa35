/* SPDX-License-Identifier: Apache-2.0
 * study.c: see study.h. */
#include "tool/device_memory/study.h"

#include "tool/device_memory/labels.h"
#include "tool/device_memory/merge.h"
#include "tool/device_memory/narrow.h"
#include "tool/device_memory/prune.h"

static bool read_switch(const struct tool_request *request, const char *name, bool default_value, bool *value,
                        struct err *err)
{
    int64_t number;
    if (!tool_param_number(request, name, 0, 1, default_value, &number, err))
        return false;
    *value = number == 1;
    return true;
}

/* What goes with the metric: how many, and their bytes. Go writes what was ever allocated before what is in use. */
static void find_pair(struct study *study)
{
    const struct pprof *pprof = study->pprof;
    uint32_t ever_bytes = profile_set_type(pprof, "alloc_space"), ever_count = profile_set_type(pprof, "alloc_objects");
    bool is_ever = study->metric == ever_bytes || study->metric == ever_count;
    if (is_ever && ever_bytes != PPROF_NONE && ever_count != PPROF_NONE) {
        study->counting = ever_count;
        study->sizing = ever_bytes;
    } else if (str_equal(pprof->types[study->metric].unit, STR("bytes"))) {
        study->sizing = study->metric;
    }
}

/* The column to sum: bytes, count, or a type's name. */
static bool find_metric(struct study *study, struct err *err)
{
    const struct pprof *pprof = study->pprof;
    const char *wanted = tool_param_text(study->request, "metric");
    uint32_t bytes = profile_set_type_of_unit(pprof, "bytes"), in_use = profile_set_type(pprof, "inuse_space");
    study->counting = profile_set_type_of_unit(pprof, "count");
    if (in_use != PPROF_NONE) {
        bytes = in_use;
        uint32_t objects = profile_set_type(pprof, "inuse_objects");
        study->counting = objects != PPROF_NONE ? objects : study->counting;
    }
    study->sizing = bytes;
    if (wanted == NULL || wanted[0] == '\0' || strcmp(wanted, "bytes") == 0) {
        study->metric = bytes != PPROF_NONE ? bytes : pprof->default_type;
    } else {
        study->metric = profile_set_type(pprof, wanted);
        if (study->metric == PPROF_NONE && strcmp(wanted, "count") == 0)
            study->metric = study->counting;
    }
    if (study->metric != PPROF_NONE) {
        find_pair(study);
        return true;
    }
    struct str known = pprof->types[0].name;
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "metric: \"%.40s\" is no sample type; the first is %.*s", wanted,
                   (int)(known.length < 40 ? known.length : 40), known.data);
}

/* What 100 % is: all sizes without their signs; with a base, the base's. */
static int64_t find_percent_base(const struct study *study)
{
    int64_t all = 0, base = 0;
    for (uint32_t i = 0; i < study->pprof->sample_count; i++) {
        struct study_sample sample = {i, 0};
        int64_t size = pprof_size(study_value(study, &sample));
        all = pprof_add(all, size);
        if (study->is_paired)
            base = pprof_add(base, pprof_size(study_before(study, &sample, study->metric)));
        else if (study->is_diff && study_is_base(study, &sample))
            base = pprof_add(base, size);
    }
    return base > 0 ? base : all;
}

static bool any_base(const struct profile_set *set)
{
    bool has_base = false;
    for (uint32_t i = 0; i < set->count; i++)
        has_base |= set->items[i].is_base;
    return has_base;
}

/* The one profile of a set, or all of them as one. */
static bool find_profile(struct study *study, struct err *err)
{
    const struct profile_set *set = study->request->model;
    bool subtracts = false, is_normalized = false;
    if (!read_switch(study->request, "subtract", false, &subtracts, err) ||
        !read_switch(study->request, "normalize", false, &is_normalized, err))
        return false;
    if (is_normalized && !any_base(set))
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "normalize wants a base to be normalized by");
    study->is_diff = any_base(set) && !subtracts;
    study->is_paired &= study->is_diff;
    if (set->count == 1) {
        study->pprof = set->items[0].pprof;
        return study->pprof != NULL || err_set(err, ERR_notfound, ERR_NO_OFFSET, "%s", set->items[0].reason);
    }
    struct pprof *merged = arena_array(study->arena, struct pprof, 1);
    struct merge_options options = {!subtracts && !study->is_paired, study->is_paired, is_normalized};
    study->pprof = merged;
    return merge_profiles(set, &options, study->arena, merged, err);
}

static bool prepare(struct study *study, struct err *err)
{
    bool shows_machinery, is_strict;
    const struct pprof *whole = study->pprof;
    study->pprof = prune(whole, study->arena);
    study->is_unpruned = whole->drop_frames.length > 0 && study->pprof == whole;
    if (!find_metric(study, err) || !read_switch(study->request, "machinery", false, &shows_machinery, err) ||
        !read_switch(study->request, "noinlines", false, &study->drops_inlined, err) ||
        !read_switch(study->request, "strict", false, &is_strict, err))
        return false;
    study->folds = !shows_machinery;
    study->percent_base = find_percent_base(study);
    chips_read(study->request, &study->chips);
    for (uint32_t i = 0; is_strict && i < study->chips.count; i++) {
        const struct chip *chip = &study->chips.items[i];
        if (chip->is_literal)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "\"%.80s\": %s, at %zu", chip->expression,
                           chip->fault.text, chip->fault.at);
    }
    const bool *keep = labels_keep(&study->chips, study->pprof, study->arena, err);
    if (err_is_set(err))
        return false;
    narrow(study, keep);
    study->is_executable = arena_array(study->arena, bool, (size_t)study->pprof->set_count + 1);
    for (uint32_t set = 0; set < study->pprof->set_count; set++)
        study->is_executable[set] =
            str_equal(labels_text(study->pprof, set, "kind", study->request->scratch), STR("executable"));
    chips_find_nearest(&study->chips, study->pprof, study->arena);
    for (uint32_t i = 0; i < study->sample_count; i++) {
        const struct study_sample *sample = &study->samples[i];
        study->total = pprof_add(study->total, study_value(study, sample));
        if (study_is_unknown(study, sample))
            study->unknown_count = pprof_add(study->unknown_count, study_count(study, sample));
        study->stackless_count += sample->depth == 0;
    }
    return true;
}

bool study_open_one(const struct tool_request *request, const struct pprof *pprof, struct frames *frames,
                    struct study *study, struct err *err)
{
    bool ignored; /* one profile has nothing to subtract, but a fault in a parameter is still one */
    *study = (struct study){.request = request, .arena = request->arena, .pprof = pprof, .frames = frames};
    return read_switch(request, "subtract", false, &ignored, err) &&
           read_switch(request, "normalize", false, &ignored, err) && prepare(study, err);
}

static bool open_all(const struct tool_request *request, bool is_paired, struct study *study, struct err *err)
{
    const char *by_text = tool_param_text(request, "by");
    enum frames_by by = FRAMES_BY_LINE;
    *study = (struct study){.request = request, .arena = request->arena, .is_paired = is_paired};
    if (by_text != NULL && by_text[0] != '\0' && !frames_by_read(by_text, &by))
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "by: \"%.40s\" is none of function, filefunction, file, line",
                       by_text);
    study->frames = arena_array(request->arena, struct frames, 1);
    frames_init(study->frames, by, request->arena);
    return find_profile(study, err) && prepare(study, err);
}

bool study_open(const struct tool_request *request, struct study *study, struct err *err)
{
    return open_all(request, false, study, err);
}

bool study_open_paired(const struct tool_request *request, struct study *study, struct err *err)
{
    return open_all(request, true, study, err);
}

/* ---- stacks ---- */

void study_walk_init(const struct study *study, struct study_walk *walk)
{
    *walk = (struct study_walk){.frames = arena_array(study->arena, uint32_t, study->depth_max),
                                .folded = arena_array(study->arena, uint32_t, study->depth_max)};
}

void study_walk_to(const struct study *study, const struct study_sample *sample, struct study_walk *walk)
{
    const uint32_t *stack = study->pprof->stacks + study->pprof->stack_starts[sample->at];
    uint32_t folded = 0, count = 0;
    walk->callee = PPROF_NONE;
    arena_work(study->arena, sample->depth + 1);
    for (uint32_t i = sample->depth; i-- > 0;) {
        uint32_t location = stack[i];
        arena_work(study->arena, study->step_starts[location + 1] - study->step_starts[location]); /* inlined lines */
        for (uint32_t step = study->step_starts[location]; step < study->step_starts[location + 1]; step++) {
            uint32_t frame = study->steps[step];
            if (study->folds && (frame & STUDY_MACHINERY)) {
                folded++;
                if (walk->callee == PPROF_NONE &&
                    !study->is_wrapper[study->pprof->lines[study->step_lines[step]].function])
                    walk->callee = study->step_lines[step];
                continue;
            }
            walk->callee = PPROF_NONE;
            walk->frames[count] = frame & ~STUDY_MACHINERY;
            walk->folded[count++] = folded;
            folded = 0;
        }
    }
    walk->folded_below = folded;
    if (count == 0) {
        walk->frames[count] = sample->depth == 0 ? FRAMES_NO_STACK : FRAMES_NO_USER;
        walk->folded[count++] = 0;
    }
    walk->count = count;
}

/* ---- figures ---- */

bool study_each(const struct study *study, const struct study_sample *sample, int64_t *each_bytes)
{
    const struct pprof *pprof = study->pprof;
    const int64_t *values = pprof->values + (size_t)sample->at * pprof->type_count;
    if (study->sizing == PPROF_NONE || study->counting == PPROF_NONE || study_is_unknown(study, sample) ||
        study_before(study, sample, study->counting) != 0) /* two sides, two sizes */
        return false;
    int64_t bytes = values[study->sizing], count = values[study->counting];
    if (count < 0) { /* of a base; the least number divided by -1 would be none */
        bytes = pprof_negated(bytes);
        count = pprof_negated(count);
    }
    if (count == 0 || bytes % count != 0)
        return false;
    *each_bytes = bytes / count;
    return *each_bytes >= 0;
}

double study_percent(int64_t value, int64_t whole) { return whole == 0 ? 0 : (double)value / (double)whole * 100; }

void study_write(const struct study *study, struct json *json)
{
    const struct pprof_type *type = &study->pprof->types[study->metric];
    json_key(json, "metric");
    json_object_begin(json);
    json_key_string(json, "name", type->name);
    json_key_string(json, "unit", type->unit);
    json_object_end(json);
    json_key_bool(json, "is_diff", study->is_diff);
    json_key_int(json, "percent_base", study->percent_base);
    json_key_int(json, "total", study->total);
    chips_write(&study->chips, json);
}
