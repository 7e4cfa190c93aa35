/* SPDX-License-Identifier: Apache-2.0
 * fit_search.c: see fit_search.h. */
#include "whatif/fit_search.h"

#include "base/str.h"
#include "base/sum.h"

#include <stdlib.h>

/* A candidate that applies alone. */
struct single {
    uint32_t candidate;
    int64_t saving_bytes;
    uint32_t kinds;
};

struct singles {
    struct single items[FIT_CANDIDATES_MAX];
    uint32_t count;
};

/* ---- the best ones ---- */

static int by_cost(const void *left, const void *right)
{
    const struct fit_set *a = left, *b = right;
    return ORDER(a->tier, b->tier) ?: ORDER(a->extra_flops_percent, b->extra_flops_percent)
           ?: ORDER(a->effort, b->effort) ?: ORDER(a->count, b->count) ?: ORDER(a->total_bytes, b->total_bytes);
}

static void set_keep(struct fit *out, const struct fit_set *set)
{
    for (uint32_t i = 0; i < out->set_count; i++)
        if (out->sets[i].kinds == set->kinds) {
            if (by_cost(set, &out->sets[i]) < 0)
                out->sets[i] = *set;
            return;
        }
    if (out->set_count < FIT_SETS_MAX)
        out->sets[out->set_count++] = *set;
    else if (by_cost(set, &out->sets[FIT_SETS_MAX - 1]) < 0)
        out->sets[FIT_SETS_MAX - 1] = *set;
    qsort(out->sets, out->set_count, sizeof(*out->sets), by_cost);
}

/* False: nothing was tried, or a change does not apply. */
static bool set_weigh(const struct fit_search *search, const uint32_t *chosen, uint32_t count, struct fit_set *set)
{
    struct fit *out = search->out;
    bool is_enough = false;
    if (search->is_spent(search->context)) {
        out->is_cut = true;
        return false;
    }
    if (!search->set_try(search->context, chosen, count, set, &is_enough))
        return false;
    if (is_enough)
        set_keep(out, set);
    if (out->nearest.count == 0 || set->total_bytes < out->nearest.total_bytes)
        out->nearest = *set;
    return true;
}

/* ---- sets of several ---- */

/* Do the parts of a set, each alone, save what is needed, with a third more for how they affect each other? A part that
 * suffices alone is in no larger set, and no set has two of one kind (two batch sizes). */
static bool is_worth_trying(const struct fit_search *search, const struct singles *singles, const uint32_t *chosen,
                            uint32_t count)
{
    int64_t over = search->needed_bytes - search->room_bytes, together = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct single *single = &singles->items[chosen[i]];
        if (single->saving_bytes <= 0 || single->saving_bytes >= over)
            return false;
        for (uint32_t k = 0; k < i; k++)
            if ((singles->items[chosen[k]].kinds & single->kinds & ~search->repeated_kinds) != 0)
                return false;
        together = sum_add(together, single->saving_bytes);
    }
    return together >= over - over / 4;
}

static void several_try(const struct fit_search *search, const struct singles *singles, const uint32_t *chosen,
                        uint32_t count)
{
    uint32_t candidates[FIT_CHANGES_MAX];
    struct fit_set set;
    if (!is_worth_trying(search, singles, chosen, count))
        return;
    for (uint32_t i = 0; i < count; i++)
        candidates[i] = singles->items[chosen[i]].candidate;
    set_weigh(search, candidates, count, &set);
}

void fit_search_run(const struct fit_search *search)
{
    const struct fit *out = search->out;
    struct singles singles = {.count = 0};
    for (uint32_t i = 0; i < search->candidate_count; i++) {
        struct fit_set set;
        if (set_weigh(search, &i, 1, &set))
            singles.items[singles.count++] = (struct single){i, search->needed_bytes - set.total_bytes, set.kinds};
    }
    for (uint32_t i = 0; i < singles.count && out->set_count < FIT_SETS_MAX; i++)
        for (uint32_t k = i + 1; k < singles.count; k++)
            several_try(search, &singles, (const uint32_t[]){i, k}, 2);
    for (uint32_t i = 0; i < singles.count && out->set_count == 0; i++)
        for (uint32_t k = i + 1; k < singles.count; k++)
            for (uint32_t n = k + 1; n < singles.count; n++)
                several_try(search, &singles, (const uint32_t[]){i, k, n}, 3);
}
