/* SPDX-License-Identifier: Apache-2.0
 * torch_cause.c: why memory ran short by a snapshot of PyTorch's: graphs that are kept, free memory in pieces, one
 * operation, or the category that holds most. */
#include "verdict/facts.h"
#include "verdict/torch_moment.h"

#include "model/memory_profile/failures.h"

/* For a snapshot whose segments hold far more than is in use, and would not if they could grow. */
static void of_segments(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    const struct torch_segments *segments = &moment->segments;
    const char *how = torch_segments_confidence(segments) == VERDICT_EXACT ? "" : ", by a replay that is not exact,";
    cause_set(facts, VERDICT_CAUSE_FRAGMENTATION, segments->beside_bytes, torch_segments_confidence(segments),
              arena_format(facts->arena,
                           "PyTorch's segments take %s for %s in use: freed blocks do not fit the sizes that are "
                           "requested next. With segments that grow they%s take %s.",
                           facts_size(facts, segments->peak_bytes), facts_size(facts, moment->in_use_bytes), how,
                           facts_size(facts, segments->expandable->reserved_bytes)));
}

/* For a snapshot: what earlier steps saved for their backward passes and still hold. */
static void of_retained(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    const struct memory_profile_retained *retained = &moment->retained;
    const struct memory_profile_category_sum *saved = &moment->sums[CATEGORY_SAVED_ACTIVATION];
    const char *line = torch_moment_line(facts, CATEGORY_SAVED_ACTIVATION);
    cause_set(facts, VERDICT_CAUSE_EARLIER_STEPS, retained->bytes,
              saved->guessed_bytes * 2 > saved->bytes ? VERDICT_GUESS : VERDICT_BOUND,
              arena_format(facts->arena,
                           "Memory of earlier forward passes is still held: of the %s of saved activations, %s have "
                           "outlived up to %u backward passes%s%s.",
                           facts_size(facts, saved->bytes), facts_size(facts, retained->bytes),
                           retained->backward_count, line[0] != '\0' ? "; the largest part was made at " : "", line));
}

static const struct {
    enum verdict_cause_kind cause;
    const char *words, *made_by;
} of_operation[TORCH_OPERATION_COUNT] = {
    [TORCH_OPERATION_ATTENTION_SCORES] = {VERDICT_CAUSE_ATTENTION_LOGITS, "Attention scores", "a softmax"},
    [TORCH_OPERATION_LOSS] = {VERDICT_CAUSE_LOGITS, "Logits of the loss", "the cross entropy"},
};

/* For a snapshot: what one operation holds of activations and workspace. */
static void of_main_operation(const struct verdict_facts *facts, enum torch_operation operation)
{
    const struct torch_operation_sum *sum = &facts->moment->operations[operation];
    cause_set(facts, of_operation[operation].cause, sum->bytes, VERDICT_BOUND,
              arena_format(facts->arena, "%s hold %s of %s: %u block%s of %s and of what its line makes of it, %s.",
                           of_operation[operation].words, facts_size(facts, sum->bytes),
                           facts_size(facts, facts->moment->in_use_bytes), sum->count, sum->count == 1 ? "" : "s",
                           of_operation[operation].made_by, sum->line));
}

/* For a request that failed although enough was free. */
static void of_pieces(const struct verdict_facts *facts)
{
    const struct memory_profile_failure *failure = facts->moment->failure;
    cause_set(facts, VERDICT_CAUSE_FRAGMENTATION, failure->free_bytes, VERDICT_EXACT,
              arena_format(facts->arena, "%s were free in segments, and the largest hole usable for %s was %s.",
                           facts_size(facts, failure->free_bytes), facts_size(facts, failure->requested_bytes),
                           facts_size(facts, failure->largest_hole_bytes)));
}

/* What holds most, but for what nothing tells of: then that is said, and where it comes from. */
static void of_largest(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    enum category largest = torch_moment_largest(moment);
    const struct memory_profile_category_sum *sum = &moment->sums[largest];
    if (torch_moment_is_unknown(moment))
        cause_set(facts, VERDICT_CAUSE_UNKNOWN, moment->sums[CATEGORY_UNKNOWN].bytes, VERDICT_GUESS,
                  torch_moment_unknown_sentence(facts));
    else
        cause_set(facts, cause_of_category(largest), sum->bytes,
                  sum->guessed_bytes * 2 > sum->bytes ? VERDICT_GUESS : VERDICT_BOUND,
                  arena_format(facts->arena, "%s %s of %s.", torch_moment_holder(facts, largest),
                               facts_size(facts, sum->bytes), facts_size(facts, moment->in_use_bytes)));
}

static bool is_in_pieces(const struct memory_profile_failure *failure)
{
    return failure != NULL && !memory_profile_failures_is_full(failure) &&
           (failure->kind == PROFILE_FAILURE_FRAGMENTATION || failure->kind == PROFILE_FAILURE_ELSEWHERE);
}

/* For a snapshot: what earlier steps keep, a request that failed for fragmentation, what has a name, else what holds
 * most. */
void torch_cause_make(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    enum torch_named_cause named = torch_named_first(moment);
    enum torch_operation operation = torch_operations_main(moment);
    bool is_of_pools = moment->named.is_cause[TORCH_NAMED_GRAPH_POOLS];
    int64_t unknown = moment->sums[CATEGORY_UNKNOWN].bytes;
    bool is_main = operation != TORCH_OPERATION_NONE &&
                   moment->operations[operation].bytes > moment->in_use_bytes / 5 &&
                   moment->operations[operation].bytes >= unknown;
    if (moment->is_retained)
        of_retained(facts);
    else if (named == TORCH_NAMED_STEPS_KEEP)
        torch_named_set(facts, named);
    else if (is_in_pieces(moment->failure) && moment->failure->kind == PROFILE_FAILURE_ELSEWHERE && is_of_pools)
        torch_named_set(facts, TORCH_NAMED_GRAPH_POOLS);
    else if (is_in_pieces(moment->failure))
        of_pieces(facts);
    else if (moment->segments.is_fragmented)
        of_segments(facts);
    else if (named <= TORCH_NAMED_GRAPH_POOLS)
        torch_named_set(facts, named);
    else if (is_main)
        of_main_operation(facts, operation);
    else if (named != TORCH_NAMED_COUNT && moment->named.bytes[named] >= unknown)
        torch_named_set(facts, named);
    else
        of_largest(facts);
}
