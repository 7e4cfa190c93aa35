/* SPDX-License-Identifier: Apache-2.0
 * remedy_gpu.c: what texts of PyTorch's and TensorFlow's allocators, of drivers, kernels, NCCL and Metal say of their
 * remedies. */
#include "model/oom/meaning.h"
#include "verdict/remedy.h"

/* What PyTorch's allocator asks the driver for is at most this much more than was requested, for all but small ones. */
enum { LAST_OF_GUESSES = 300, ROUNDED_UP_BYTES = 20 << 20 };

/* ---- allocators ---- */

/* What is kept in pieces, with what is free, would do. */
bool remedy_torch_pieces(const struct advice *advice, struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t needed = facts_figure(facts, OOM_needed_bytes), left = facts_figure(facts, OOM_free_bytes);
    int64_t kept = remedy_kept_bytes(advice);
    enum oom_cause cause = facts->parts->failure->cause;
    bool is_free = left >= needed && cause != OOM_CAUSE_FRAGMENTATION;
    if (needed < 0 || kept <= 0 || oom_is_past_capacity(facts->failure) || is_free ||
        kept < needed - facts_positive(left))
        return false;
    item->saves_bytes = kept;
    item->confidence = VERDICT_BOUND;
    if (cause != OOM_CAUSE_FRAGMENTATION && !oom_keeps_much(facts->failure)) { /* the rest fills the device */
        item->confidence = VERDICT_GUESS;
        item->effort = LAST_OF_GUESSES;
    }
    item->reason =
        "At most this much: what is free in segments that are partly in use. torch.cuda.empty_cache() frees none of "
        "it: before it fails, the allocator itself gives back completely free segments. Needs PyTorch 2.1 or later.";
    item->evidence = arena_format(
        facts->arena, "PyTorch has reserved %s that it has not given out%s; %s are asked for.", facts_size(facts, kept),
        left < 0 ? "" : arena_format(facts->arena, ", %s are free", facts_size(facts, left)),
        facts_size(facts, needed));
    return true;
}

/* It takes away what stands in the way: a limit of one buffer, weights that leave no room, more compilers than fit. */
bool remedy_of_cause(const struct advice *advice, struct verdict_advice *item)
{
    (void)advice;
    item->is_of_cause = true;
    return true;
}

/* First of what may help, where neither the program nor what it was doing is known; else nothing. */
bool remedy_unless_known(const struct advice *advice, struct verdict_advice *item)
{
    item->is_of_cause = true;
    return advice->count == 0;
}

/* A limit that was set for a pool: what the device has besides, the text does not say. */
bool remedy_pool_limit(const struct advice *advice, struct verdict_advice *item)
{
    struct arena *arena = advice->facts->arena;
    const char *limit = remedy_size(advice, OOM_capacity_bytes);
    item->title = arena_format(arena, "Let the pool take more than %s", limit);
    item->evidence = arena_format(arena, "The pool may take %s.", limit);
    item->reason = "The program set this limit; the text does not say how much of the device is free.";
    return true;
}

/* A limit that was set for the process: more is free than it may have in all. */
bool remedy_torch_allowed(const struct advice *advice, struct verdict_advice *item)
{
    int64_t allowed = facts_figure(advice->facts, OOM_capacity_bytes),
            left = facts_figure(advice->facts, OOM_free_bytes);
    if (allowed < 0 || left <= allowed || !advice->facts->failure->has_own_limit)
        return false;
    struct arena *arena = advice->facts->arena;
    item->title = arena_format(arena, "Let this process take more than %s", facts_size(advice->facts, allowed));
    item->evidence = arena_format(arena, "This process may take %s; %s of the GPU are free.",
                                  facts_size(advice->facts, allowed), facts_size(advice->facts, left));
    item->confidence = VERDICT_EXACT;
    item->reason = "The text states both; it does not say who set the limit.";
    item->fits = VERDICT_FITS_PERHAPS;
    return true;
}

/* What Level Zero gives in one piece by default. */
#define LARGEST_PIECE_BYTES (INT64_C(4) << 30)

/* What PyTorch holds of the device, where the text does not say what is free and far more than was asked for is left by
 * its own count; -1: it is not so. */
static int64_t held_of_ample(const struct verdict_facts *facts)
{
    enum { SHARE_LEFT = 4, TIMES_NEEDED = 2 };
    int64_t needed = facts_figure(facts, OOM_needed_bytes), capacity = facts_figure(facts, OOM_capacity_bytes),
            reserved = facts_figure(facts, OOM_reserved_bytes), held = facts_figure(facts, OOM_allocated_bytes);
    held = reserved > held ? reserved : held;
    bool is_ample = facts_figure(facts, OOM_free_bytes) < 0 && needed >= 0 && held >= 0 && capacity > held &&
                    (capacity - held) / TIMES_NEEDED >= needed && capacity - held >= capacity / SHARE_LEFT;
    return is_ample && facts->parts->failure->cause == OOM_CAUSE_NOT_KNOWN ? held : -1;
}

