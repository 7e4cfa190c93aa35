/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/groundwork.h"

#include "whatif/checkpoint.h"
#include "whatif/checkpointed.h"
#include "whatif/promotion.h"
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
    checkpointed_layers(&out->start);
    promotions_find(&out->start);
    out->findings = *out->start.findings;
    out->findings.arena = NULL; /* nothing is changed or found any more */
    for (struct variant *each = &out->start; each != NULL; each = each->without_remat) {
        each->arena = NULL;
        each->findings = NULL;
    }
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
    struct variant_findings *findings = arena_array(arena, struct variant_findings, 1);
    *findings = groundwork->findings;
    findings->arena = arena;
    for (struct variant *each = out; each != NULL; each = each->without_remat) {
        each->plan = plan;
        each->space = space;
        each->findings = findings;
    }
}
