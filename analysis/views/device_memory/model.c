/* SPDX-License-Identifier: Apache-2.0 */
#include "views/device_memory/model.h"

#include "model/device_memory/columns.h"
#include "model/device_memory/merge.h"
#include "views/device_memory/narrow.h"

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
static void find_pair(struct model *model)
{
    const struct pprof *pprof = model->pprof;
    uint32_t ever_bytes = columns_named(pprof, "alloc_space"), ever_count = columns_named(pprof, "alloc_objects");
    bool is_ever = model->metric == ever_bytes || model->metric == ever_count;
    if (is_ever && ever_bytes != PPROF_NONE && ever_count != PPROF_NONE) {
        model->counting = ever_count;
        model->sizing = ever_bytes;
    } else if (str_equal(pprof->types[model->metric].unit, STR("bytes"))) {
        model->sizing = model->metric;
    }
}

/* The column to sum: bytes, count, or a type's name. */
static bool find_metric(struct model *model, struct err *err)
{
    const struct pprof *pprof = model->pprof;
    const char *wanted = tool_param_text(model->request, "metric");
    uint32_t bytes = columns_of_unit(pprof, "bytes"), in_use = columns_named(pprof, "inuse_space");
    model->counting = columns_of_unit(pprof, "count");
    if (in_use != PPROF_NONE) {
        bytes = in_use;
        uint32_t objects = columns_named(pprof, "inuse_objects");
        model->counting = objects != PPROF_NONE ? objects : model->counting;
    }
    model->sizing = bytes;
    if (wanted == NULL || wanted[0] == '\0' || strcmp(wanted, "bytes") == 0) {
        model->metric = bytes != PPROF_NONE ? bytes : pprof->default_type;
    } else {
        model->metric = columns_named(pprof, wanted);
        if (model->metric == PPROF_NONE && strcmp(wanted, "count") == 0)
            model->metric = model->counting;
    }
    if (model->metric != PPROF_NONE) {
        find_pair(model);
        return true;
    }
    struct str known = pprof->types[0].name;
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "metric: \"%.40s\" is no sample type; the first is %.*s", wanted,
                   (int)(known.length < 40 ? known.length : 40), known.data);
}

/* What 100 % is: all sizes without their signs; with a base, the base's. */
static int64_t find_percent_base(const struct model *model)
{
    int64_t all = 0, base = 0;
    for (uint32_t i = 0; i < model->pprof->sample_count; i++) {
        struct model_sample sample = {i, 0};
        int64_t size = pprof_size(model_value(model, &sample));
        all = pprof_add(all, size);
        if (model->is_paired)
            base = pprof_add(base, pprof_size(model_before(model, &sample, model->metric)));
        else if (model->is_diff && model_is_base(model, &sample))
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
static bool find_profile(struct model *model, struct err *err)
{
    const struct profile_set *set = model->request->model;
    bool subtracts = false, is_normalized = false;
    if (!read_switch(model->request, "subtract", false, &subtracts, err) ||
        !read_switch(model->request, "normalize", false, &is_normalized, err))
        return false;
    if (is_normalized && !any_base(set))
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "normalize wants a base to be normalized by");
    model->is_diff = any_base(set) && !subtracts;
    model->is_paired &= model->is_diff;
    if (set->count == 1) {
        model->pprof = set->items[0].pprof;
        return model->pprof != NULL || err_set(err, ERR_notfound, ERR_NO_OFFSET, "%s", set->items[0].reason);
    }
    struct pprof *merged = arena_array(model->arena, struct pprof, 1);
    struct merge_options options = {!subtracts && !model->is_paired, model->is_paired, is_normalized};
    model->pprof = merged;
    return merge_profiles(set, &options, model->arena, merged, err);
}

static bool model_prepare(struct model *model, struct err *err)
{
    bool shows_machinery, is_strict;
    const struct pprof *whole = model->pprof;
    model->pprof = narrow_pruned(whole, model->arena);
    model->is_unpruned = whole->drop_frames.length > 0 && model->pprof == whole;
    if (!find_metric(model, err) || !read_switch(model->request, "machinery", false, &shows_machinery, err) ||
        !read_switch(model->request, "noinlines", false, &model->drops_inlined, err) ||
        !read_switch(model->request, "strict", false, &is_strict, err))
        return false;
    model->folds = !shows_machinery;
    model->percent_base = find_percent_base(model);
    chips_read(model->request, &model->chips);
    for (uint32_t i = 0; is_strict && i < model->chips.count; i++) {
        const struct chip *chip = &model->chips.items[i];
        if (chip->is_literal)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "\"%.80s\": %s, at %zu", chip->expression,
                           chip->fault.text, chip->fault.at);
    }
    const bool *keep = chips_keep(&model->chips, model->pprof, model->arena, err);
    if (err_is_set(err))
        return false;
    narrow(model, keep);
    model->is_executable = arena_array(model->arena, bool, (size_t)model->pprof->set_count + 1);
    for (uint32_t set = 0; set < model->pprof->set_count; set++)
        model->is_executable[set] =
            str_equal(chips_label_text(model->pprof, set, "kind", model->request->scratch), STR("executable"));
    chips_find_nearest(&model->chips, model->pprof, model->arena);
    for (uint32_t i = 0; i < model->sample_count; i++) {
        const struct model_sample *sample = &model->samples[i];
        model->total = pprof_add(model->total, model_value(model, sample));
        if (model_is_unknown(model, sample))
            model->unknown_count = pprof_add(model->unknown_count, model_count(model, sample));
        model->stackless_count += sample->depth == 0;
    }
    return true;
}

