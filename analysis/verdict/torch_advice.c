/* SPDX-License-Identifier: Apache-2.0
 * torch_advice.c: what the figures of an allocator snapshot of PyTorch say would help. What can be replayed has the
 * figures of the replay; of all else each piece states at most what its memory takes at the moment. */
#include "verdict/advice.h"
#include "verdict/torch_item.h"
#include "verdict/torch_moment.h"
#include "verdict/torch_replay.h"

/* What holds less of the moment than this is not advised about. */
enum { LEAST_PART = 50 };

/* Expandable segments have to save at least 1/LEAST_SAVED of what the segments take. */
enum { LEAST_SAVED = 10 };

/* In PyTorch fused attention is a word, and takes no time; a state of 8 bits makes other numbers. */
static uint32_t effort_of(const struct verdict_advice *item)
{
    return item->kind == VERDICT_ADVICE_FUSED_ATTENTION   ? 10
           : item->kind == VERDICT_ADVICE_OPTIMIZER_DTYPE ? 100
                                                          : item->effort;
}

struct verdict_advice *torch_advice_land(struct advice *advice, const struct torch_item *item, int64_t lands_at_bytes)
{
    const struct torch_moment *moment = advice->facts->moment;
    if (item->saves_bytes >= 0 && item->saves_bytes < moment->in_use_bytes / LEAST_PART)
        return NULL;
    advice->kind = item->kind;
    struct verdict_advice *added =
        advice_add(advice, (struct verdict_advice){
                               .title = item->title,
                               .call = item->call,
                               .change = item->change,
                               .allocated_bytes = lands_at_bytes < 0 ? -1 : item->allocated_bytes,
                               .saves_bytes = item->saves_bytes > 0 ? item->saves_bytes : -1,
                               .lands_at_bytes = lands_at_bytes,
                               .confidence = item->confidence,
                               .reason = item->reason,
                               .evidence = item->evidence,
                               .tool = "memory_profile",
                               .filter = item->category == CATEGORY_COUNT ? NULL
                                                                          : arena_format(advice->facts->arena, "cat:%s",
                                                                                         category_name(item->category)),
                               .extra_flops_percent = -1,
                           });
    added->effort = effort_of(added);
    const struct memory_profile_failure *failure = moment->failure;
    if (failure != NULL && failure->kind == PROFILE_FAILURE_SHORTAGE && added->saves_bytes >= 0 &&
        added->saves_bytes < failure->missing_bytes)
        added->fits = VERDICT_FITS_NO;
    return added;
}

/* What a replay says of the fit goes before what the figure alone would; but one that is near to the limit only may
 * fit. */
static enum verdict_fits fits_beside(enum verdict_fits by_figure, enum verdict_fits by_replay)
{
    bool is_near = by_figure == VERDICT_FITS_PERHAPS && by_replay == VERDICT_FITS_NO;
    return is_near ? by_figure : by_replay;
}

struct verdict_advice *torch_advice_add(struct advice *advice, const struct torch_item *item)
{
    struct torch_item changed = *item;
    struct torch_replay_figures figures;
    enum torch_replay_word word =
        item->change == NULL ? TORCH_REPLAY_NOT_KNOWN : torch_replay_try(advice->replay, item->change, &figures);
    if (word == TORCH_REPLAY_IDLE)
        return NULL;
    if (word == TORCH_REPLAY_NOT_KNOWN)
        changed.change = NULL;
    if (word == TORCH_REPLAY_COSTLY)
        changed.reason = arena_format(
            advice->facts->arena, "%s The recording is too long for a replay here: memviewd whatif says the figure.",
            item->reason);
    if (word != TORCH_REPLAY_MADE)
        return torch_advice_land(advice, &changed, -1);
    changed.saves_bytes = figures.saves_bytes;
    changed.confidence = figures.confidence;
    changed.reason = figures.reason;
    changed.allocated_bytes = figures.allocated_bytes;
    struct verdict_advice *added = torch_advice_land(advice, &changed, figures.lands_at_bytes);
    if (added != NULL && figures.fits != VERDICT_FITS_UNKNOWN)
        added->fits = fits_beside(added->fits, figures.fits);
    return added;
}