/* By what PyTorch counts there was room. */
static bool refused_by_count(const struct advice *advice, struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t held = held_of_ample(facts);
    bool is_past_piece =
        oom_is_form(facts->failure, "xpu") && facts_figure(facts, OOM_needed_bytes) > LARGEST_PIECE_BYTES;
    if (held < 0 || is_past_piece)
        return false;
    item->title = arena_format(facts->arena, "Look for what else limits it: PyTorch holds only %s of %s",
                               facts_size(facts, held), remedy_size(advice, OOM_capacity_bytes));
    item->reason =
        "Other processes hold the rest, or one allocation may not be this large, or the driver refused it for "
        "another reason; the text does not say what is free.";
    item->evidence = arena_format(facts->arena, "%s are asked for; %s are not held by PyTorch.",
                                  remedy_size(advice, OOM_needed_bytes),
                                  facts_size(facts, facts_figure(facts, OOM_capacity_bytes) - held));
    item->is_of_cause = true;
    return true;
}

/* The driver refused although more was free: another limit than the device's memory. */
bool remedy_torch_refused(const struct advice *advice, struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t needed = facts_figure(facts, OOM_needed_bytes), left = facts_figure(facts, OOM_free_bytes);
    if (refused_by_count(advice, item))
        return true;
    if (facts->parts->failure->cause != OOM_CAUSE_UNPLACED || left - needed < ROUNDED_UP_BYTES)
        return false;
    item->evidence = arena_format(facts->arena, "%s are asked for, and %s are free.",
                                  remedy_size(advice, OOM_needed_bytes), remedy_size(advice, OOM_free_bytes));
    item->is_of_cause = true;
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
    int64_t capacity = facts_figure(facts, OOM_capacity_bytes), missing = remedy_short_bytes(advice),
            left = facts_figure(facts, OOM_free_bytes);
    uint64_t held = oom_others(facts->failure);
    enum oom_cause cause = facts->parts->failure->cause;
    bool is_listed = facts_figure(facts, OOM_others_bytes) > 0;
    int64_t others = held > INT64_MAX ? INT64_MAX : (int64_t)held;
    bool is_refused = cause == OOM_CAUSE_OTHER_PROCESS && left >= 0 && missing < 0; /* what is free is in pieces */
    if (others <= 0 || (missing < 0 && !is_refused) || oom_is_past_capacity(facts->failure) ||
        (!is_listed && cause != OOM_CAUSE_OTHER_PROCESS))
        return false;
    item->title = arena_format(facts->arena, "Make room: other processes hold %s", facts_size(facts, others));
    item->saves_bytes = others;
    item->confidence = VERDICT_BOUND;
    item->fits = others >= missing ? VERDICT_FITS_PERHAPS : VERDICT_FITS_NO;
    if (!is_listed)
        item->reason = "At most this much: it is neither free nor this process's; the text does not say whose it is.";
    item->evidence = arena_format(facts->arena, "Others hold %s%s; %s are %s.", facts_size(facts, others),
                                  capacity < 0 ? "" : arena_format(facts->arena, " of %s", facts_size(facts, capacity)),
                                  facts_size(facts, is_refused ? left : missing), is_refused ? "free" : "missing");
    return true;
}

/* Nothing that is let go makes room for more than there is. */
bool remedy_smaller_request(const struct advice *advice, struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    if (facts->parts->failure->cause != OOM_CAUSE_TOO_LARGE)
        return false;
    const char *wrong = fit_wrong_size(facts);
    item->title = wrong != NULL
                      ? wrong
                      : arena_format(facts->arena, "Make this one request smaller: no setting makes room for %s on %s",
                                     remedy_size(advice, OOM_needed_bytes), fit_device_words(facts));
    item->reason = wrong == NULL
                       ? "One tensor has this size: its shape is wrong, or it has to be made in slices or tiles."
                       : FIT_WRONG_SIZE_REASON;
    item->is_of_cause = true;
    item->fits = VERDICT_FITS_PERHAPS;
    return true;
}

/* Nothing but this request stands in the way: PyTorch holds nothing, and the GPU has more in all. */
bool remedy_xpu_pieces(const struct advice *advice, struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t needed = facts_figure(facts, OOM_needed_bytes);
    if (facts->parts->failure->cause != OOM_CAUSE_NOT_KNOWN || needed <= LARGEST_PIECE_BYTES ||
        facts_figure(facts, OOM_capacity_bytes) <= needed ||
        (facts_figure(facts, OOM_allocated_bytes) != 0 && held_of_ample(facts) < 0))
        return false;
    const char *held =
        facts_figure(facts, OOM_allocated_bytes) == 0 ? "nothing" : remedy_size(advice, OOM_allocated_bytes);
    item->evidence = arena_format(facts->arena, "%s are asked for in one piece of the GPU's %s, and PyTorch holds %s.",
                                  remedy_size(advice, OOM_needed_bytes), remedy_size(advice, OOM_capacity_bytes), held);
    item->is_of_cause = true;
    return true;
}

