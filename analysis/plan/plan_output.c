/* SPDX-License-Identifier: Apache-2.0
 * plan_output.c: what a program asks for in one piece for what it returns. */
#include "plan/plan.h"

uint64_t plan_output_largest_bytes(const struct plan *plan, const struct plan_space *space)
{
    int64_t largest = 0;
    for (uint32_t i = 0; i < plan->hlo.allocation_count; i++) {
        const struct hlo_allocation *allocation = &plan->hlo.allocations[i];
        if (allocation->color == space->space && allocation->is_live_out && !allocation->is_parameter &&
            !allocation->is_thread_local && allocation->size_bytes > largest)
            largest = allocation->size_bytes;
    }
    return (uint64_t)largest;
}
