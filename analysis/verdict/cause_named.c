/* SPDX-License-Identifier: Apache-2.0
 * cause_named.c: which arrays a category is, where the category says little of it. */
#include "verdict/cause_arrays.h"

#include "base/size_text.h"
#include "plan/describe.h"
#include "plan/peak_groups.h"
#include "plan/relayout.h"
#include "read/hlo/shape.h"

const char *cause_named_relayout(const struct verdict_facts *facts)
{
    const struct plan *plan = facts->parts->plan;
    const struct plan_argument *argument = NULL;
    const struct plan_row *largest = NULL;
    for (uint32_t i = 0; i < facts->space->row_count; i++) {
        const struct plan_row *row = &facts->space->rows[i];
        if (row->choice.category == CATEGORY_COPY_OF_ARGUMENT && plan_row_is_alive(row, facts->space->peak_step) &&
            (largest == NULL || row->bytes > largest->bytes))
            largest = row;
    }
    if (largest == NULL || (argument = relayout_of(plan, largest)) == NULL || argument->path.length == 0)
        return "";
    facts->scratch->length = 0;
    shape_layout_text(plan->shapes[largest->buffer_at], facts->scratch);
    const char *after = arena_text(facts->arena, describe_str(facts->scratch));
    facts->scratch->length = 0;
    shape_layout_text(argument->shape, facts->scratch);
    const char *before = arena_text(facts->arena, describe_str(facts->scratch));
    const char *source = facts_source_of(facts, relayout_reader(plan, largest));
    return arena_format(facts->arena, " %s are %.*s, copied into the layout %s from %s%s%s.",
                        facts_size(facts, largest->bytes), (int)argument->path.length, argument->path.data, after,
                        before, source[0] != '\0' ? ", which is read at " : "", source);
}

/* ", 26 % of it padding", or "". */
static const char *padding_text(const struct verdict_facts *facts, const struct plan_row *row)
{
    enum { TOLD_PERCENT = 10 };
    char share[SHARE_TEXT_BYTES];
    int64_t padding = facts_padding(row);
    if (padding < row->bytes / 100 * TOLD_PERCENT || padding == 0)
        return "";
    return arena_format(facts->arena, ", %s of it padding", size_text_share(share, padding, row->bytes));
}

const char *cause_named_largest(const struct verdict_facts *facts, enum category category)
{
    enum { ARRAYS_SHOWN = 3 };
    struct peak_groups groups;
    const char *text = "";
    uint32_t shown = 0;
    peak_groups_build(facts->parts->plan, facts->space, facts->scratch, facts->arena, &groups);
    for (uint32_t i = 0; i < groups.count && shown < ARRAYS_SHOWN; i++) {
        const struct peak_group *group = &groups.items[groups.by_bytes[i]];
        const struct plan_row *row = &facts->space->rows[group->first_row];
        const char *shape = facts_shape(facts, row), *source = facts_source(facts, row);
        if (row->choice.category != category || shape[0] == '\0')
            continue;
        text = arena_format(facts->arena, "%s%s%s in %s%s%s%s%s", text, shown++ == 0 ? " The largest: " : "; ",
                            facts_size(facts, group->bytes),
                            group->count > 1 ? arena_format(facts->arena, "%u × ", group->count) : "", shape,
                            source[0] != '\0' ? ", " : "", source, padding_text(facts, row));
    }
    return shown == 0 ? "" : arena_format(facts->arena, "%s.", text);
}
