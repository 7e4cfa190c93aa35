/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/chain.h"

#include "base/sum.h"

#include <stdio.h>
#include <string.h>

/* How far behind a failure what it caused may be told: in bytes of the log. */
enum {
    LINES = 1 << 10,
    LAYERS = 6 << 10,
    TRACEBACK = 64 << 10,
    RANKS = 128 << 10,
    KILLS = 256 << 10,
    ALIGNED = 64 << 10, /* what ggml adds to a size for the device, in bytes */
    DEVICES_TEXT = 400
};

static bool agree(const struct oom_figure *a, const struct oom_figure *b)
{
    return !a->is_known || !b->is_known ||
           sum_apart(a->value, b->value) <= oom_figure_rounding(a) + oom_figure_rounding(b);
}

static bool is_same(const struct oom_failure *a, const struct oom_failure *b, enum oom_figure_at at)
{
    return a->figures[at].is_known && b->figures[at].is_known && a->figures[at].value == b->figures[at].value;
}

/* The same request refused to another rank of one job: what is free there differs, unless the ranks share a device. */
static bool is_of_rank(const struct oom_failure *a, const struct oom_failure *b)
{
    bool has_devices = a->device.text.data != NULL && b->device.text.data != NULL;
    bool has_other_device = has_devices && !str_equal(a->device.text, b->device.text);
    bool is_at_once = has_devices && !has_other_device && is_same(a, b, OOM_free_bytes);
    return a->family == b->family && a->form == b->form && (has_other_device || is_at_once) &&
           is_same(a, b, OOM_needed_bytes) && is_same(a, b, OOM_capacity_bytes);
}

static bool is_form(const struct oom_failure *failure, const char *form)
{
    return failure->form != NULL && strcmp(failure->form, form) == 0;
}

static bool is_vague(const struct oom_failure *failure)
{
    return failure->family == OOM_FAMILY_other || failure->family == OOM_FAMILY_unknown_runtime ||
           is_form(failure, "bare");
}

/* What the head of a traceback names is told at its end. */
static bool is_head_of(const struct oom_failure *first, const struct oom_failure *next)
{
    uint64_t apart = next->begin_at > first->last_end_at ? next->begin_at - first->last_end_at : 0;
    return is_form(first, "head") && !is_form(next, "head") && apart <= TRACEBACK && !oom_family_is_kill(next->family);
}

/* Buffers of any size that NCCL is refused on a full GPU, by each of the ranks on it. */
static bool is_of_communicator(const struct oom_failure *first, const struct oom_failure *next)
{
    uint64_t apart = next->begin_at > first->last_end_at ? next->begin_at - first->last_end_at : 0;
    return first->family == OOM_FAMILY_nccl && next->family == OOM_FAMILY_nccl &&
           first->memory_class == next->memory_class && apart <= RANKS;
}

/* A pool that is refused its size asks for a tenth less, until it gets it: the next of these attempts. */
static bool is_attempt(const struct oom_failure *first, const struct oom_failure *next)
{
    const struct oom_failure *last =
        first->consequence_count > 0 ? first->consequences[first->consequence_count - 1] : first;
    const struct oom_figure *had = &last->figures[OOM_needed_bytes], *has = &next->figures[OOM_needed_bytes];
    uint64_t apart = next->begin_at > first->last_end_at ? next->begin_at - first->last_end_at : 0;
    bool is_of_pool = first->family == OOM_FAMILY_gpu_xla && next->family == OOM_FAMILY_gpu_xla &&
                      last->family == next->family && first->form == next->form && last->form == next->form &&
                      is_form(next, "driver");
    /* Of the last line of a text its end may be missing. */
    bool is_cut = first->family == OOM_FAMILY_gpu_xla && is_form(first, "driver") && is_vague(next);
    return (is_of_pool || is_cut) && apart <= LINES && had->is_known && has->is_known && has->value < had->value &&
           has->value >= had->value / 10 * 8;
}

