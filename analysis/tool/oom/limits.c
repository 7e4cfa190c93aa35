/* SPDX-License-Identifier: Apache-2.0
 * limits.c: what the request is held against, by how much it is too large, and whether memory was short or in pieces. */
#include "base/size_text.h"
#include "tool/oom/verdict.h"

static enum oom_cause cause_of(const struct oom_failure *failure)
{
    const struct oom_figure *needed = oom_figure(failure, OOM_needed_bytes),
                            *free_figure = oom_figure(failure, OOM_free_bytes);
    const struct oom_figure *hole = oom_figure(failure, oom_hole_of(failure));
    if (oom_is_compile(failure) || needed == NULL || free_figure == NULL)
        return OOM_CAUSE_NOT_KNOWN;
    if (free_figure->value < needed->value)
        return OOM_CAUSE_SHORTAGE;
    if (hole == NULL)
        return OOM_CAUSE_UNPLACED;
    return hole->value < needed->value ? OOM_CAUSE_FRAGMENTATION : OOM_CAUSE_NOT_KNOWN;
}

static void cause_set(struct oom_verdict *verdict)
{
    static const struct {
        const char *name, *line;
    } causes[] = {
        [OOM_CAUSE_NOT_KNOWN] = {NULL, NULL},
        [OOM_CAUSE_SHORTAGE] = {"shortage", "Less is free than was asked for: memory is short, whatever its order."},
        [OOM_CAUSE_FRAGMENTATION] = {"fragmentation",
                                     "Enough is free, but not in one piece: the memory is fragmented."},
        [OOM_CAUSE_UNPLACED] =
            {"unplaced",
             "Enough is free, and yet there was no place: it lies in pieces, how large the text does not say."},
    };
    verdict->cause = cause_of(verdict->failure);
    verdict->cause_name = causes[verdict->cause].name;
    verdict->cause_line = causes[verdict->cause].line;
}

static void over_set(struct oom_verdict *verdict, struct arena *arena, uint64_t bytes, uint64_t half_units)
{
    char text[SIZE_TEXT_BYTES];
    if (bytes == 0)
        return;
    verdict->is_over_known = true;
    verdict->over_bytes = bytes;
    verdict->over_text = arena_text(arena, str_of(size_text_coarse(text, bytes, 2 * half_units)));
}

static void limit_set(struct oom_verdict *verdict, enum oom_figure_at at)
{
    static const char *const phrases[OOM_FIGURE_COUNT] = {[OOM_largest_free_bytes] = "are in the largest hole",
                                                          [OOM_available_bytes] = "can be reserved",
                                                          [OOM_free_bytes] = "are free",
                                                          [OOM_capacity_bytes] = "are there in all"};
    const struct oom_figure *limit = oom_figure(verdict->failure, at);
    verdict->is_limit_known = limit != NULL;
    verdict->limit_bytes = limit != NULL ? limit->value : 0;
    verdict->limit_phrase = limit == NULL ? NULL : oom_is_compile(verdict->failure) ? "are available" : phrases[at];
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

void oom_limits_set(struct oom_verdict *verdict, struct arena *arena)
{
    const struct oom_failure *failure = verdict->failure;
    enum oom_figure_at limit_at = oom_limit_of(failure);
    const struct oom_figure *exceeded = oom_figure(failure, OOM_exceeded_bytes),
                            *needed = oom_figure(failure, OOM_needed_bytes);
    const struct oom_figure *limit = oom_figure(failure, limit_at), *used = oom_figure(failure, OOM_total_bytes);
    cause_set(verdict);
    limit_set(verdict, limit_at);
    if (exceeded != NULL) {
        char text[SIZE_TEXT_BYTES];
        verdict->is_over_known = true;
        verdict->over_bytes = exceeded->value;
        verdict->over_text = arena_text(arena, str_of(size_text(text, exceeded->value)));
        verdict->over_key = oom_figure_key(OOM_exceeded_bytes);
        return;
    }
    if (limit == NULL || needed == NULL)
        return;
    if (needed->value > limit->value) {
        over_set(verdict, arena, needed->value - limit->value, larger(needed->half_unit, limit->half_unit));
        return;
    }
    /* It would fit alone; what was in use already takes its place. */
    bool is_beside =
        !oom_is_compile(failure) && limit_at == OOM_capacity_bytes && used != NULL && !oom_has_assignment(failure);
    if (is_beside && used->value < UINT64_MAX - needed->value && used->value + needed->value > limit->value)
        over_set(verdict, arena, used->value + needed->value - limit->value,
                 larger(used->half_unit, larger(needed->half_unit, limit->half_unit)));
}