bool model_open_one(const struct tool_request *request, const struct pprof *pprof, struct frames *frames,
                    struct model *model, struct err *err)
{
    bool ignored; /* one profile has nothing to subtract, but a fault in a parameter is still one */
    *model = (struct model){.request = request, .arena = request->arena, .pprof = pprof, .frames = frames};
    return read_switch(request, "subtract", false, &ignored, err) &&
           read_switch(request, "normalize", false, &ignored, err) && model_prepare(model, err);
}

static bool open_all(const struct tool_request *request, bool is_paired, struct model *model, struct err *err)
{
    enum frames_by by;
    *model = (struct model){.request = request, .arena = request->arena, .is_paired = is_paired};
    if (!frames_by_read(tool_param_text(request, "by"), &by, err))
        return false;
    model->frames = arena_array(request->arena, struct frames, 1);
    frames_init(model->frames, by, request->arena);
    return find_profile(model, err) && model_prepare(model, err);
}

bool model_open(const struct tool_request *request, struct model *model, struct err *err)
{
    return open_all(request, false, model, err);
}

bool model_open_paired(const struct tool_request *request, struct model *model, struct err *err)
{
    return open_all(request, true, model, err);
}

/* ---- stacks ---- */

void model_walk_init(const struct model *model, struct model_walk *walk)
{
    *walk = (struct model_walk){.frames = arena_array(model->arena, uint32_t, model->depth_max),
                                .folded = arena_array(model->arena, uint32_t, model->depth_max)};
}