/* Does what `next` says come up from `first` through the layers above it, or is it what a driver says besides? */
static bool is_of_layers(const struct oom_failure *first, const struct oom_failure *next)
{
    static const enum oom_family uppers[] = {
        OOM_FAMILY_gpu_driver,  OOM_FAMILY_gpu_library, OOM_FAMILY_vllm,  OOM_FAMILY_sglang,
        OOM_FAMILY_tgi,         OOM_FAMILY_ggml,        OOM_FAMILY_other, OOM_FAMILY_unknown_runtime,
        OOM_FAMILY_process,     OOM_FAMILY_python,      OOM_FAMILY_nccl,  OOM_FAMILY_vulkan,
        OOM_FAMILY_neuron,      OOM_FAMILY_tensorrt,    OOM_FAMILY_metal, OOM_FAMILY_ascend,
        OOM_FAMILY_tenstorrent, OOM_FAMILY_level_zero};
    bool is_upper = false;
    if (oom_family_is_kill(first->family) || (is_form(first, "pinned") && !is_form(next, "pinned")))
        return false; /* what a program does without brings nothing down */
    for (size_t i = 0; i < sizeof(uppers) / sizeof(uppers[0]); i++)
        is_upper |= next->family == uppers[i];
    is_upper |= is_vague(next);
    bool is_bare = !next->figures[OOM_needed_bytes].is_known;
    if (first->family == OOM_FAMILY_ggml && next->family == OOM_FAMILY_ggml && !is_bare &&
        first->figures[OOM_needed_bytes].is_known &&
        sum_apart(first->figures[OOM_needed_bytes].value, next->figures[OOM_needed_bytes].value) <= ALIGNED)
        return true;
    /* ggml's buffer is made of several pieces, of which one was refused. */
    if (next->family == OOM_FAMILY_ggml && first->family == OOM_FAMILY_vulkan &&
        next->figures[OOM_needed_bytes].value >= first->figures[OOM_needed_bytes].value)
        return true;
    return is_upper && agree(&first->figures[OOM_needed_bytes], &next->figures[OOM_needed_bytes]) &&
           (first->family == next->family || is_bare || is_vague(next) || next->family == OOM_FAMILY_ggml);
}

/* TensorFlow's exception repeats for which tensor its allocator had no room. */
static bool is_of_dump(const struct oom_failure *first, const struct oom_failure *next)
{
    uint64_t apart = next->begin_at > first->last_end_at ? next->begin_at - first->last_end_at : 0;
    return first->family == OOM_FAMILY_gpu_bfc && next->family == OOM_FAMILY_gpu_bfc && is_form(first, "bfc") &&
           is_form(next, "tensor") && is_same(first, next, OOM_needed_bytes) && apart <= TRACEBACK;
}

static bool follows(const struct oom_failure *first, const struct oom_failure *next)
{
    uint64_t apart = next->begin_at > first->last_end_at ? next->begin_at - first->last_end_at : 0;
    if (oom_family_is_kill(next->family))
        return apart <= KILLS && (next->family == OOM_FAMILY_killed || oom_family_is_kill(first->family));
    return is_of_communicator(first, next) || is_of_dump(first, next) || (apart <= LAYERS && is_of_layers(first, next));
}

void oom_chain_device_add(struct oom_failure *failure, const struct oom_words *device, struct arena *arena)
{
    if (device->text.data == NULL || failure->device.text.data == NULL)
        return;
    const char *known = failure->devices != NULL ? failure->devices : arena_text(arena, failure->device.text);
    char separated[DEVICES_TEXT + 8];
    char word[64];
    if (strlen(known) > DEVICES_TEXT - 64 || device->text.length > 40)
        return;
    snprintf(separated, sizeof(separated), ", %s,", known);
    snprintf(word, sizeof(word), ", %.*s,", (int)device->text.length, device->text.data);
    if (strstr(separated, word) == NULL)
        failure->devices = arena_format(arena, "%s, %.*s", known, (int)device->text.length, device->text.data);
}

/* Is what was told first a part of what came next: the shell's word before the kernel's, a vague line before a known
 * one? */
static bool is_part_of_next(const struct oom_failure *first, const struct oom_failure *next)
{
    uint64_t apart = next->begin_at > first->last_end_at ? next->begin_at - first->last_end_at : 0;
    if (is_head_of(first, next))
        return true;
    if (first->family == OOM_FAMILY_killed)
        return oom_family_is_kill(next->family) && !is_form(next, "lmkd") && apart <= KILLS;
    if (is_form(first, "lmkd") && next->family == OOM_FAMILY_killed)
        return apart <= KILLS;
    return is_vague(first) && !is_vague(next) && !oom_family_is_kill(next->family) && apart <= LAYERS &&
           agree(&first->figures[OOM_needed_bytes], &next->figures[OOM_needed_bytes]);
}

