/* SPDX-License-Identifier: Apache-2.0
 * curve.c: the view "curve": live bytes over the steps of a space, thinned to
 * the asked width. A value holds from its step to the next one given. */
#include "memory/thin.h"
#include "plan/describe.h"
#include "tool/memory_viewer/views_shared.h"

enum { LOCAL_PEAKS_MAX = 64, WIDTH_MAX = 16384 };

static int64_t value_at(const void *curve, uint32_t step) { return plan_bytes_at(curve, step); }

/* The instruction whose event the step is; of a schedule the one at that position. */
static struct str instruction_at(const struct plan *plan, const struct plan_space *space, uint32_t step)
{
    if (space->unit == PLAN_UNIT_HEAP_TRACE)
        return plan->hlo.events[plan->hlo.traces[space->trace_at].event_first + step].instruction;
    if (space->unit == PLAN_UNIT_SCHEDULE && step < plan->schedule.length)
        return hlo_instruction_name(&plan->hlo, plan->schedule.order[step]);
    return (struct str){"", 0};
}

/* An event names the instruction that defines its buffer: only of an allocation
 * is that also where the program stands. */
static int64_t position_at(const struct plan *plan, const struct plan_space *space, uint32_t step)
{
    if (space->unit != PLAN_UNIT_HEAP_TRACE)
        return step;
    const struct hlo_event *event = &plan->hlo.events[plan->hlo.traces[space->trace_at].event_first + step];
    return event->kind == HLO_EVENT_ALLOC && event->buffer_at != HLO_NONE
               ? views_schedule_position(plan, event->buffer_at)
               : -1;
}

static void column_begin(struct json *json, const char *name) { json_key_array(json, name); }

static void columns_write(struct json *json, const struct plan *plan, const struct plan_space *space,
                          const uint32_t *steps, uint32_t count)
{
    json_key_object(json, "columns");
    column_begin(json, "step");
    for (uint32_t i = 0; i < count; i++)
        json_uint(json, steps[i]);
    json_array_end(json);
    column_begin(json, "bytes");
    for (uint32_t i = 0; i < count; i++)
        json_int(json, plan_bytes_at(space, steps[i]));
    json_array_end(json);
    column_begin(json, "unpadded_bytes");
    for (uint32_t i = 0; i < count; i++)
        json_int(json, plan_unpadded_bytes_at(space, steps[i]));
    json_array_end(json);
    column_begin(json, "schedule_position");
    for (uint32_t i = 0; i < count; i++) {
        int64_t position = position_at(plan, space, steps[i]);
        if (position < 0)
            json_null(json);
        else
            json_int(json, position);
    }
    json_array_end(json);
    column_begin(json, "instruction");
    for (uint32_t i = 0; i < count; i++)
        describe_short_element(json, instruction_at(plan, space, steps[i]));
    json_array_end(json);
    json_object_end(json);
}

static void point_write(struct json *json, const struct plan *plan, const struct plan_space *space, uint32_t step)
{
    json_object_begin(json);
    json_key_uint(json, "step", step);
    json_key_int(json, "bytes", plan_bytes_at(space, step));
    json_key_int(json, "unpadded_bytes", plan_unpadded_bytes_at(space, step));
    describe_short(json, "instruction", instruction_at(plan, space, step));
    json_key_known(json, "schedule_position", position_at(plan, space, step));
    json_object_end(json);
}

static void peaks_write(struct json *json, const struct tool_request *request, const struct plan_space *space)
{
    uint32_t count;
    /* a peak of note stands out by a fiftieth of the highest */
    uint32_t *steps = thin_peaks(value_at, space, space->step_count, space->heap.peak_bytes / 50, LOCAL_PEAKS_MAX,
                                 request->arena, &count);
    json_key(json, "peak");
    if (space->has_peak_step)
        point_write(json, request->model, space, space->peak_step);
    else
        json_null(json);
    json_key_array(json, "local_peaks");
    for (uint32_t i = 0; i < count && space->has_peak_step; i++)
        if (steps[i] != space->peak_step)
            point_write(json, request->model, space, steps[i]);
    json_array_end(json);
}

bool memory_viewer_curve(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct plan_space *space = views_space(request, err);
    int64_t width, from, to;
    if (space == NULL || !tool_param_number(request, "width", 1, WIDTH_MAX, 1024, &width, err) ||
        !tool_param_number(request, "from", 0, UINT32_MAX, 0, &from, err) ||
        !tool_param_number(request, "to", 0, UINT32_MAX, space->step_count, &to, err))
        return false;
    if (to > space->step_count)
        to = space->step_count;
    if (from > to)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "from: %lld is behind the end, %lld", (long long)from,
                       (long long)to);
    uint32_t count;
    uint32_t *steps =
        thin_steps(value_at, space, (uint32_t)from, (uint32_t)to, (uint32_t)width, request->arena, &count);
    json_object_begin(json);
    json_key_int(json, "space", space->space);
    json_key_text(json, "step_unit",
                  space->unit == PLAN_UNIT_HEAP_TRACE ? "heap_trace"
                  : space->unit == PLAN_UNIT_SCHEDULE ? "schedule"
                                                      : "none");
    json_key_uint(json, "step_count", space->step_count);
    json_key_int(json, "from", from);
    json_key_int(json, "to", to);
    json_key_bool(json, "is_thinned", count < (uint32_t)(to - from));
    json_key_int(json, "indefinite_bytes", space->indefinite_bytes);
    columns_write(json, request->model, space, steps, count);
    peaks_write(json, request, space);
    json_object_end(json);
    return true;
}