const char *torch_advice_holds(const struct advice *advice, enum category category, const char *more)
{
    const struct verdict_facts *facts = advice->facts;
    return arena_format(facts->arena, "%s %s of %s%s.", torch_moment_holder(facts, category),
                        facts_size(facts, facts->moment->sums[category].bytes),
                        facts_size(facts, facts->moment->in_use_bytes), more);
}

static const char *replay_reason(const struct verdict_facts *facts)
{
    const struct torch_segments *segments = &facts->moment->segments;
    return memory_profile_replay_reason(segments->replay, segments->expandable, facts->arena);
}

static const char *replay_words(const struct torch_segments *segments)
{
    return torch_segments_confidence(segments) == VERDICT_EXACT ? "By replay" : "By a replay that is not exact";
}

static const char expandable_title[] = "Let the allocator's segments grow, so that free pieces merge",
                  expandable_call[] = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";

/* No request failed, and much of what was taken of the device was free. */
static void expandable_find(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct torch_segments *segments = &facts->moment->segments;
    if (!torch_segments_is_needed(facts) || segments->saves_bytes <= 0 ||
        segments->saves_bytes < segments->peak_bytes / LEAST_SAVED)
        return;
    struct verdict_advice *added = torch_advice_land(
        advice,
        &(struct torch_item){VERDICT_ADVICE_FRAGMENTATION, CATEGORY_COUNT, segments->saves_bytes,
                             torch_segments_confidence(segments), expandable_title, expandable_call,
                             replay_reason(facts),
                             arena_format(facts->arena, "%s, %s of segments become %s.", replay_words(segments),
                                          facts_size(facts, segments->peak_bytes),
                                          facts_size(facts, segments->expandable->reserved_bytes)),
                             "expandable_segments", segments->expandable->allocated_bytes},
        segments->expandable->reserved_bytes);
    if (added != NULL)
        added->is_of_cause = segments->is_fragmented;
}

/* What became of the request that failed, as an end of the evidence. */
static const char *placed_text(const struct verdict_facts *facts)
{
    const struct torch_segments *segments = &facts->moment->segments;
    return segments->is_placed ? arena_format(facts->arena, " %s, with segments that grow the request succeeds.",
                                              replay_words(segments))
                               : "";
}

/* What is free in pieces that are too small. */
static void pieces_find(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct torch_moment *moment = facts->moment;
    const struct memory_profile_failure *failure = moment->failure;
    bool is_in_pieces =
        failure != NULL && (failure->kind == PROFILE_FAILURE_FRAGMENTATION ||
                            failure->kind == PROFILE_FAILURE_ELSEWHERE || failure->kind == PROFILE_FAILURE_PIECES);
    if (!is_in_pieces || failure->free_bytes <= 0 || moment->segments.is_refused)
        return;
    const char *evidence =
        arena_format(facts->arena, "%s were requested; %s were free in segments, and the largest usable hole was %s.%s",
                     facts_size(facts, failure->requested_bytes), facts_size(facts, failure->free_bytes),
                     facts_size(facts, failure->largest_hole_bytes), placed_text(facts));
    if (!moment->is_expandable)
        torch_advice_add(advice,
                         &(struct torch_item){VERDICT_ADVICE_FRAGMENTATION, CATEGORY_COUNT, failure->free_bytes,
                                              VERDICT_BOUND, expandable_title, expandable_call,
                                              "At most this much: what was free in segments that were partly in use.",
                                              evidence, "expandable_segments", 0});
    else
        torch_advice_add(advice,
                         &(struct torch_item){VERDICT_ADVICE_FRAGMENTATION, CATEGORY_COUNT, -1, VERDICT_GUESS,
                                              "Keep large blocks whole: expandable segments are already on",
                                              "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512",
                                              "A snapshot does not show how the allocator would then place them.",
                                              evidence, "max_split_size=512MiB", 0});
}