/* Android's killer names whom it ended, one program after the other: what the shell says is of the job, and the others
 * show why. */
static void killer_set(struct oom_failure *job, const struct oom_failure *other)
{
    if (job->family == OOM_FAMILY_killed && is_form(other, "lmkd"))
        job->form = other->form;
}

static void consequence_add(struct oom_failure *first, const struct oom_failure *next, struct arena *arena)
{
    size_t count = first->consequence_count;
    const struct oom_failure **all = arena_array(arena, const struct oom_failure *, count + 1);
    struct oom_failure *kept = arena_array(arena, struct oom_failure, 1);
    *kept = *next;
    for (size_t i = 0; i < count; i++)
        all[i] = first->consequences[i];
    all[count] = kept;
    first->consequences = all;
    first->consequence_count = count + 1;
    if (next->last_end_at > first->last_end_at)
        first->last_end_at = next->last_end_at;
}

/* The lower layer may know the size that the upper one does not, and the other way round. */
static void figures_lend(struct oom_failure *to, const struct oom_failure *from)
{
    bool is_layer = !oom_family_is_kill(from->family) && to->memory_class == from->memory_class;
    struct oom_figure *needed = &to->figures[OOM_needed_bytes];
    const struct oom_figure *told = &from->figures[OOM_needed_bytes];
    if (is_layer && told->is_known && (!needed->is_known || (needed->half_unit > told->half_unit)))
        *needed = *told;
    bool is_of_cache = is_layer && is_form(from, "cache") && from->activity < to->activity;
    if (to->activity == OOM_ACTIVITY_not_known || is_of_cache) {
        to->activity = from->activity;
        to->activity_line = from->activity_line;
    }
    if (to->program == OOM_PROGRAM_not_known || (from->program != OOM_PROGRAM_not_known && from->program < to->program))
        to->program = from->program;
}

/* Where the failure that it belongs to is; -1: it stands for itself. */
static ptrdiff_t owner_of(const struct oom_failure *failures, size_t count, const struct oom_failure *next)
{
    for (size_t i = count; i-- > 0;) {
        uint64_t apart = next->begin_at > failures[i].end_at ? next->begin_at - failures[i].end_at : 0;
        if ((apart <= RANKS && is_of_rank(&failures[i], next)) || is_attempt(&failures[i], next) ||
            follows(&failures[i], next))
            return (ptrdiff_t)i;
    }
    return -1;
}

size_t oom_chain_join(struct oom_failure *failures, size_t count, struct arena *arena)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct oom_failure next = failures[i];
        ptrdiff_t owner = owner_of(failures, kept, &next);
        if (kept > 0 && is_part_of_next(&failures[kept - 1], &next)) {
            struct oom_failure part = failures[kept - 1];
            failures[kept - 1] = next;
            figures_lend(&failures[kept - 1], &part);
            killer_set(&failures[kept - 1], &part);
            consequence_add(&failures[kept - 1], &part, arena);
        } else if (owner < 0) {
            failures[kept++] = next;
        } else if (is_of_rank(&failures[owner], &next)) {
            failures[owner].replica_count += next.replica_count;
            oom_chain_device_add(&failures[owner], &next.device, arena);
            if (next.last_end_at > failures[owner].last_end_at)
                failures[owner].last_end_at = next.last_end_at;
        } else if (is_attempt(&failures[owner], &next)) {
            if (failures[owner].consequence_count > 0)
                failures[owner].consequence_count--; /* of the attempts the last is told beside the first */
            consequence_add(&failures[owner], &next, arena);
        } else {
            figures_lend(&failures[owner], &next);
            killer_set(&failures[owner], &next);
            consequence_add(&failures[owner], &next, arena);
        }
    }
    return kept;
}

size_t oom_chain_part(struct oom_failure *failures, size_t count, struct oom_failure *given_up, size_t *given_up_count)
{
    size_t kept = 0;
    *given_up_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct oom_failure failure = failures[i];
        if (failure.has_other_reason && failure.family == OOM_FAMILY_killed)
            continue; /* it ended for another reason than a lack of memory */
        if (failure.is_given_up)
            given_up[(*given_up_count)++] = failure;
        else
            failures[kept++] = failure;
    }
    return kept;
}
