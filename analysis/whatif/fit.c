/* SPDX-License-Identifier: Apache-2.0
 * fit.c: see fit.h. */
#include "whatif/fit_search.h"

#include "base/str.h"
#include "whatif/sequence_sign.h"

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
_Static_assert((int)CANDIDATE_COUNT <= (int)FIT_CANDIDATES_MAX, "a search takes them all");

const char *fit_usual(uint32_t at)
{
    for (uint32_t i = 0; i < CANDIDATE_COUNT; i++)
        if (candidates[i].is_usual && at-- == 0)
            return candidates[i].text;
    return NULL;
}

struct trial {
    const struct variant *start;
    int64_t room_bytes;
    bool has_sequence;   /* there is a sign of one */
    struct arena *arena; /* of the set that is tried */
    struct fit *out;
};

static bool set_try(void *context, const uint32_t *chosen, uint32_t count, struct fit_set *set, bool *is_enough)
{
    const struct trial *trial = context;
    struct variant variant;
    struct variant_sums sums;
    struct change_result least_sure = {.confidence = CHANGE_EXACT};
    arena_free(trial->arena);
    variant_copy(&variant, trial->start, trial->arena);
    *set = (struct fit_set){.count = count};
    trial->out->trial_count++;
    for (uint32_t i = 0; i < count; i++) {
        struct err err = ERR_INIT;
        struct change change;
        struct change_result result;
        set->changes[i] = candidates[chosen[i]].text;
        if (!change_read(str_of(set->changes[i]), &change, &err) ||
            (change.kind == CHANGE_SEQUENCE && !trial->has_sequence) ||
            !change_apply(&variant, &change, &result, &err) || result.has_no_figure)
            return false;
        set->calls[i] = arena_text(trial->start->arena, str_of(result.call));
        set->kinds |= 1U << change.kind;
        set->effort += candidates[chosen[i]].effort;
        set->extra_flops_percent += result.has_extra_flops ? result.extra_flops_percent : 0;
        if (result.confidence > least_sure.confidence)
            least_sure = result;
    }
    variant_measure(&variant, &sums, NULL);
    change_result_settle(&least_sure, &sums);
    set->confidence = least_sure.confidence;
    set->total_bytes = sums.total_bytes;
    set->peak_bytes = sums.peak_bytes;
    *is_enough = set->total_bytes <= trial->room_bytes;
    return true;
}

static bool is_spent(const void *context)
{
    return ((const struct trial *)context)->out->trial_count >= FIT_TRIALS_MAX;
}

void fit_find(const struct variant *start, int64_t room_bytes, struct fit *out)
{
    struct trial trial = {.start = start, .room_bytes = room_bytes, .arena = arena_child(start->arena), .out = out};
    struct variant variant;
    struct variant_sums sums;
    *out = (struct fit){.set_count = 0};
    variant_copy(&variant, start, trial.arena);
    variant_measure(&variant, &sums, NULL);
    out->has_fit_already = sums.total_bytes <= room_bytes;
    if (out->has_fit_already) {
        arena_free(trial.arena);
        return;
    }
    const struct fit_search search = {.candidate_count = CANDIDATE_COUNT,
                                      .needed_bytes = sums.total_bytes,
                                      .room_bytes = room_bytes,
                                      .repeated_kinds = 1U << CHANGE_OFFLOAD, /* of first and of second moments */
                                      .context = &trial,
                                      .set_try = set_try,
                                      .is_spent = is_spent,
                                      .out = out};
    trial.has_sequence = sequence_sign_is_there(start);
    fit_search_run(&search);
    arena_free(trial.arena);
}
