/* SPDX-License-Identifier: Apache-2.0
 * limits.c: what the request is held against, by how much it is too large, and whether memory was short or in pieces. */
#include "base/size_text.h"
#include "tool/oom/verdict.h"

static uint64_t value_of(const struct oom_failure *failure, enum oom_figure_at at)
{
    return failure->figures[at].is_known ? failure->figures[at].value : 0;
}

/* Of a caching allocator: does it keep enough, in pieces; or do others hold what is missing? In a container a process does
 * not know its own number, so a list without "this process" may hold it: nobody else is blamed then. */
static enum oom_cause torch_cause(const struct oom_failure *failure, uint64_t needed)
{
    const struct oom_figure *free_figure = oom_figure(failure, OOM_free_bytes);
    uint64_t others = value_of(failure, OOM_others_bytes);
    if (oom_unallocated(failure) >= needed)
        return OOM_CAUSE_FRAGMENTATION;
    if (free_figure == NULL)
        return OOM_CAUSE_NOT_KNOWN;
    if (free_figure->value >= needed)
        return OOM_CAUSE_UNPLACED;
    bool is_told_apart = failure->figures[OOM_process_bytes].is_known;
    return is_told_apart && others >= needed - free_figure->value ? OOM_CAUSE_OTHER_PROCESS : OOM_CAUSE_SHORTAGE;
}

static enum oom_cause cause_of(const struct oom_failure *failure)
{
    if (oom_is_host(failure))
        return OOM_CAUSE_HOST;
    const struct oom_figure *needed = oom_figure(failure, OOM_needed_bytes),
                            *free_figure = oom_figure(failure, OOM_free_bytes);
    const struct oom_figure *hole = oom_figure(failure, oom_hole_of(failure));
    if (failure->family == OOM_FAMILY_torch_gpu && needed != NULL)
        return torch_cause(failure, needed->value);
    if (oom_is_compile(failure) || needed == NULL || free_figure == NULL)
        return OOM_CAUSE_NOT_KNOWN;
    if (failure->family == OOM_FAMILY_vllm && oom_is_form(failure, "start"))
        return OOM_CAUSE_OTHER_PROCESS; /* it was just started: what is taken is not its own */
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
        [OOM_CAUSE_OTHER_PROCESS] = {"other_process", "Other processes hold what is missing on this device."},
        [OOM_CAUSE_HOST] = {"host_memory", "It is memory of the host that was short, not that of a device."},
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
    if (verdict->failure->family == OOM_FAMILY_torch_gpu && verdict->cause == OOM_CAUSE_FRAGMENTATION)
        verdict->cause_line = "The allocator keeps more than was asked for, in pieces that are too small.";
    if (verdict->failure->family == OOM_FAMILY_torch_gpu && verdict->cause == OOM_CAUSE_UNPLACED)
        verdict->cause_line = "As much is free as was asked for, and yet the driver refused it.";
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
    struct oom_figure both = {.is_known = true};
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
    if (failure->family == OOM_FAMILY_torch_mps) {
        if (__builtin_add_overflow(value_of(failure, OOM_allocated_bytes), value_of(failure, OOM_others_bytes),
                                   &both.value))
            both.value = UINT64_MAX;
        both.half_unit =
            larger(failure->figures[OOM_allocated_bytes].half_unit, failure->figures[OOM_others_bytes].half_unit);
        used = &both;
    }
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
