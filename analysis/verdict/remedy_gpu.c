/* SPDX-License-Identifier: Apache-2.0
 * remedy_gpu.c: what texts of PyTorch's and TensorFlow's allocators, of drivers, kernels, NCCL and Metal say of their
 * remedies. */
#include "model/oom/meaning.h"
#include "verdict/remedy.h"

enum { LAST_OF_GUESSES = 300 };

/* ---- allocators ---- */

/* What is kept in pieces, with what is free, would do. */
bool remedy_torch_pieces(const struct advice *advice, struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t needed = facts_figure(facts, OOM_needed_bytes), left = facts_figure(facts, OOM_free_bytes);
    int64_t kept = remedy_kept_bytes(advice);
    enum oom_cause cause = facts->parts->failure->cause;
    if (needed < 0 || kept <= 0 || oom_is_past_capacity(facts->failure) || left >= needed ||
        kept < needed - facts_positive(left))
        return false;
    item->saves_bytes = kept;
    item->confidence = VERDICT_BOUND;
    if (cause != OOM_CAUSE_FRAGMENTATION && !oom_keeps_much(facts->failure)) { /* the rest fills the device */
        item->confidence = VERDICT_GUESS;
        item->effort = LAST_OF_GUESSES;
    }
    item->reason =
        "At most so much: what lies in segments that are in part in use. torch.cuda.empty_cache() frees none of "
        "it: before it fails the allocator itself gives back what is wholly free. It takes PyTorch 2.1 or later.";
    item->evidence = arena_format(
        facts->arena, "PyTorch has reserved %s that it has not given out%s; %s are asked for.", facts_size(facts, kept),
        left < 0 ? "" : arena_format(facts->arena, ", %s are free", facts_size(facts, left)),
        facts_size(facts, needed));
    return true;
}

/* It lifts the limit that stands in the way: nothing else has to change. */
bool remedy_of_buffer_limit(const struct advice *advice, struct verdict_advice *item)
{
    (void)advice;
    item->is_of_cause = true;
    return true;
}

/* A limit that was set for a pool: what the device has besides, the text does not say. */
bool remedy_pool_limit(const struct advice *advice, struct verdict_advice *item)
{
    struct arena *arena = advice->facts->arena;
    const char *limit = remedy_size(advice, OOM_capacity_bytes);
    item->title = arena_format(arena, "Let the pool take more than %s", limit);
    item->evidence = arena_format(arena, "%s are allowed to the pool.", limit);
    item->reason = "The program set this limit; how much of the device is free the text does not say.";
    return true;
}

/* A limit that was set for the process: more is free than it may have in all. */
bool remedy_torch_allowed(const struct advice *advice, struct verdict_advice *item)
{
    int64_t allowed = facts_figure(advice->facts, OOM_capacity_bytes),
            left = facts_figure(advice->facts, OOM_free_bytes);
    if (allowed < 0 || left <= allowed)
        return false;
    struct arena *arena = advice->facts->arena;
    item->title = arena_format(arena, "Let this process take more than %s", facts_size(advice->facts, allowed));
    item->evidence = arena_format(arena, "%s are allowed to this process; %s of the GPU are free.",
                                  facts_size(advice->facts, allowed), facts_size(advice->facts, left));
    item->confidence = VERDICT_EXACT;
    item->reason = "The text states both; who set the limit it does not say.";
    item->fits = VERDICT_FITS_PERHAPS;
    return true;
}

bool remedy_mps_limit(const struct advice *advice, struct verdict_advice *item)
{
    const struct oom_meaning *said = advice->facts->parts->failure;
    const struct verdict_facts *facts = advice->facts;
    int64_t limit = facts_figure(facts, OOM_capacity_bytes), own = facts_figure(facts, OOM_allocated_bytes),
            others = facts_figure(facts, OOM_others_bytes);
    if (limit < 0 || own < 0 || others < 0)
        return false;
    item->title = arena_format(facts->arena, "Lift PyTorch's limit of %s", facts_size(facts, limit));
    item->evidence = arena_format(facts->arena, "PyTorch holds %s and Metal %s besides; %s%s.", facts_size(facts, own),
                                  facts_size(facts, others), said->is_over_known ? "too much by " : "the limit is ",
                                  said->is_over_known ? said->over_text : facts_size(facts, limit));
    return true;
}