/* Takes away the cause: what is computed again, or a smaller batch, is held all the same. */
static void retained_find(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct memory_profile_retained *retained = &facts->moment->retained;
    struct verdict_advice *added = torch_advice_land(
        advice,
        &(struct torch_item){
            VERDICT_ADVICE_LEAK, CATEGORY_SAVED_ACTIVATION, retained->bytes, VERDICT_BOUND,
            "Free what each step saved: add up numbers, keep outputs detached and on the host",
            "total += loss.item()  # outputs.append(y.detach().cpu()); no retain_graph=True",
            "Upper bound: what earlier steps saved. A snapshot does not show which variable holds it: a running "
            "loss, a list of outputs, a hook, an exception that was kept. With create_graph=True it is held on "
            "purpose.",
            arena_format(facts->arena, "%s in %llu blocks have outlived up to %u backward passes.",
                         facts_size(facts, retained->bytes), (unsigned long long)retained->count,
                         retained->backward_count),
            NULL, 0},
        -1);
    if (added != NULL)
        added->is_of_cause = true;
}

static void activations_find(struct advice *advice)
{
    const struct torch_moment *moment = advice->facts->moment;
    int64_t bytes = moment->sums[CATEGORY_SAVED_ACTIVATION].bytes;
    if (bytes <= 0)
        return;
    if (!moment->named.is_training) {
        if (!moment->named.has_loss)
            torch_advice_add(
                advice,
                &(struct torch_item){
                    VERDICT_ADVICE_NO_GRADIENTS, CATEGORY_SAVED_ACTIVATION, bytes, VERDICT_BOUND,
                    "Keep nothing for gradients if none are needed", "with torch.no_grad(): …",
                    "At most this much, and only if nothing is trained: the recording shows no backward pass.",
                    torch_advice_holds(advice, CATEGORY_SAVED_ACTIVATION, "; no backward pass was recorded"), NULL, 0});
        torch_advice_add(
            advice, &(struct torch_item){VERDICT_ADVICE_BATCH, CATEGORY_SAVED_ACTIVATION, bytes / 2, VERDICT_BOUND,
                                         "Halve the batch", "DataLoader(…, batch_size=…)",
                                         "At most half of the activations: what does not grow with the batch stays.",
                                         torch_advice_holds(advice, CATEGORY_SAVED_ACTIVATION, ""), "batch=0.5", 0});
        return;
    }
    torch_advice_add(
        advice,
        &(struct torch_item){
            VERDICT_ADVICE_CHECKPOINT, CATEGORY_SAVED_ACTIVATION, bytes, VERDICT_BOUND,
            "Recompute activations in the backward pass",
            "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)",
            "At most this much: the blocks' inputs stay, and one block at a time is recomputed; a step takes about "
            "a third longer.",
            torch_advice_holds(advice, CATEGORY_SAVED_ACTIVATION, ""), "checkpoint", 0});
    torch_advice_add(
        advice, &(struct torch_item){VERDICT_ADVICE_BATCH, CATEGORY_SAVED_ACTIVATION, bytes / 2, VERDICT_BOUND,
                                     "Halve the batch, and accumulate the gradients of two",
                                     "(loss / 2).backward()  # twice, then optimizer.step()",
                                     "At most half of the activations: what does not grow with the batch stays.",
                                     torch_advice_holds(advice, CATEGORY_SAVED_ACTIVATION, ""), "accumulate=2", 0});
}

static const char *operation_evidence(const struct verdict_facts *facts, const struct torch_operation_sum *sum)
{
    return arena_format(facts->arena, "%s in %u block%s, made at %s.", facts_size(facts, sum->bytes), sum->count,
                        sum->count == 1 ? "" : "s", sum->line);
}

