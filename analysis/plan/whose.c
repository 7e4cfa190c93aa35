/* SPDX-License-Identifier: Apache-2.0
 * whose.c: see whose.h. */
#include "plan/whose.h"

#include "base/sum.h"

static struct category_verdict by_allocation(const struct hlo_allocation *allocation)
{
    switch (plan_kind_of(allocation)) {
    case PLAN_PARAMETER: return (struct category_verdict){CATEGORY_OTHER, CATEGORY_RULE_PARAMETER_FLAG};
    case PLAN_OUTPUT: return (struct category_verdict){CATEGORY_OUTPUT, CATEGORY_RULE_OUTPUT};
    case PLAN_CONSTANT: return (struct category_verdict){CATEGORY_CONSTANT, CATEGORY_RULE_CONSTANT};
    default: return (struct category_verdict){CATEGORY_UNKNOWN, CATEGORY_RULE_NONE};
    }
}

void whose_build(struct plan *plan, struct arena *arena)
{
    (void)arena;
    for (uint32_t i = 0; i < plan->space_count; i++) {
        struct plan_space *space = &plan->spaces[i];
        for (uint32_t j = 0; j < space->row_count; j++) {
            struct plan_row *row = &space->rows[j];
            row->named_by = row->buffer_at == PLAN_NONE ? HLO_NONE : plan->hlo.buffers[row->buffer_at].instruction_at;
            row->verdict = by_allocation(&plan->hlo.allocations[row->allocation_at]);
            if (plan_row_is_alive(row, space->peak_step))
                space->category_bytes[row->verdict.category] =
                    sum_add(space->category_bytes[row->verdict.category], row->bytes);
        }
    }
}
