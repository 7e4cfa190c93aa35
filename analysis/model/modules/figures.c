/* SPDX-License-Identifier: Apache-2.0
 * figures.c: see figures.h. */
#include "model/modules/figures.h"

#include "base/sum.h"

/* Counts only scheduled instructions: those inside of a fusion are compiled with it. */
static int64_t code_bytes_of(const struct plan *plan, struct arena *arena)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < plan->schedule.length; i++) {
        uint32_t at = plan->schedule.order[i];
        arena_work(arena, plan->hlo.instructions[at].length);
        int64_t code_bytes = hlo_detail(&plan->hlo, at).code_bytes;
        if (code_bytes > 0 && code_bytes <= SUM_MAX_BYTES)
            bytes = sum_add(bytes, code_bytes);
    }
    return bytes > 0 ? bytes : -1;
}

static bool has_names(const struct hlo *hlo, struct arena *arena)
{
    for (uint32_t i = 0; i < hlo->instruction_count; i++) {
        arena_work(arena, hlo->instructions[i].length);
        if (hlo_detail(hlo, i).op_name.length > 0)
            return true;
    }
    return false;
}

static void space_take(const struct plan_space *from, struct arena *arena, struct module_space *out)
{
    *out = (struct module_space){
        .space = from->space,
        .name = arena_text(arena, str_of(from->name)),
        .total_bytes = from->total_bytes,
        .peak_bytes = from->peak_bytes,
        .padding_bytes = from->peak_bytes - from->peak_unpadded_bytes,
        .fragmentation_bytes = plan_fragmentation_bytes(from),
        .argument_bytes = from->parameter_bytes,
        .temporary_bytes = from->total_bytes - from->indefinite_bytes,
        .output_bytes = from->output_bytes,
        .output_reused_bytes = from->output_reused_bytes,
        .constant_bytes = from->constant_bytes,
        .has_peak = from->untraced_bytes == 0 && from->heap.failure == HEAP_FINE,
    };
    memcpy(out->category_bytes, from->category_bytes, sizeof(out->category_bytes));
}

void figures_take(const struct plan *plan, struct arena *arena, struct module_figures *out)
{
    *out = (struct module_figures){
        .name = arena_text(arena, plan->hlo.name),
        .platform = space_platform_name(plan->platform),
        .has_assignment = plan->hlo.has_assignment,
        .has_schedule = plan->hlo.has_schedule,
        .has_names = has_names(&plan->hlo, arena),
        .code_bytes = code_bytes_of(plan, arena),
        .spaces = arena_array(arena, struct module_space, (size_t)plan->space_count + 1),
        .space_count = plan->space_count,
    };
    for (uint32_t i = 0; i < plan->space_count; i++)
        space_take(&plan->spaces[i], arena, &out->spaces[i]);
}

const struct module_space *figures_space(const struct module_figures *figures, int64_t space)
{
    for (uint32_t i = 0; i < figures->space_count; i++)
        if (figures->spaces[i].space == space)
            return &figures->spaces[i];
    return NULL;
}
