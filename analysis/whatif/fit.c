/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/fit.h"

#include "base/str.h"
#include "plan/category.h"

#include <stdlib.h>

/* Changes that are tried, and what they ask of a person: first what leaves the results as they are, then what costs
 * time, then numbers of fewer bits, then another batch, then more devices. One of each sort is usual. */
static const struct {
    const char *text;
    uint32_t effort;
    bool is_usual;
} candidates[] = {
    {"donate=all", 1, true},   {"unpad=*", 3, true},       {"checkpoint=*", 4, true},    {"cast=mu:bf16", 5, true},
    {"offload=mu", 6, true},   {"offload=nu", 6, true},    {"cast=*:bf16", 9, true},     {"batch=0.5", 10, true},
    {"batch=0.25", 11, false}, {"sequence=0.5", 12, true}, {"sequence=0.25", 13, false}, {"shard=*:2", 20, false},
    {"shard=*:4", 21, true},   {"shard=*:8", 22, false},   {"shard=*:16", 23, false},
};
enum { CANDIDATE_COUNT = sizeof(candidates) / sizeof(candidates[0]) };

const char *fit_usual(uint32_t at)
{
    for (uint32_t i = 0; i < CANDIDATE_COUNT; i++)
        if (candidates[i].is_usual && at-- == 0)
            return candidates[i].text;
    return NULL;
}

struct single {
    uint32_t candidate;
    int64_t saving_bytes;
    uint32_t kind;
};

struct search {
    const struct variant *start;
    int64_t room_bytes, total_bytes;
    struct single singles[CANDIDATE_COUNT];
    uint32_t single_count;
    struct arena *arena; /* of the set that is tried */
    struct fit *out;
};

/* ---- one set ---- */

static bool set_try(struct search *search, const uint32_t *chosen, uint32_t count, struct fit_set *set)
{
    struct variant variant;
    struct variant_sums sums;
    arena_free(search->arena);
    variant_copy(&variant, search->start, search->arena);
    *set = (struct fit_set){.count = count};
    search->out->trial_count++;
    for (uint32_t i = 0; i < count; i++) {
        struct err err = ERR_INIT;
        struct change change;
        struct change_result result;
        set->changes[i] = candidates[chosen[i]].text;
        if (!change_read(str_of(set->changes[i]), &change, &err) || !change_apply(&variant, &change, &result, &err))
            return false;
        set->calls[i] = arena_text(search->start->arena, str_of(result.call));
        set->kinds |= 1U << change.kind;
        set->effort += candidates[chosen[i]].effort;
        set->extra_flops_percent += result.has_extra_flops ? result.extra_flops_percent : 0;
        if (result.confidence > set->confidence)
            set->confidence = result.confidence;
    }
    variant_measure(&variant, &sums, NULL);
    set->total_bytes = sums.total_bytes;
    set->peak_bytes = sums.peak_bytes;
    return true;
}

/* ---- the best ones ---- */

static int by_cost(const void *left, const void *right)
{
    const struct fit_set *a = left, *b = right;
    return ORDER(a->extra_flops_percent, b->extra_flops_percent) ?: ORDER(a->effort, b->effort)
           ?: ORDER(a->count, b->count) ?: ORDER(a->total_bytes, b->total_bytes);
}

/* Of sets of the same kinds of changes the one that asks least stands for all: half the batch, not a quarter too. */
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

static void set_weigh(struct search *search, const struct fit_set *set)
{
    struct fit *out = search->out;
    if (set->total_bytes <= search->room_bytes)
        set_keep(out, set);
    if (out->nearest.count == 0 || set->total_bytes < out->nearest.total_bytes)
        out->nearest = *set;
}

/* ---- sets of several ---- */

/* Do the parts of a set, each alone, save what is needed, with a third more for what they do to each other? A part that
 * suffices alone stands in no larger set; two of one kind (two batch sizes) in none. */
static bool is_worth_trying(const struct search *search, const uint32_t *chosen, uint32_t count)
{
    int64_t needed = search->total_bytes - search->room_bytes, together = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct single *single = &search->singles[chosen[i]];
        if (single->saving_bytes <= 0 || single->saving_bytes >= needed)
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (search->singles[chosen[k]].kind == single->kind && single->kind != CHANGE_OFFLOAD)
                return false;
        together += single->saving_bytes;
    }
    return together >= needed - needed / 4;
}

static void several_try(struct search *search, const uint32_t *chosen, uint32_t count)
{
    uint32_t set_of[FIT_CHANGES_MAX];
    struct fit_set set;
    if (!is_worth_trying(search, chosen, count))
        return;
    if (search->out->trial_count >= FIT_TRIALS_MAX) {
        search->out->is_cut = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        set_of[i] = search->singles[chosen[i]].candidate;
    if (set_try(search, set_of, count, &set))
        set_weigh(search, &set);
}

void fit_find(const struct variant *start, int64_t room_bytes, struct fit *out)
{
    struct search search = {.start = start, .room_bytes = room_bytes, .arena = arena_child(start->arena), .out = out};
    struct variant variant;
    struct variant_sums sums;
    *out = (struct fit){.set_count = 0};
    variant_copy(&variant, start, search.arena);
    variant_measure(&variant, &sums, NULL);
    search.total_bytes = sums.total_bytes;
    out->has_fit_already = sums.total_bytes <= room_bytes;
    if (out->has_fit_already)
        return;
    for (uint32_t i = 0; i < CANDIDATE_COUNT; i++) {
        struct err err = ERR_INIT;
        struct change change;
        struct fit_set set;
        if (!set_try(&search, &i, 1, &set) || !change_read(str_of(candidates[i].text), &change, &err))
            continue;
        search.singles[search.single_count++] =
            (struct single){i, search.total_bytes - set.total_bytes, (uint32_t)change.kind};
        set_weigh(&search, &set);
    }
    uint32_t single_count = search.single_count;
    for (uint32_t i = 0; i < single_count && out->set_count < FIT_SETS_MAX; i++)
        for (uint32_t k = i + 1; k < single_count; k++)
            several_try(&search, (const uint32_t[]){i, k}, 2);
    for (uint32_t i = 0; i < single_count && out->set_count == 0; i++)
        for (uint32_t k = i + 1; k < single_count; k++)
            for (uint32_t n = k + 1; n < single_count; n++)
                several_try(&search, (const uint32_t[]){i, k, n}, 3);
    arena_free(search.arena);
}
