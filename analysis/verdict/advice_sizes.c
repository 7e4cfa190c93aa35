/* SPDX-License-Identifier: Apache-2.0
 * advice_sizes.c: a smaller batch, a shorter sequence. */
#include "verdict/advice.h"

#include "plan/arguments.h"
#include "read/hlo/hlo_sharding.h"
#include "read/hlo/shape.h"
#include "whatif/microbatch.h"
#include "whatif/sequence_sign.h"

/* Shares of the batch, of the sequence, in the order in which they are tried. */
static const char *const shares[] = {"0.5", "0.25"};
enum { SHARE_COUNT = sizeof(shares) / sizeof(shares[0]) };

/* " (16 → 8)", or ""; `what` becomes "microbatch" or "sequence" where that is what changes. */
static const char *sizes_of(struct advice *advice, const char *text, const char **what)
{
    struct microbatch before, after;
    struct variant variant;
    struct change change;
    struct change_target *targets;
    struct err err = ERR_INIT;
    uint32_t count;
    const char *sizes = "";
    variant_copy(&variant, &advice->start, advice->tried);
    bool has_targets =
        change_read(str_of(text), &change, &err) && change_targets(&variant, &change, &targets, &count, &err);
    if (has_targets && microbatch_of_change(&variant, &change, &targets[0], &before, &after)) {
        *what = "microbatch";
        sizes = arena_format(advice->facts->arena, " (%lld → %lld)", (long long)microbatch_size_of_all(&before),
                             (long long)microbatch_size_of_all(&after));
    } else if (has_targets) {
        const struct plan_argument *argument = arguments_find(variant.plan, targets[0].parameter);
        int64_t parts = argument == NULL ? 1
                                         : hlo_sharding_parts(&variant.plan->hlo, argument->instruction_at,
                                                              argument->number, targets[0].dimension);
        if (change_has_token_behind(&variant, targets[0].at)) /* one text, without a batch */
            *what = "sequence";
        int64_t before_all, after_all; /* of all devices, as in the user's code */
        if (!__builtin_mul_overflow(targets[0].size_before, parts, &before_all) &&
            !__builtin_mul_overflow(targets[0].size_after, parts, &after_all))
            sizes = arena_format(advice->facts->arena, " (%lld → %lld)", (long long)before_all, (long long)after_all);
    }
    return sizes; /* `tried` is left to the change itself, which is asked about next */
}

/* Would it cut weights as well, of a sequence any, of a batch so many (percent of the program)? Their dimension has the
 * data's size by chance, or the model is of that length. */
enum { CUT_PERCENT = 5 };

static bool cuts_weights(struct advice *advice, const char *text, bool is_batch)
{
    const struct advice_tried *tried = advice_tried(advice, text);
    int64_t cut_bytes = 0;
    for (uint32_t i = 0; tried != NULL && i < tried->variant.row_count; i++) {
        const struct variant *variant = &tried->variant;
        const struct variant_row *row = &variant->rows[i];
        if (!row->is_argument || row->leaf == HLO_NONE || row->plan_row == PLAN_NONE ||
            variant->space->rows[row->plan_row].choice.category != CATEGORY_PARAMETER)
            continue;
        const struct leaf *leaf = &variant->dimensions.leaves.items[row->leaf];
        bool is_cut = false;
        for (uint32_t k = 0; k < leaf->rank; k++)
            is_cut |= variant->sizes[leaf->first + k] != advice->start.sizes[leaf->first + k];
        cut_bytes += is_cut ? variant->space->rows[row->plan_row].bytes : 0;
    }
    return cut_bytes > (is_batch ? advice->facts->total_bytes / 100 * CUT_PERCENT : 0);
}

static void resize_find(struct advice *advice, const char *name, const char *what)
{
    struct arena *arena = advice->facts->arena;
    const char *chosen = NULL;
    if (!advice_is_of_program(advice) || !advice_may_be_first(advice, VERDICT_MODEL, 0))
        return;
    for (size_t i = 0; i < SHARE_COUNT; i++) {
        const char *change = arena_format(arena, "%s=%s", name, shares[i]);
        int64_t lands = advice_lands(advice, change);
        if (lands < 0)
            break;
        chosen = change;
        if (advice->facts->limit_bytes < 0 || lands <= advice->facts->limit_bytes)
            break;
    }
    if (chosen == NULL || cuts_weights(advice, chosen, strcmp(name, "batch") == 0))
        return;
    struct verdict_advice item = {.change = chosen};
    const char *sizes = sizes_of(advice, chosen, &what);
    item.title = arena_format(arena, "%s %s%s", strstr(chosen, "0.5") != NULL ? "Halve the" : "Take a quarter of the",
                              what, sizes);
    item.evidence = arena_format(arena, "What grows with the %s follows its dimension through the program.", what);
    advice_try(advice, item);
}

void advice_find_batch(struct advice *advice)
{
    resize_find(advice, "batch", "batch");
    advice_text_batch(advice);
}

void advice_find_sequence(struct advice *advice)
{
    if (advice_is_of_program(advice) && advice_may_be_first(advice, VERDICT_MODEL, 0) &&
        sequence_sign_is_there(&advice->start))
        resize_find(advice, "sequence", "sequence");
    advice_text_sequence(advice);
}