void model_walk_to(const struct model *model, const struct model_sample *sample, struct model_walk *walk)
{
    const uint32_t *stack = model->pprof->stacks + model->pprof->stack_starts[sample->at];
    uint32_t folded = 0, count = 0;
    walk->callee = PPROF_NONE;
    arena_work(model->arena, sample->depth + 1);
    for (uint32_t i = sample->depth; i-- > 0;) {
        uint32_t location = stack[i];
        arena_work(model->arena, model->step_starts[location + 1] - model->step_starts[location]); /* inlined lines */
        for (uint32_t step = model->step_starts[location]; step < model->step_starts[location + 1]; step++) {
            uint32_t frame = model->steps[step];
            if (model->folds && (frame & MODEL_MACHINERY)) {
                folded++;
                if (walk->callee == PPROF_NONE &&
                    !model->is_wrapper[model->pprof->lines[model->step_lines[step]].function])
                    walk->callee = model->step_lines[step];
                continue;
            }
            walk->callee = PPROF_NONE;
            walk->frames[count] = frame & ~MODEL_MACHINERY;
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

bool model_each(const struct model *model, const struct model_sample *sample, int64_t *each_bytes)
{
    const struct pprof *pprof = model->pprof;
    const int64_t *values = pprof->values + (size_t)sample->at * pprof->type_count;
    if (model->sizing == PPROF_NONE || model->counting == PPROF_NONE || model_is_unknown(model, sample) ||
        model_before(model, sample, model->counting) != 0) /* two sides, two sizes */
        return false;
    int64_t bytes = values[model->sizing], count = values[model->counting];
    if (count < 0) { /* of a base; the least number divided by -1 would be none */
        bytes = pprof_negated(bytes);
        count = pprof_negated(count);
    }
    if (count == 0 || bytes % count != 0)
        return false;
    *each_bytes = bytes / count;
    return *each_bytes >= 0;
}

double model_percent(int64_t value, int64_t whole) { return whole == 0 ? 0 : (double)value / (double)whole * 100; }

void model_begin(const struct model *model, struct json *json)
{
    json_object_begin(json);
    const struct pprof_type *type = &model->pprof->types[model->metric];
    json_key_object(json, "metric");
    json_key_string(json, "name", type->name);
    json_key_string(json, "unit", type->unit);
    json_object_end(json);
    json_key_bool(json, "is_diff", model->is_diff);
    json_key_int(json, "percent_base", model->percent_base);
    json_key_int(json, "total", model->total);
    chips_write(&model->chips, json);
}

/* ---- notes ---- */

static uint64_t size_of(int64_t count) { return (uint64_t)pprof_size(count); }

static void note_negatives(const struct model *model)
{
    uint64_t count = 0;
    for (uint32_t i = 0; !model->is_diff && i < model->sample_count; i++)
        count += model_value(model, &model->samples[i]) < 0 || model_count(model, &model->samples[i]) < 0;
    tool_note(
        model->request, "negative_value", count,
        "Samples with a value below 0: the profile was saved as a difference, or it is damaged. They are summed as "
        "they are.");
}

void model_notes_left_out(const struct tool_request *request)
{
    const struct profile_set *set = request->model;
    uint64_t other_count = 0;
    for (uint32_t i = 0; i < set->count; i++)
        other_count += set->items[i].is_other;
    tool_note(
        request, "not_chosen", other_count,
        "Profiles that are not numbered like the others are not part of the series; you can choose them by hand.");
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].pprof == NULL && !set->items[i].is_other)
            tool_note(request, "left_out", 1,
                      arena_format(request->arena, "%s is left out: %s.", set->items[i].name, set->items[i].reason));
}

static void note_odd(const struct tool_request *request)
{
    const struct profile_set *set = request->model;
    uint64_t count = 0;
    for (uint32_t i = 0; i < set->count; i++)
        count += set->items[i].pprof != NULL ? set->items[i].pprof->odd_count : 0;
    tool_note(
        request, "odd_numbers", count,
        "Numbers that cannot be: they name a text or a frame that is not in the file, a value is missing, or a count "
        "is below 0. A text is left empty, a frame is left out of its stack, a value counts as 0.");
}

void model_notes(const struct model *model)
{
    const struct tool_request *request = model->request;
    const struct chips *chips = &model->chips;
    note_odd(request);
    tool_note(
        request, "unknown_size", size_of(model->unknown_count),
        "Executables whose size the device does not tell (-1 in the file). They are counted; their bytes are not in "
        "any sum.");
    tool_note(
        request, "no_stack", model->stackless_count,
        "Samples without a stack: tracebacks were off when they were recorded. They are listed under \"(no stack)\".");
    tool_note(request, "no_sample", model->pprof->sample_count == 0,
              "The profile has no sample: it was taken when no array was alive.");
    tool_note(
        request, "frame_filter", model->pprof->drop_frames.length > 0,
        model->is_unpruned
            ? "The profile asks for some frames to be dropped (drop_frames), in words that are not understood; they "
              "are shown."
            : "Frames that the profile asks to be dropped (drop_frames) are left out, with what they call; their "
              "callers hold it.");
    for (uint32_t i = 0; i < chips->count; i++) {
        const struct chip *chip = &chips->items[i];
        if (chip->is_literal)
            tool_note(request, "broken_expression", 1,
                      arena_format(request->arena,
                                   "\"%s\" is not a regular expression (%s at %zu); it is searched as plain text.",
                                   chip->expression, chip->fault.text, chip->fault.at));
        if (chip->matched_count == 0)
            tool_note(request, "no_match", 1,
                      arena_format(request->arena, "No frame or label matches \"%s\".", chip->expression));
    }
    note_negatives(model);
    model_notes_left_out(request);
}

bool model_end(const struct model *model, struct json *json)
{
    json_object_end(json);
    model_notes(model);
    return true;
}
