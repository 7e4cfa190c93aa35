/* SPDX-License-Identifier: Apache-2.0
 * peak.c: what made the peak: patterns with what the peak falls by without them, and equal buffers of repeated layers.
 */
#include "verdict/facts.h"
#include "verdict/torch_moment.h"

#include "plan/pattern.h"
#include "plan/peak_groups.h"
#include "whatif/marginal.h"

/* Groups that are listed. */
/* Shapes up to SHAPE_TEXT_BYTES are written whole; longer tuples end with the last element before TUPLE_TEXT_BYTES. */
enum { GROUPS_MAX = 12, SHAPE_TEXT_BYTES = 80, TUPLE_TEXT_BYTES = 48 };

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
        for (uint32_t k = 0; padding != NULL && k < pattern->row_count; k++)
            padding[k] = facts_padding(&space->rows[pattern->rows[k]]);
        out->patterns[out->pattern_count++] = (struct verdict_pattern){
            .kind = pattern_name((enum pattern_kind)pattern->kind),
            .sentence = pattern->sentence,
            .gone = pattern_gone((enum pattern_kind)pattern->kind),
            .bytes = pattern->bytes,
            .saves_bytes = marginal_of_rows(&marginal, pattern->rows, padding, pattern->row_count).bytes,
        };
    }
}

/* The first elements of a tuple that is longer than a line: "(f32[8192], f32[8192], … 37 more)". */
static const char *shape_in_a_line(const struct verdict_facts *facts, struct str shape)
{
    size_t depth = 0, kept_length = 0;
    uint32_t count = 1, kept_count = 0;
    for (size_t i = 0; i < shape.length; i++) {
        char at = shape.data[i];
        depth += at == '(' || at == '[' || at == '{';
        depth -= (at == ')' || at == ']' || at == '}') && depth > 0;
        if (at != ',' || depth != 1)
            continue;
        if (i < TUPLE_TEXT_BYTES) {
            kept_length = i;
            kept_count = count;
        }
        count++;
    }
    if (shape.length <= SHAPE_TEXT_BYTES || shape.data[0] != '(' || kept_count == 0)
        return arena_text(facts->arena, shape);
    return arena_format(facts->arena, "%.*s, … %u more)", (int)kept_length, shape.data, count - kept_count);
}

/* What nothing names (a constant of the compiler) is called by whose memory it is. */
static const char *group_label(const struct verdict_facts *facts, const struct group_key *key)
{
    struct str label = group_key_label(key->scope, facts->arena);
    return label.length > 0 ? arena_text(facts->arena, label) : category_words(key->category);
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
            .label = group_label(facts, &group->key),
            .shape = shape_in_a_line(facts, group->key.shape),
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