/* What one operation makes and another way of computing it never holds. */
static void operations_find(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct torch_operation_sum *sums = facts->moment->operations;
    const struct torch_operation_sum *scores = &sums[TORCH_OPERATION_ATTENTION_SCORES],
                                     *loss = &sums[TORCH_OPERATION_LOSS];
    struct verdict_advice *added = NULL;
    if (scores->line != NULL)
        added = torch_advice_add(
            advice,
            &(struct torch_item){
                VERDICT_ADVICE_FUSED_ATTENTION, CATEGORY_COUNT, scores->bytes, VERDICT_BOUND,
                "Use fused attention (SDPA, FlashAttention), which never holds the scores",
                scores->is_of_transformers
                    ? "model = AutoModelForCausalLM.from_pretrained(…, attn_implementation=\"sdpa\")"
                    : "torch.nn.functional.scaled_dot_product_attention(q, k, v)  # attn_mask or is_causal as before",
                "Upper bound, if the softmax belongs to attention; arbitrary masks may keep SDPA from its "
                "fused kernels.",
                operation_evidence(facts, scores), "attention=sdpa", 0});
    if (added != NULL)
        added->is_of_cause = facts->out->cause.kind == VERDICT_CAUSE_ATTENTION_LOGITS;
    added = loss->line == NULL
                ? NULL
                : torch_advice_land(
                      advice,
                      &(struct torch_item){
                          VERDICT_ADVICE_CHUNKED_LOSS, CATEGORY_COUNT, loss->bytes, VERDICT_BOUND,
                          "Compute the loss in chunks, or fused with the last layer",
                          "liger_kernel.transformers.LigerFusedLinearCrossEntropyLoss()  # or logits of a part of the "
                          "tokens at a time",
                          "Upper bound: logits of one chunk are there at a time.", operation_evidence(facts, loss),
                          NULL, 0},
                      -1);
    if (added != NULL)
        added->is_of_cause = facts->out->cause.kind == VERDICT_CAUSE_LOGITS;
}

/* Gradients that are older than the recording and take part in a moment of activations: nothing freed them. */
static void gradients_find(struct advice *advice)
{
    const struct torch_moment *moment = advice->facts->moment;
    int64_t bytes = moment->pool->before[CATEGORY_GRADIENT].bytes;
    if (bytes <= 0 || moment->sums[CATEGORY_SAVED_ACTIVATION].bytes < bytes)
        return;
    torch_advice_add(
        advice, &(struct torch_item){
                    VERDICT_ADVICE_GRADIENTS_FREED, CATEGORY_GRADIENT, bytes, VERDICT_GUESS,
                    "Free the gradients between steps", "optimizer.zero_grad(set_to_none=True)",
                    "At most this much, if the peak is before the backward pass. That they are gradients is inferred "
                    "from sizes. It does not apply if one step accumulates several batches.",
                    torch_advice_holds(advice, CATEGORY_GRADIENT, "; they were there before the forward pass"),
                    "zero_grad", 0});
}

static void state_find(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct torch_moment *moment = facts->moment;
    int64_t state = moment->sums[CATEGORY_OPTIMIZER_STATE].bytes, parameters = moment->sums[CATEGORY_PARAMETER].bytes,
            gradients = moment->sums[CATEGORY_GRADIENT].bytes;
    torch_advice_add(
        advice, &(struct torch_item){
                    VERDICT_ADVICE_OPTIMIZER_DTYPE, CATEGORY_OPTIMIZER_STATE, state / 4 * 3, VERDICT_GUESS,
                    "Keep the optimizer's state in 8 bits", "bitsandbytes.optim.AdamW8bit(model.parameters(), lr=…)",
                    "Three quarters of it if it has 32 bits, which sizes do not show; steps differ a little.",
                    torch_advice_holds(advice, CATEGORY_OPTIMIZER_STATE, ""), "optimizer=8bit", 0});
    if (moment->has_backward || state > 0)
        torch_advice_add(
            advice,
            &(struct torch_item){VERDICT_ADVICE_SHARD, CATEGORY_COUNT, (state + parameters + gradients) / 2,
                                 VERDICT_BOUND, "Split parameters, gradients and optimizer state over two GPUs",
                                 "torch.distributed.fsdp.fully_shard(model)",
                                 "At most half of them on two GPUs: the layer being computed is held whole.",
                                 arena_format(facts->arena, "Parameters, gradients and optimizer state hold %s of %s.",
                                              facts_size(facts, state + parameters + gradients),
                                              facts_size(facts, moment->in_use_bytes)),
                                 "shard=2", 0});
}

