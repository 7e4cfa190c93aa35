/* SPDX-License-Identifier: Apache-2.0
 * curve.c: the view "curve": live bytes over the steps of a space, thinned to the asked width; on request by category
 * too, which at every step given add up to the curve. A value holds from its step to the next one given. */
#include "base/nearest.h"
#include "base/sum.h"
#include "memory/thin.h"
#include "plan/describe.h"
#include "views/memory_viewer/views_shared.h"

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

/* An event names the instruction that defines its buffer. Only for an allocation is that also the program's
 * position. */
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
    /* a notable peak is higher than its surroundings by a fiftieth of the highest */
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

/* ---- who the bytes belong to ---- */

/* The first of `count` ascending steps that is not before `step`, or `count`. */
static uint32_t first_not_before(const uint32_t *steps, uint32_t count, uint32_t step)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (steps[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What is live of each category at each of the steps: `count` + 1 figures a category, the last for what dies later. */
static int64_t *categories_sum(const struct plan_space *space, const uint32_t *steps, uint32_t count,
                               struct arena *arena)
{
    size_t stride = (size_t)count + 1;
    int64_t *sums = arena_array(arena, int64_t, stride *CATEGORY_COUNT);
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        int64_t *own = sums + stride * row->choice.category;
        uint32_t born = row->is_indefinite ? 0 : first_not_before(steps, count, row->born);
        uint32_t dies = row->is_indefinite ? count : first_not_before(steps, count, row->dies);
        if (born < dies) {
            own[born] = sum_add(own[born], row->bytes);
            own[dies] = sum_add(own[dies], -row->bytes);
        }
    }
    for (int category = 0; category < CATEGORY_COUNT; category++)
        for (uint32_t i = 1; i < count; i++)
            sums[stride * (size_t)category + i] =
                sum_add(sums[stride * (size_t)category + i], sums[stride * (size_t)category + i - 1]);
    return sums;
}

/* Categories that have bytes at one of the steps, in the order in which they are stacked. */
static void stack_write(struct json *json, const struct plan_space *space, const uint32_t *steps, uint32_t count,
                        struct arena *arena)
{
    const int64_t *sums = categories_sum(space, steps, count, arena);
    json_key_array(json, "stack");
    for (int category = 0; category < CATEGORY_COUNT; category++) {
        const int64_t *own = sums + ((size_t)count + 1) * (size_t)category;
        uint32_t at = 0;
        while (at < count && own[at] == 0)
            at++;
        if (at == count)
            continue;
        json_object_begin(json);
        json_key_text(json, "category", category_name((enum category)category));
        json_key_array(json, "bytes");
        for (uint32_t i = 0; i < count; i++)
            json_int(json, own[i]);
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}

static bool stack_read(const struct tool_request *request, bool *is_stacked, struct err *err)
{
    static const char *const ways[] = {"none", "category"};
    const char *stack = tool_param_text(request, "stack");
    size_t way = 0;
    bool is_read = stack == NULL || nearest_choose("stack", "way", str_of(stack), ways, 2, &way, err);
    *is_stacked = way == 1;
    return is_read;
}

bool memory_viewer_curve(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct plan_space *space = views_space(request, err);
    int64_t width, from, to;
    bool is_stacked;
    if (space == NULL || !tool_param_number(request, "width", 1, WIDTH_MAX, 1024, &width, err) ||
        !tool_param_number(request, "from", 0, UINT32_MAX, 0, &from, err) ||
        !tool_param_number(request, "to", 0, UINT32_MAX, space->step_count, &to, err) ||
        !stack_read(request, &is_stacked, err))
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
    if (is_stacked)
        stack_write(json, space, steps, count, request->arena);
    peaks_write(json, request, space);
    json_object_end(json);
    return true;
}
