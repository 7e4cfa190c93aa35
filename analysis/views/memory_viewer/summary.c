/* SPDX-License-Identifier: Apache-2.0
 * summary.c: the view "summary": the program and, per memory space, the figures
 * that the answer line is made of. Spaces come largest first. */
#include "plan/notes.h"
#include "views/arrays_write.h"
#include "views/memory_viewer/culprit.h"
#include "views/memory_viewer/views_shared.h"

static const char *unit_name(enum plan_unit unit)
{
    static const char *const names[] = {"none", "heap_trace", "schedule"};
    return names[unit];
}

static void module_write(struct json *json, const struct plan *plan)
{
    const struct hlo *hlo = &plan->hlo;
    json_key_object(json, "module");
    json_key_string(json, "name", hlo->name);
    json_key_string(json, "entry_computation", hlo->entry_name);
    json_key_uint(json, "instruction_count", hlo->instruction_count);
    json_key_uint(json, "computation_count", hlo->computation_count);
    json_key_bool(json, "is_scheduled", hlo->has_schedule);
    json_key_uint(json, "schedule_length", plan->schedule.length);
    json_key_bool(json, "has_buffer_assignment", hlo->has_assignment);
    json_key_text(json, "platform", space_platform_name(plan->platform));
    json_object_end(json);
}

static int64_t peak_schedule_position(const struct plan *plan, const struct plan_space *space)
{
    if (!space->has_peak_step)
        return -1;
    if (space->unit == PLAN_UNIT_SCHEDULE)
        return space->peak_step;
    const struct hlo_trace *trace = &plan->hlo.traces[space->trace_at];
    return views_schedule_position(plan, plan->hlo.events[trace->event_first + space->peak_step].buffer_at);
}

static void sums_write(struct json *json, const struct plan_space *space)
{
    json_key_int(json, "total_bytes", space->total_bytes);
    json_key_int(json, "peak_bytes", space->peak_bytes);
    json_key_int(json, "peak_unpadded_bytes", space->peak_unpadded_bytes);
    json_key_int(json, "indefinite_bytes", space->indefinite_bytes);
    json_key_int(json, "parameter_bytes", space->parameter_bytes);
    json_key_int(json, "output_bytes", space->output_bytes);
    json_key_int(json, "output_reused_bytes", space->output_reused_bytes);
    json_key_int(json, "constant_bytes", space->constant_bytes);
    json_key_int(json, "temporary_bytes", space->total_bytes - space->indefinite_bytes);
    json_key_int(json, "thread_local_bytes", space->thread_local_bytes);
    json_key_int(json, "untraced_bytes", space->untraced_bytes);
    json_key_int(json, "padding_bytes", space->peak_bytes - space->peak_unpadded_bytes);
    json_key_int(json, "fragmentation_bytes", plan_fragmentation_bytes(space));
}

static void fit_write(const struct tool_request *request, struct json *json, const struct plan_space *space)
{
    struct memory_capacity capacity = {.bytes = -1, .asked_bytes = -1};
    struct memory_fit *fit = arena_array(request->arena, struct memory_fit, 1);
    for (size_t i = 0; i < request->capacity_count; i++)
        if (request->capacities[i].space == space->space)
            capacity = request->capacities[i].capacity;
    memory_fit_judge(&capacity, space->total_bytes, space->name, request->arena, fit);
    memory_fit_write(json, "fit", fit);
}

static void space_write(const struct tool_request *request, struct json *json, const struct plan_space *space)
{
    const struct plan *plan = request->model;
    bool is_vmem = space->space == 1 && plan->hlo.scoped_vmem_bytes > 0;
    json_object_begin(json);
    json_key_int(json, "space", space->space);
    json_key_text(json, "name", space->name);
    json_key_bool(json, "name_is_known", space->name_is_known);
    sums_write(json, space);
    json_key_text(json, "step_unit", unit_name(space->unit));
    json_key_uint(json, "step_count", space->step_count);
    json_key_known(json, "peak_step", space->has_peak_step ? (int64_t)space->peak_step : -1);
    json_key_known(json, "peak_schedule_position", peak_schedule_position(plan, space));
    json_key_uint(json, "live_at_peak_count", space->live_at_peak_count);
    json_key_uint(json, "buffer_count", space->buffer_count);
    json_key_uint(json, "allocation_count", space->allocation_count);
    json_key_text(json, "replay_error", notes_replay_failure(plan, space, request->arena));
    culprit_write(request, json, space);
    fit_write(request, json, space);
    json_key_known(json, "scoped_vmem_bytes", is_vmem ? plan->hlo.scoped_vmem_bytes : -1);
    json_key(json, "scoped_vmem_instruction");
    if (is_vmem)
        json_string(json, hlo_instruction_name(&plan->hlo, plan->hlo.scoped_vmem_at));
    else
        json_null(json);
    json_object_end(json);
}

bool memory_viewer_summary(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct plan *plan = request->model;
    (void)err;
    json_object_begin(json);
    module_write(json, plan);
    json_key_known(json, "peak_memory_bytes", plan->hlo.has_assignment ? plan->peak_memory_bytes : -1);
    arrays_write(json, "arrays", plan->unplanned);
    json_key_array(json, "spaces");
    for (uint32_t i = 0; i < plan->space_count; i++)
        space_write(request, json, &plan->spaces[i]);
    json_array_end(json);
    json_object_end(json);
    return true;
}
