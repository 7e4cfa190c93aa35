/* SPDX-License-Identifier: Apache-2.0
 * live_range.c: the view "live_range": from which to which position of the
 * schedule each value lives, unpadded, all memory spaces together: the
 * counterpart of XLA's `-live-range.txt`. A third way of counting beside the
 * total of the allocations and the peak of the heap trace. */
#include "plan/describe.h"
#include "read/hlo/hlo_ranges.h"
#include "read/hlo/shape.h"
#include "views/memory_viewer/views_shared.h"

struct moment {
    uint32_t position;
    int64_t bytes;
};

/* Largest sum over positions of `size` over the values alive there, both ends of a range included. */
static struct moment peak_of(const struct plan *plan, const struct hlo_ranges *ranges, const int64_t *sizes,
                             struct arena *arena)
{
    uint32_t length = plan->schedule.length;
    int64_t *change = arena_array(arena, int64_t, (size_t)length + 2), now = 0;
    struct moment peak = {0, 0};
    for (uint32_t i = 0; i < plan->hlo.buffer_count; i++) {
        const struct hlo_range *range = &ranges->of_buffer[i];
        if (range->start == HLO_NONE || sizes[i] < 0)
            continue;
        change[range->start] += sizes[i];
        change[range->end + 1] -= sizes[i];
    }
    for (uint32_t i = 0; i <= length; i++) {
        now += change[i];
        if (now > peak.bytes)
            peak = (struct moment){i, now};
    }
    return peak;
}

static void ranges_write(const struct tool_request *request, struct json *json, const struct hlo_ranges *ranges)
{
    const struct plan *plan = request->model;
    json_key_array(json, "values");
    for (uint32_t i = 0; i < plan->hlo.buffer_count; i++) {
        const struct hlo_range *range = &ranges->of_buffer[i];
        if (range->start == HLO_NONE)
            continue;
        request->scratch->length = 0;
        describe_name(&plan->hlo, i, hlo_instruction_name(&plan->hlo, plan->hlo.buffers[i].instruction_at),
                      request->scratch);
        json_object_begin(json);
        json_key_id(json, "id", plan->hlo.buffers[i].id);
        json_key_string(json, "name", describe_str(request->scratch));
        json_key_uint(json, "start", range->start);
        json_key_uint(json, "end", range->end);
        json_key_known(json, "unpadded_bytes", plan->unpadded_bytes[i]);
        json_object_end(json);
    }
    json_array_end(json);
}

bool memory_viewer_live_range(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct plan *plan = request->model;
    struct hlo_ranges ranges;
    (void)err;
    hlo_ranges_build(&plan->hlo, &plan->schedule, request->arena, &ranges);
    struct moment peak = peak_of(plan, &ranges, plan->unpadded_bytes, request->arena);
    json_object_begin(json);
    json_key_uint(json, "schedule_length", plan->schedule.length);
    json_key_uint(json, "peak_position", peak.position);
    json_key_int(json, "peak_unpadded_bytes", peak.bytes);
    json_key_uint(json, "not_followed_count", ranges.lost_count);
    ranges_write(request, json, &ranges);
    json_object_end(json);
    return true;
}