/* Of PyTorch the text lists them, or they are what is neither free nor its own; of vLLM, which was just started, what
 * is taken is theirs. */
bool remedy_others(const struct advice *advice, struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t capacity = facts_figure(facts, OOM_capacity_bytes), missing = remedy_short_bytes(advice);
    uint64_t held = oom_others(facts->failure);
    enum oom_cause cause = facts->parts->failure->cause;
    bool is_listed = facts_figure(facts, OOM_others_bytes) > 0;
    int64_t others = held > INT64_MAX ? INT64_MAX : (int64_t)held;
    if (others <= 0 || missing < 0 || oom_is_past_capacity(facts->failure) ||
        (!is_listed && cause != OOM_CAUSE_OTHER_PROCESS))
        return false;
    item->title = arena_format(facts->arena, "Make room: other processes hold %s", facts_size(facts, others));
    item->saves_bytes = others;
    item->confidence = VERDICT_BOUND;
    item->fits = others >= missing ? VERDICT_FITS_PERHAPS : VERDICT_FITS_NO;
    if (!is_listed)
        item->reason = "At most so much: what is neither free nor this process's; whose it is the text does not list.";
    item->evidence = arena_format(facts->arena, "Others hold %s%s; %s are missing.", facts_size(facts, others),
                                  capacity < 0 ? "" : arena_format(facts->arena, " of %s", facts_size(facts, capacity)),
                                  facts_size(facts, missing));
    return true;
}

/* Nothing that is let go makes room for more than there is. */
bool remedy_smaller_request(const struct advice *advice, struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    if (facts->parts->failure->cause != OOM_CAUSE_TOO_LARGE)
        return false;
    item->title = arena_format(facts->arena, "Make this one request smaller: no setting makes room for %s on %s",
                               remedy_size(advice, OOM_needed_bytes), fit_device_words(facts));
    item->reason = "One tensor has this size: its shape is wrong, or it has to be made in slices or tiles.";
    item->is_of_cause = true;
    item->fits = VERDICT_FITS_PERHAPS;
    return true;
}

/* Where a backward pass is, and nothing of it is computed again yet. */
bool remedy_checkpoint(const struct advice *advice, struct verdict_advice *item)
{
    (void)item;
    return !advice->facts->failure->has_checkpoint;
}

bool remedy_hami(const struct advice *advice, struct verdict_advice *item)
{
    const char *limit = remedy_size(advice, OOM_capacity_bytes);
    item->title = arena_format(advice->facts->arena, "Give the container a larger share of the GPU%s%s",
                               limit[0] == '\0' ? "" : ": HAMi's limit is ", limit);
    if (facts_figure(advice->facts, OOM_total_bytes) < 0) {
        item->title =
            "Restart the container, with a newer version of HAMi: its counter of what is used went below zero";
        item->call = "";
    }
    item->reason = "HAMi refuses what is past the limit of the container, however much the GPU has free.";
    item->evidence = facts_sentence(advice->facts, &advice->facts->parts->failure->answer);
    return true;
}

bool remedy_context(const struct advice *advice, struct verdict_advice *item)
{
    const char *capacity = remedy_size(advice, OOM_capacity_bytes);
    item->title = "Make room: other processes hold the GPU";
    if (capacity[0] != '\0')
        item->evidence =
            arena_format(advice->facts->arena, "Of the %s of the GPU not enough for a context was free.", capacity);
    return true;
}

bool remedy_bfc_pieces(const struct advice *advice, struct verdict_advice *item)
{
    enum oom_cause cause = advice->facts->parts->failure->cause;
    item->reason =
        "Enough is free, and no piece of it is large enough; how the driver's pool would place it is not known.";
    return cause == OOM_CAUSE_FRAGMENTATION || cause == OOM_CAUSE_UNPLACED;
}