/* Gradients first, unless the frames show that none are kept. */
bool remedy_evaluation(const struct advice *advice, struct verdict_advice *item)
{
    bool is_off = advice->facts->failure->has_no_gradients;
    item->title = is_off ? "Evaluate with a smaller batch, and move results off the GPU after each"
                         : "Evaluate without gradients, and with a smaller batch";
    item->call = is_off ? "per_device_eval_batch_size=1, eval_accumulation_steps=1  # of Trainer; else "
                          "outputs.append(model(x).cpu())"
                        : "with torch.no_grad(): …  # or torch.inference_mode(); in Hugging Face's Trainer: "
                          "per_device_eval_batch_size=1, eval_accumulation_steps=1";
    return true;
}

/* Where the text or the lines before it show that a whole array is copied. */
bool remedy_data_set(const struct advice *advice, struct verdict_advice *item)
{
    item->is_of_cause = true;
    if (!oom_has_sign(advice->facts->failure, OOM_SIGN_data_set))
        item->reason = "Helps if a whole data set is copied to the GPU as one constant; the text does not say what is.";
    return oom_is_form(advice->facts->failure, "copy") || oom_has_sign(advice->facts->failure, OOM_SIGN_data_set);
}

bool remedy_hami(const struct advice *advice, struct verdict_advice *item)
{
    const char *limit = remedy_size(advice, OOM_capacity_bytes);
    item->title = arena_format(advice->facts->arena, "Give the container a larger share of the GPU%s%s",
                               limit[0] == '\0' ? "" : ": HAMi's limit is ", limit);
    if (facts_figure(advice->facts, OOM_total_bytes) < 0) {
        item->title = "Restart the container with a newer version of HAMi: its usage counter went below zero";
        item->call = "";
    }
    item->reason = "HAMi refuses requests above the container's limit, however much of the GPU is free.";
    item->evidence = facts_sentence(advice->facts, &advice->facts->parts->failure->answer);
    return true;
}

bool remedy_context(const struct advice *advice, struct verdict_advice *item)
{
    const char *capacity = remedy_size(advice, OOM_capacity_bytes);
    item->title = "Make room: other processes hold the GPU";
    if (capacity[0] != '\0')
        item->evidence =
            arena_format(advice->facts->arena, "Of the GPU's %s, not enough was free for a context.", capacity);
    return true;
}

bool remedy_bfc_pieces(const struct advice *advice, struct verdict_advice *item)
{
    enum oom_cause cause = advice->facts->parts->failure->cause;
    item->reason = "Enough is free, but no piece is large enough; how the driver's pool would place it is not known.";
    return cause == OOM_CAUSE_FRAGMENTATION || cause == OOM_CAUSE_UNPLACED;
}

bool remedy_one_request(const struct advice *advice, struct verdict_advice *item)
{
    const char *size = remedy_size(advice, OOM_needed_bytes);
    const char *asked = size[0] != '\0' ? arena_format(advice->facts->arena, "%s are asked for at once", size) : NULL;
    if ((asked == NULL && item->title == NULL) || remedy_is_small_of_host(advice) ||
        fit_wrong_size(advice->facts) != NULL)
        return false;
    if (item->title == NULL)
        item->title =
            arena_format(advice->facts->arena, "%s: %s",
                         advice->facts->is_host ? "Work on it in pieces" : "Put fewer layers on the GPU", asked);
    if (asked != NULL)
        item->evidence = arena_format(advice->facts->arena, "%s.", asked);
    item->reason = "The text does not say how much of it is needed at one time, nor how much was free.";
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
    item->reason = "Each stage keeps its own blocks; the text does not say how many stages there are.";
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
    item->title = "Use dynamic shared memory: static shared memory is limited to 48 KiB";
    item->call = arena_format(advice->facts->arena,
                              "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, %lld)",
                              (long long)needed);
    item->reason =
        "A block may then have at most 99 to 227 KiB on GPUs of compute capability 8.0 or higher; the text does not "
        "say which GPU it is.";
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
            arena_format(advice->facts->arena, "NCCL requested %s outside the framework's allocator.", size);
    item->reason =
        "Each communicator has buffers for each channel (4 MiB by default); transfers may be slower. The text does not "
        "say how many there are.";
    return true;
}

bool remedy_shared(const struct advice *advice, struct verdict_advice *item)
{
    const char *size = remedy_size(advice, OOM_needed_bytes);
    if (size[0] != '\0')
        item->evidence = arena_format(advice->facts->arena, "A segment of %s did not fit into /dev/shm.", size);
    item->reason = "By default a container has 64 MiB of it; the text does not say how many segments there are.";
    return true;
}

bool remedy_metal_buffer(const struct advice *advice, struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t needed = facts_figure(facts, OOM_needed_bytes), most = facts_figure(facts, OOM_capacity_bytes);
    if (most < 0)
        return false;
    item->title = arena_format(facts->arena, "Use pieces of at most %s: a smaller batch, a shorter context",
                               facts_size(facts, most));
    item->evidence = "A single buffer has its own limit, however much is free.";
    item->reason = "The text states the limit of one buffer, but not what the pieces take together.";
    if (needed > most) {
        item->confidence = VERDICT_EXACT;
        item->saves_bytes = needed - most;
        item->lands_at_bytes = most;
    }
    return true;
}
