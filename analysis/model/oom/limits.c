/* SPDX-License-Identifier: Apache-2.0
 * limits.c: what the request is held against, by how much it is too large, and whether memory was short or in
 * pieces. */
#include "base/size_text.h"
#include "base/sum.h"
#include "model/oom/meaning.h"

/* Of a request: free memory of this many times its size is enough in any pieces. */
enum { AMPLE_TIMES = 4 };

static uint64_t value_of(const struct oom_failure *failure, enum oom_figure_at at)
{
    return failure->figures[at].is_known ? failure->figures[at].value : 0;
}

/* Does what is allocated leave less than was asked for, whatever else is free? */
static bool is_full(const struct oom_failure *failure, uint64_t needed)
{
    const struct oom_figure *capacity = oom_figure(failure, OOM_capacity_bytes),
                            *allocated = oom_figure(failure, OOM_allocated_bytes);
    return capacity != NULL && allocated != NULL &&
           (allocated->value >= capacity->value || capacity->value - allocated->value < needed);
}

/* Does what is in use leave less than was asked for? */
static bool is_used_up(const struct oom_failure *failure, uint64_t needed)
{
    const struct oom_figure *capacity = oom_figure(failure, OOM_capacity_bytes),
                            *used = oom_figure(failure, OOM_total_bytes);
    return oom_figure(failure, OOM_free_bytes) == NULL && capacity != NULL && used != NULL &&
           (used->value >= capacity->value || capacity->value - used->value < needed);
}

/* Of a caching allocator: does it keep enough, in pieces; or do others hold what is missing? */
static enum oom_cause torch_cause(const struct oom_failure *failure, uint64_t needed)
{
    const struct oom_figure *free_figure = oom_figure(failure, OOM_free_bytes);
    uint64_t kept = oom_unallocated(failure), others = oom_others(failure);
    bool is_much = others >= needed && others >= value_of(failure, OOM_capacity_bytes) / 10;
    bool is_most_of_rest = others / 4 > kept;
    if (is_much && is_most_of_rest && free_figure != NULL && free_figure->value / AMPLE_TIMES < needed)
        return OOM_CAUSE_OTHER_PROCESS;
    if (free_figure != NULL && free_figure->value / AMPLE_TIMES >= needed)
        return OOM_CAUSE_UNPLACED; /* pieces are no reason: the allocator would have asked the driver for a new one */
    uint64_t left = free_figure != NULL ? free_figure->value : 0;
    bool is_enough_together = left < needed && sum_add_unsigned(kept, left) >= needed;
    if ((kept >= needed || is_enough_together) && oom_keeps_much(failure))
        return OOM_CAUSE_FRAGMENTATION;
    if (free_figure == NULL)
        return is_full(failure, needed) ? OOM_CAUSE_SHORTAGE : OOM_CAUSE_NOT_KNOWN;
    if (free_figure->value >= needed)
        return OOM_CAUSE_UNPLACED;
    return is_much ? OOM_CAUSE_OTHER_PROCESS : OOM_CAUSE_SHORTAGE;
}

/* In one piece more than the device has: not of a budget, nor of a limit of one buffer. */
static bool is_too_large(const struct oom_failure *failure)
{
    bool is_of_device = failure->family == OOM_FAMILY_torch_gpu || failure->family == OOM_FAMILY_julia ||
                        failure->family == OOM_FAMILY_paddle || failure->family == OOM_FAMILY_unknown_runtime;
    return (is_of_device && oom_is_past_capacity(failure)) || oom_is_past_any_device(failure);
}

/* Is less allowed than is free, or is it a pool's own limit that would be passed? */
static bool is_limited(const struct oom_failure *failure)
{
    const struct oom_figure *allowed = oom_figure(failure, OOM_capacity_bytes),
                            *needed = oom_figure(failure, OOM_needed_bytes),
                            *free_figure = oom_figure(failure, OOM_free_bytes);
    if (oom_is_limit_of_buffer(failure) || (failure->family == OOM_FAMILY_torch_mps && allowed != NULL))
        return true; /* on Metal PyTorch stops at a part of what Metal recommends */
    if (allowed == NULL || needed == NULL)
        return false;
    if (failure->family == OOM_FAMILY_torch_gpu)
        return failure->has_own_limit && free_figure != NULL && free_figure->value > allowed->value &&
               free_figure->value >= needed->value;
    return failure->family == OOM_FAMILY_cupy;
}