/* What shrinks the category that holds most goes first. */
static void cause_mark(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const enum category largest = torch_moment_largest(facts->moment);
    for (uint32_t i = 0; i < advice->count; i++)
        if (advice->items[i].is_of_cause)
            return;
    bool is_of_weights = facts->out->cause.kind == VERDICT_CAUSE_OPTIMIZER_STATE ||
                         facts->out->cause.kind == VERDICT_CAUSE_PARAMETERS ||
                         facts->out->cause.kind == VERDICT_CAUSE_GRADIENTS;
    for (uint32_t i = 0; i < advice->count; i++) {
        struct verdict_advice *item = &advice->items[i];
        enum category category;
        bool is_of_largest = item->filter != NULL && str_starts(str_of(item->filter), STR("cat:")) &&
                             category_find(str_of(item->filter + 4), &category) && category == largest;
        item->is_of_cause =
            is_of_weights && torch_advice_is(item) && (is_of_largest || item->kind == VERDICT_ADVICE_SHARD);
    }
}

/* Advises to start recording earlier, because what was allocated before is unknown. */
static void earlier_find(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct torch_moment *moment = facts->moment;
    if (!torch_moment_is_unknown(moment))
        return;
    advice->kind = VERDICT_ADVICE_RECORD_EARLIER;
    advice_add(advice,
               (struct verdict_advice){
                   .title = "To know what holds it, record from before the model is made",
                   .call = "torch.cuda.memory._record_memory_history(max_entries=1_000_000)  # first, with stacks",
                   .saves_bytes = -1,
                   .lands_at_bytes = -1,
                   .confidence = VERDICT_GUESS,
                   .reason = "It frees nothing.",
                   .evidence = torch_moment_unknown_sentence(facts),
                   .tool = "memory_profile",
                   .filter = "cat:unknown",
                   .extra_flops_percent = -1,
               });
}

void torch_advice_find(struct advice *advice)
{
    if (advice->facts->moment == NULL)
        return;
    advice->replay = arena_array(advice->facts->arena, struct torch_replay, 1);
    torch_replay_begin(advice->replay, advice->facts);
    expandable_find(advice);
    pieces_find(advice);
    bool is_evaluation = advice->facts->moment->named.is_cause[TORCH_NAMED_EVALUATION];
    if (advice->facts->moment->is_retained) {
        retained_find(advice);
    } else {
        if (!is_evaluation)
            activations_find(advice);
        operations_find(advice);
    }
    torch_named_advise(advice);
    gradients_find(advice);
    state_find(advice);
    cause_mark(advice);
    earlier_find(advice);
}

const char *torch_advice_sentence(const struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct memory_profile_failure *failure = facts->moment->failure;
    if (failure == NULL || failure->kind == PROFILE_FAILURE_UNKNOWN || failure->kind == PROFILE_FAILURE_LIMIT)
        return NULL;
    return arena_format(
        facts->arena,
        "torch.cuda.empty_cache() does not help here: before the request failed, the allocator gave back "
        "completely free segments, and the %s that were left free are in segments with blocks in use.%s",
        facts_size(facts, failure->free_bytes),
        facts->moment->segments.is_refused
            ? " Nor does expandable_segments:True: by replay the request fails with it as well."
            : "");
}
