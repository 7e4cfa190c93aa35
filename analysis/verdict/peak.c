/* SPDX-License-Identifier: Apache-2.0
 * peak.c: what made the peak: patterns with what the peak falls by without them, and equal buffers of repeated layers. */
#include "verdict/facts.h"
#include "verdict/torch_moment.h"

#include "plan/pattern.h"
#include "plan/peak_groups.h"
#include "whatif/marginal.h"

/* Groups that are listed. */
enum { GROUPS_MAX = 12 };

static void patterns_make(const struct verdict_facts *facts)
{
    const struct plan_space *space = facts->space;
    struct verdict *out = facts->out;
    struct marginal marginal;
    marginal_build(&marginal, space, facts->arena);
    out->patterns = arena_array(facts->arena, struct verdict_pattern, (size_t)space->pattern_count + 1);
    for (uint32_t i = 0; i < space->pattern_count; i++) {
        const struct plan_pattern *pattern = &space->patterns[i];
        int64_t *padding = NULL;
        if (pattern->kind == PATTERN_PADDING)
            padding = arena_array(facts->arena, int64_t, (size_t)pattern->row_count + 1);
        for (uint32_t k = 0; padding != NULL && k < pattern->row_count; k++) {
            const struct plan_row *row = &space->rows[pattern->rows[k]];
            padding[k] = row->unpadded_bytes < 0 ? 0 : facts_positive(row->bytes - row->unpadded_bytes);
        }
        out->patterns[out->pattern_count++] = (struct verdict_pattern){
            .kind = pattern_name((enum pattern_kind)pattern->kind),
            .sentence = pattern->sentence,
            .gone = pattern_gone((enum pattern_kind)pattern->kind),
            .bytes = pattern->bytes,
            .saves_bytes = marginal_of_rows(&marginal, pattern->rows, padding, pattern->row_count).bytes,
        };
    }
}

static void groups_make(const struct verdict_facts *facts)
{
    struct verdict *out = facts->out;
    struct peak_groups groups;
    peak_groups_build(facts->parts->plan, facts->space, facts->scratch, facts->arena, &groups);
    out->group_total_count = groups.count;
    out->groups = arena_array(facts->arena, struct verdict_group, GROUPS_MAX);
    for (uint32_t i = 0; i < groups.count && i < GROUPS_MAX; i++) {
        const struct peak_group *group = &groups.items[groups.by_bytes[i]];
        out->groups[out->group_count++] = (struct verdict_group){
            .key = arena_text(facts->arena, str_of(group->id)),
            .category = category_name(group->key.category),
            .label = arena_text(facts->arena, group_key_label(group->key.scope, facts->arena)),
            .shape = arena_text(facts->arena, group->key.shape),
            .source = facts_source(facts, &facts->space->rows[group->first_row]),
            .count = group->count,
            .bytes = group->bytes,
        };
    }
}

void peak_make(const struct verdict_facts *facts)
{
    const struct plan_space *space = facts->space;
    if (space == NULL && facts->moment != NULL)
        torch_moment_groups(facts);
    if (space == NULL || space->peak_bytes <= 0 || facts->is_on_chip || facts->is_host)
        return;
    facts->out->peak_bytes = space->peak_bytes;
    patterns_make(facts);
    groups_make(facts);
}