bool remedy_one_request(const struct advice *advice, struct verdict_advice *item)
{
    const char *size = remedy_size(advice, OOM_needed_bytes);
    const char *asked = size[0] != '\0' ? arena_format(advice->facts->arena, "%s are asked for at once", size) : NULL;
    if (asked == NULL && item->title == NULL)
        return false;
    if (item->title == NULL)
        item->title =
            arena_format(advice->facts->arena, "%s: %s",
                         advice->facts->is_host ? "Work on it in pieces" : "Put fewer layers on the GPU", asked);
    if (asked != NULL)
        item->evidence = arena_format(advice->facts->arena, "%s.", asked);
    item->reason = "What of it is needed at one time, and what there was, is not in the text.";
    return true;
}

/* ---- kernels ---- */

static const char *kernel_evidence(const struct advice *advice)
{
    return arena_format(advice->facts->arena, "One block takes %s of shared memory; there are %s.",
                        remedy_size(advice, OOM_needed_bytes), remedy_size(advice, OOM_capacity_bytes));
}

bool remedy_stages(const struct advice *advice, struct verdict_advice *item)
{
    if (!oom_is_past_capacity(advice->facts->failure))
        return false;
    item->evidence = kernel_evidence(advice);
    item->reason = "Each stage keeps blocks of its own; how many stages there are is not in the text.";
    return true;
}

/* What a block may have of it without asking, and the most that any GPU gives one that asks (compute capability
 * 9.0). */
enum { STATIC_SHARED_BYTES = 48 << 10, DYNAMIC_SHARED_BYTES = 227 << 10 };

bool remedy_dynamic_shared(const struct advice *advice, struct verdict_advice *item)
{
    int64_t needed = facts_figure(advice->facts, OOM_needed_bytes);
    if (needed < 0 || facts_figure(advice->facts, OOM_capacity_bytes) != STATIC_SHARED_BYTES)
        return false;
    item->title = "Take it as dynamic shared memory: 48 KiB is the limit of what is static";
    item->call = arena_format(advice->facts->arena,
                              "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, %lld)",
                              (long long)needed);
    item->reason =
        "The most that a block may have so is 99 to 227 KiB on GPUs from compute capability 8.0 on; which GPU it "
        "is the text does not say.";
    item->evidence = kernel_evidence(advice);
    item->fits = needed <= DYNAMIC_SHARED_BYTES ? VERDICT_FITS_PERHAPS : VERDICT_FITS_NO;
    return true;
}

/* ---- NCCL, Metal ---- */

bool remedy_nccl(const struct advice *advice, struct verdict_advice *item)
{
    const char *size = remedy_size(advice, OOM_needed_bytes);
    if (size[0] != '\0')
        item->evidence =
            arena_format(advice->facts->arena, "NCCL asked for %s beside the framework's allocator.", size);
    item->reason =
        "Each communicator has buffers for each channel (4 MiB unless told otherwise); transfers may be slower. "
        "How many there are is not in the text.";
    return true;
}

bool remedy_shared(const struct advice *advice, struct verdict_advice *item)
{
    const char *size = remedy_size(advice, OOM_needed_bytes);
    if (size[0] != '\0')
        item->evidence =
            arena_format(advice->facts->arena, "There was no place for a segment of %s in /dev/shm.", size);
    item->reason =
        "A container has 64 MiB of it unless it is told otherwise; how many segments there are is not in the text.";
    return true;
}

bool remedy_metal_buffer(const struct advice *advice, struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t needed = facts_figure(facts, OOM_needed_bytes), most = facts_figure(facts, OOM_capacity_bytes);
    if (most < 0)
        return false;
    item->title = arena_format(facts->arena, "Take it in pieces of at most %s: a smaller batch, a shorter context",
                               facts_size(facts, most));
    item->evidence = "One buffer has a limit of its own, however much is free.";
    item->reason = "The text states the limit of one buffer; what the pieces take together it does not.";
    if (needed > most) {
        item->confidence = VERDICT_EXACT;
        item->saves_bytes = needed - most;
        item->lands_at_bytes = most;
    }
    return true;
}
