/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/groundwork.h"

#include "whatif/checkpoint.h"
#include "whatif/regions.h"

bool groundwork_build(const struct plan *plan, struct arena *arena, struct groundwork *out)
{
    const struct plan_space *space = plan_space_find(plan, 0);
    if (space == NULL || plan->graph == NULL || plan->hlo.instruction_count == 0)
        return false;
    variant_begin(&out->start, plan, space, arena);
    regions_by_scopes(&out->start);
    recompute_flops(&out->start);
    checkpoint_values(&out->start);
    out->findings = *out->start.findings;
    out->findings.arena = out->start.arena = NULL; /* nothing is changed or found any more */
    out->start.findings = NULL;
    return true;
}

void groundwork_begin(const struct groundwork *groundwork, const struct plan *plan, const struct plan_space *space,
                      struct arena *arena, struct variant *out)
{
    if (groundwork == NULL || groundwork->start.plan->graph != plan->graph || space->space != 0) {
        variant_begin(out, plan, space, arena);
        return;
    }
    variant_copy(out, &groundwork->start, arena);
    out->plan = plan;
    out->space = space;
    out->findings = arena_array(arena, struct variant_findings, 1);
    *out->findings = groundwork->findings;
    out->findings->arena = arena;
}
