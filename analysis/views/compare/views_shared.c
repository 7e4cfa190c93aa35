/* SPDX-License-Identifier: Apache-2.0
 * views_shared.c: see views.h. */
#include "base/nearest.h"
#include "plan/describe.h"
#include "views/compare/views.h"

/* Names of the parameters, and what a refusal calls the side. */
static const struct {
    const char *space, *step, *name;
} sides[COMPARE_SIDE_COUNT] = {{"space_a", "step_a", "A"}, {"space_b", "step_b", "B"}};

static bool views_shared_choose(const struct tool_request *request, const struct plan *plan, int side,
                                struct compare_choice *choice, struct err *err)
{
    int64_t wanted, step, default_value = plan->space_count > 0 ? plan->spaces[0].space : 0;
    const char *text = tool_param_text(request, sides[side].step);
    if (!plan->hlo.has_assignment)
        return err_set(err, ERR_conflict, ERR_NO_OFFSET,
                       "these two cannot be compared: %s holds no buffer assignment, so what is live is not known",
                       sides[side].name);
    if (!tool_param_number(request, sides[side].space, INT64_MIN, INT64_MAX, default_value, &wanted, err))
        return false;
    choice->space = plan_space_find(plan, wanted);
    if (choice->space == NULL)
        return err_set(err, ERR_conflict, ERR_NO_OFFSET,
                       "these two cannot be compared: the program of %s uses no memory space %lld", sides[side].name,
                       (long long)wanted);
    choice->is_peak = text == NULL || text[0] == '\0' || strcmp(text, "peak") == 0;
    choice->step = choice->space->peak_step;
    if (choice->is_peak)
        return true;
    int64_t last = choice->space->step_count > 0 ? (int64_t)choice->space->step_count - 1 : 0;
    if (!tool_param_number(request, sides[side].step, 0, last, 0, &step, err))
        return false;
    choice->step = (uint32_t)step;
    return true;
}

bool views_compare(const struct tool_request *request, struct compare *compare, struct err *err)
{
    const struct compare_programs *programs = request->model;
    struct compare_choice choice[COMPARE_SIDE_COUNT];
    for (int side = 0; side < COMPARE_SIDE_COUNT; side++)
        if (!views_shared_choose(request, programs->plans[side], side, &choice[side], err))
            return false;
    for (int side = 0; side < COMPARE_SIDE_COUNT && (side == 0 || programs->plans[0] != programs->plans[1]); side++)
        for (uint32_t i = 0; i < programs->plans[side]->note_count; i++) {
            const struct note *note = &programs->plans[side]->notes[i];
            tool_note(request, note->code, note->count,
                      arena_format(request->arena, "%s: %s", sides[side].name, note->text));
        }
    compare_build(programs, choice, request->arena, request->scratch, compare);
    return true;
}

struct str views_item_name(const struct compare *compare, int side, const struct compare_item *item,
                           struct buf *scratch)
{
    const struct hlo *hlo = &compare->sides[side].plan->hlo;
    scratch->length = 0;
    if (item->row->buffer_at == PLAN_NONE)
        buf_format(scratch, "allocation %lld", (long long)hlo->allocations[item->row->allocation_at].index);
    else
        describe_name(hlo, item->row->buffer_at,
                      hlo_instruction_name(hlo, hlo->buffers[item->row->buffer_at].instruction_at), scratch);
    return describe_str(scratch);
}

bool views_align(const struct tool_request *request, enum alignment_way *way, struct err *err)
{
    static const char *const ways[] = {[ALIGNMENT_SCOPE] = "scope", [ALIGNMENT_POSITION] = "position"};
    const char *text = tool_param_text(request, "align");
    size_t chosen = ALIGNMENT_SCOPE;
    bool is_read =
        text == NULL || nearest_choose("align", "way", str_of(text), ways, ALIGNMENT_WAY_COUNT, &chosen, err);
    *way = (enum alignment_way)chosen;
    return is_read;
}