static enum oom_cause cause_of(const struct oom_failure *failure)
{
    if (failure->family == OOM_FAMILY_killed)
        return OOM_CAUSE_NOT_KNOWN;
    if (oom_is_host(failure))
        return failure->has_own_limit ? OOM_CAUSE_LIMIT : OOM_CAUSE_HOST;
    const struct oom_figure *needed = oom_figure(failure, OOM_needed_bytes),
                            *free_figure = oom_figure(failure, OOM_free_bytes);
    const struct oom_figure *hole = oom_figure(failure, oom_hole_of(failure));
    if (is_too_large(failure))
        return OOM_CAUSE_TOO_LARGE;
    if (is_limited(failure))
        return OOM_CAUSE_LIMIT;
    if (failure->family == OOM_FAMILY_hami)
        return OOM_CAUSE_OTHER_PROCESS;
    if (failure->family == OOM_FAMILY_tenstorrent && needed != NULL && hole != NULL)
        return OOM_CAUSE_FRAGMENTATION;
    if (failure->family == OOM_FAMILY_torch_gpu && needed != NULL)
        return torch_cause(failure, needed->value);
    if (failure->family == OOM_FAMILY_unknown_runtime && needed != NULL && is_used_up(failure, needed->value))
        return OOM_CAUSE_SHORTAGE;
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

/* A limit that a program set for itself is none of the host's memory. */
static const char *own_limit_line(const struct oom_failure *failure)
{
    if (oom_is_form(failure, "java_direct") || oom_is_form(failure, "java_classes"))
        return "Java's own limit of memory beside its heap is reached; the host may have more memory.";
    if (oom_is_form(failure, "javascript") || oom_is_form(failure, "java"))
        return "The runtime's own limit is reached, which it sets for its heap; the host may have more memory.";
    return "A limit that the program set for itself is reached; the host may have more memory.";
}

static const char *host_line(const struct oom_failure *failure)
{
    if (failure->family == OOM_FAMILY_process && oom_is_form(failure, "java_threads"))
        return "The system refused a thread: its stack, or one more process.";
    if (oom_is_form(failure, "addresses"))
        return "A 32-bit process has 2 to 4 GiB of addresses, however much memory the host has.";
    if (oom_is_form(failure, "evicted"))
        return "The node ran low on host memory and ended what used more than it had requested.";
    return "Host memory ran out, not device memory.";
}

static void cause_set(struct oom_meaning *meaning)
{
    static const struct {
        const char *name, *line;
    } causes[] = {
        [OOM_CAUSE_OTHER_PROCESS] = {"other_process", "Other processes hold what is missing on this device."},
        [OOM_CAUSE_TOO_LARGE] = {"too_large", "One request is larger than the whole device."},
        [OOM_CAUSE_LIMIT] = {"limit", "A limit that was set for this process is reached; it is not the device's own."},
        [OOM_CAUSE_HOST] = {"host_memory", NULL},
        [OOM_CAUSE_NOT_KNOWN] = {NULL, NULL},
        [OOM_CAUSE_SHORTAGE] = {"shortage", "Less is free in total than was requested."},
        [OOM_CAUSE_FRAGMENTATION] = {"fragmentation",
                                     "Enough is free, but not in one piece: the memory is fragmented."},
        [OOM_CAUSE_UNPLACED] = {"unplaced",
                                "Enough is free, but in pieces that are too small; the text does not say how large."},
    };
    meaning->cause = cause_of(meaning->failure);
    meaning->cause_name = causes[meaning->cause].name;
    meaning->cause_line = causes[meaning->cause].line;
    if (meaning->cause == OOM_CAUSE_HOST)
        meaning->cause_line = host_line(meaning->failure);
    if (meaning->cause == OOM_CAUSE_LIMIT && oom_is_host(meaning->failure))
        meaning->cause_line = own_limit_line(meaning->failure);
    if (oom_is_limit_of_buffer(meaning->failure))
        meaning->cause_line = "A single buffer may not be this large on this device, however much is free.";
    if (meaning->failure->family == OOM_FAMILY_torch_gpu && meaning->cause == OOM_CAUSE_FRAGMENTATION)
        meaning->cause_line =
            "What the allocator keeps and what is free are together enough, but no piece is large enough.";
    if (meaning->failure->family == OOM_FAMILY_torch_gpu && meaning->cause == OOM_CAUSE_UNPLACED)
        meaning->cause_line = "Enough is free for the request, but the driver refused it.";
}

static void over_set(struct oom_meaning *meaning, struct arena *arena, uint64_t bytes, uint64_t half_units)
{
    char text[SIZE_TEXT_BYTES];
    if (bytes == 0)
        return;
    meaning->is_over_known = true;
    meaning->over_bytes = bytes;
    meaning->over_text = arena_text(arena, str_of(size_text_coarse(text, bytes, 2 * half_units)));
}

static void limit_set(struct oom_meaning *meaning, enum oom_figure_at at)
{
    static const char *const phrases[OOM_FIGURE_COUNT] = {[OOM_largest_free_bytes] = "are in the largest hole",
                                                          [OOM_available_bytes] = "can be reserved",
                                                          [OOM_free_bytes] = "are free",
                                                          [OOM_capacity_bytes] = "are there in all"};
    const struct oom_figure *limit = oom_figure(meaning->failure, at);
    meaning->is_limit_known = limit != NULL;
    meaning->limit_bytes = limit != NULL ? limit->value : 0;
    meaning->limit_phrase = limit == NULL ? NULL : oom_is_compile(meaning->failure) ? "are available" : phrases[at];
}

static uint64_t limits_larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

void oom_limits_set(struct oom_meaning *meaning, struct arena *arena)
{
    const struct oom_failure *failure = meaning->failure;
    enum oom_figure_at limit_at = oom_limit_of(failure);
    const struct oom_figure *exceeded = oom_figure(failure, OOM_exceeded_bytes),
                            *needed = oom_figure(failure, OOM_needed_bytes);
    const struct oom_figure *limit = oom_figure(failure, limit_at), *used = oom_figure(failure, OOM_total_bytes);
    struct oom_figure both = {.is_known = true};
    cause_set(meaning);
    limit_set(meaning, limit_at);
    if (exceeded != NULL) {
        char text[SIZE_TEXT_BYTES];
        meaning->is_over_known = true;
        meaning->over_bytes = exceeded->value;
        meaning->over_text = arena_text(arena, str_of(size_text(text, exceeded->value)));
        meaning->over_key = oom_figure_key(OOM_exceeded_bytes);
        return;
    }
    if (limit == NULL || needed == NULL)
        return;
    if (failure->family == OOM_FAMILY_torch_mps) {
        both.value = sum_add_unsigned(value_of(failure, OOM_allocated_bytes), value_of(failure, OOM_others_bytes));
        both.half_unit = limits_larger(failure->figures[OOM_allocated_bytes].half_unit,
                                       failure->figures[OOM_others_bytes].half_unit);
        used = &both;
    }
    if (needed->value > limit->value) {
        over_set(meaning, arena, needed->value - limit->value, limits_larger(needed->half_unit, limit->half_unit));
        return;
    }
    /* It would fit alone; what was in use already takes its place. */
    bool is_beside =
        !oom_is_compile(failure) && limit_at == OOM_capacity_bytes && used != NULL && !oom_has_assignment(failure);
    if (is_beside && used->value < UINT64_MAX - needed->value && used->value + needed->value > limit->value)
        over_set(meaning, arena, used->value + needed->value - limit->value,
                 limits_larger(used->half_unit, limits_larger(needed->half_unit, limit->half_unit)));
}
