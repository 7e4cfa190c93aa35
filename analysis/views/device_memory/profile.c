/* SPDX-License-Identifier: Apache-2.0
 * profile.c: the view "profile": what the other views sum, as a profile.proto that pprof opens. */
#include "model/device_memory/columns.h"
#include "read/pprof/pprof.h"
#include "views/device_memory/views.h"

/* The lines of each location that the filters left, the innermost first. False for one that has gone. */
static bool take_location(const struct model *model, uint32_t at, struct pprof *out)
{
    struct pprof_location *location = &out->locations[at];
    bool is_left = false;
    location->first_line = out->line_count;
    for (uint32_t step = model->step_starts[at + 1]; step-- > model->step_starts[at];) {
        if (model->folds && (model->steps[step] & MODEL_MACHINERY))
            continue;
        is_left = true;
        if (model->step_lines[step] != PPROF_NONE)
            out->lines[out->line_count++] = model->pprof->lines[model->step_lines[step]];
    }
    location->line_count = out->line_count - location->first_line;
    return is_left;
}

static void take_sample(const struct model *model, const struct model_sample *sample, const bool *is_left,
                        struct pprof *out)
{
    const struct pprof *pprof = model->pprof;
    const uint32_t *stack = pprof->stacks + pprof->stack_starts[sample->at];
    uint32_t at = out->sample_count++, length = out->stack_starts[at];
    int64_t *values = out->values + (size_t)at * out->type_count;
    arena_work(model->arena, sample->depth);
    for (uint32_t i = 0; i < sample->depth; i++)
        if (is_left[stack[i]])
            out->stacks[length++] = stack[i];
    out->stack_starts[at + 1] = length;
    memcpy(values, pprof->values + (size_t)sample->at * out->type_count, out->type_count * sizeof(*values));
    out->label_sets[at] = pprof->label_sets[sample->at];
    out->is_base[at] = model->is_diff && model_is_base(model, sample);
    uint32_t count = columns_of_unit(pprof, "count"), bytes = columns_of_unit(pprof, "bytes");
    if (model_is_unknown(model, sample) && values[bytes] == 0) /* as JAX writes it: -1 for each */
        values[bytes] = pprof_negated(values[count]);
}

static void narrow_to(const struct model *model, struct pprof *out)
{
    const struct pprof *pprof = model->pprof;
    struct arena *arena = model->arena;
    bool *is_left = arena_array(arena, bool, (size_t)pprof->location_count + 1);
    *out = *pprof;
    out->locations = arena_array(arena, struct pprof_location, (size_t)pprof->location_count + 1);
    memcpy(out->locations, pprof->locations, pprof->location_count * sizeof(*out->locations));
    out->lines = arena_array(arena, struct pprof_line, (size_t)pprof->line_count + 1);
    out->stacks = arena_array(arena, uint32_t, (size_t)pprof->stack_starts[pprof->sample_count] + 1);
    out->stack_starts = arena_array(arena, uint32_t, (size_t)pprof->sample_count + 1);
    out->values = arena_array(arena, int64_t, (size_t)pprof->sample_count * pprof->type_count + 1);
    out->label_sets = arena_array(arena, uint32_t, (size_t)pprof->sample_count + 1);
    out->is_base = arena_array(arena, bool, (size_t)pprof->sample_count + 1);
    out->line_count = out->sample_count = 0;
    for (uint32_t i = 0; i < pprof->location_count; i++)
        is_left[i] = take_location(model, i, out);
    for (uint32_t i = 0; i < model->sample_count; i++)
        take_sample(model, &model->samples[i], is_left, out);
}

bool device_memory_profile(const struct tool_request *request, struct json *json, struct err *err)
{
    struct model model;
    struct pprof pprof;
    const char *metric = tool_param_text(request, "metric");
    int64_t machinery;
    (void)json;
    /* Frames stay unless they are asked away: pprof has filters of its own. */
    if (!tool_param_number(request, "machinery", 0, 1, 1, &machinery, err) || !model_open(request, &model, err))
        return false;
    model.folds = machinery == 0;
    narrow_to(&model, &pprof);
    if (metric != NULL && metric[0] != '\0')
        pprof.default_type = model.metric;
    pprof_write(&pprof, request->arena, request->out);
    return true;
}
