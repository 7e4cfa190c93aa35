/* SPDX-License-Identifier: Apache-2.0
 * curve.c: the view "curve": what is live in A and in B along one axis, thinned to the asked width. Of several steps at
 * one place of the program each has its part of the way to the next place. */
#include "memory/thin.h"
#include "plan/describe.h"
#include "views/compare/views.h"

enum { WIDTH_MAX = 16384 };

struct curve_drawing {
    const struct tool_request *request;
    const struct compare_side *side;
    const double *places; /* on the axis, by step */
};

static int64_t value_at(const void *curve, uint32_t step) { return plan_bytes_at(curve, step); }

/* Each step is at its place, with its share of the stretch up to the next one. */
static const double *places_make(const struct tool_request *request, const struct alignment *alignment, int side,
                                 uint32_t step_count)
{
    double *places = arena_array(request->arena, double, (size_t)step_count + 1);
    const uint32_t *positions = alignment->positions[side];
    for (uint32_t first = 0, end; first < step_count; first = end) {
        for (end = first + 1; end < step_count && positions[end] == positions[first];)
            end++;
        double place = alignment_of_step(alignment, side, first);
        double next = end < step_count ? alignment_of_step(alignment, side, end) : alignment->length;
        for (uint32_t i = first; i < end; i++)
            places[i] = place + (next - place) * (double)(i - first) / (double)(end - first);
    }
    return places;
}

static struct str scope_of(const struct curve_drawing *drawing, uint32_t step)
{
    const struct plan *plan = drawing->side->plan;
    const struct plan_space *space = drawing->side->space;
    uint32_t instruction_at = HLO_NONE;
    if (space->unit == PLAN_UNIT_HEAP_TRACE) {
        uint32_t buffer_at = plan->hlo.events[plan->hlo.traces[space->trace_at].event_first + step].buffer_at;
        instruction_at = buffer_at == HLO_NONE ? HLO_NONE : plan->hlo.buffers[buffer_at].instruction_at;
    } else if (step < plan->schedule.length) {
        instruction_at = plan->schedule.order[step];
    }
    return instruction_at == HLO_NONE
               ? (struct str){"", 0}
               : compare_place(hlo_detail(&plan->hlo, instruction_at).op_name, drawing->request->arena);
}

static void side_write(const struct curve_drawing *drawing, uint32_t width, struct json *json, const char *key)
{
    const struct plan_space *space = drawing->side->space;
    uint32_t count, *steps = thin_steps(value_at, space, 0, space->step_count, width, drawing->request->arena, &count);
    json_key_object(json, key);
    json_key_uint(json, "step_count", space->step_count);
    json_key_known(json, "step", space->step_count > 0 ? (int64_t)drawing->side->step : -1);
    json_key(json, "place");
    if (space->step_count > 0)
        json_double(json, drawing->places[drawing->side->step]);
    else
        json_null(json);
    json_key_int(json, "bytes", drawing->side->live_bytes);
    json_key_int(json, "indefinite_bytes", space->indefinite_bytes);
    json_key_object(json, "columns");
    json_key_array(json, "place");
    for (uint32_t i = 0; i < count; i++)
        json_double(json, drawing->places[steps[i]]);
    json_array_end(json);
    json_key_array(json, "step");
    for (uint32_t i = 0; i < count; i++)
        json_uint(json, steps[i]);
    json_array_end(json);
    json_key_array(json, "bytes");
    for (uint32_t i = 0; i < count; i++)
        json_int(json, value_at(space, steps[i]));
    json_array_end(json);
    json_key_array(json, "scope");
    for (uint32_t i = 0; i < count; i++)
        describe_short_element(json, scope_of(drawing, steps[i]));
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
}

bool compare_curve(const struct tool_request *request, struct json *json, struct err *err)
{
    struct compare *compare = arena_array(request->arena, struct compare, 1);
    struct alignment alignment;
    enum alignment_way way;
    int64_t width;
    if (!views_align(request, &way, err) || !tool_param_number(request, "width", 1, WIDTH_MAX, 1024, &width, err) ||
        !views_compare(request, compare, err))
        return false;
    alignment_make(compare, way, request->arena, &alignment);
    json_object_begin(json);
    json_key_text(json, "align", way == ALIGNMENT_SCOPE ? "scope" : "position");
    json_key_uint(json, "axis_length", alignment.length);
    json_key_uint(json, "anchor_count", alignment.anchor_count);
    for (int side = 0; side < COMPARE_SIDE_COUNT; side++) {
        const struct curve_drawing drawing = {
            request, &compare->sides[side],
            places_make(request, &alignment, side, compare->sides[side].space->step_count)};
        side_write(&drawing, (uint32_t)width, json, side == COMPARE_A ? "a" : "b");
    }
    json_object_end(json);
    return true;
}
