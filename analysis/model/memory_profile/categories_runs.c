/* SPDX-License-Identifier: Apache-2.0
 * categories_runs.c: see categories_runs.h. */
#include "model/memory_profile/categories_runs.h"

static uint32_t stack_of(const struct deciding *deciding, uint32_t event)
{
    const struct memory_profile *profile = deciding->profile;
    return profile->events.whats[profile->what[event]].stack;
}

enum torch_phase memory_profile_categories_phase_of(const struct deciding *deciding, uint32_t stack)
{
    enum torch_phase phase = torch_phase_of(deciding->phases, stack);
    return phase == TORCH_PHASE_EMPTY && deciding->is_python_only ? TORCH_PHASE_BACKWARD : phase;
}

enum torch_phase memory_profile_categories_phase(const struct deciding *deciding, uint32_t event)
{
    return memory_profile_categories_phase_of(deciding, stack_of(deciding, event));
}

static enum era era_of(enum torch_phase phase)
{
    static const enum era eras[TORCH_PHASE_COUNT] = {
        [TORCH_PHASE_NONE] = ERA_OTHER,
        [TORCH_PHASE_EMPTY] = ERA_NONE,
        [TORCH_PHASE_MADE] = ERA_BUILD,
        [TORCH_PHASE_PARAMETER] = ERA_BUILD,
        [TORCH_PHASE_INPUT] = ERA_OTHER,
        [TORCH_PHASE_MOVED] = ERA_OTHER,
        [TORCH_PHASE_DRAWN] = ERA_OTHER,
        [TORCH_PHASE_CACHE] = ERA_OTHER,
        [TORCH_PHASE_FORWARD] = ERA_FORWARD,
        [TORCH_PHASE_RECOMPUTE] = ERA_BACKWARD,
        [TORCH_PHASE_BACKWARD] = ERA_BACKWARD,
        [TORCH_PHASE_OPTIMIZER] = ERA_OPTIMIZER,
        [TORCH_PHASE_OPTIMIZER_STATE] = ERA_OPTIMIZER,
        [TORCH_PHASE_ZERO_GRAD] = ERA_OTHER,
        [TORCH_PHASE_COLLECTIVE] = ERA_NONE, /* they run inside of all others */
        [TORCH_PHASE_WORKSPACE] = ERA_NONE,
    };
    return eras[phase];
}

/* PyTorch writes the stack of the allocation where it was not told to keep those of frees. */
static bool has_free_stacks(const struct deciding *deciding)
{
    const struct memory_profile_pool *pool = deciding->pool;
    for (uint32_t event = pool->first; event < pool->first + pool->count; event++) {
        uint32_t partner = deciding->profile->partner[event];
        if (partner != PROFILE_NONE && memory_profile_is_free(deciding->profile, event) &&
            stack_of(deciding, event) != stack_of(deciding, partner))
            return true;
    }
    return false;
}

/* The first event of a pool at or after a time. */
static uint32_t event_at(const struct memory_profile_pool *pool, int64_t time_ps)
{
    uint32_t low = pool->first, high = pool->first + pool->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pool->profile->time_ps[middle] < time_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct memory_profile_failure *memory_profile_categories_last_failure(const struct memory_profile *profile)
{
    const struct memory_profile_failure *last = NULL;
    for (uint32_t p = 0; p < profile->pool_count; p++) {
        const struct memory_profile_pool *pool = &profile->pools[p];
        const struct memory_profile_failure *own =
            pool->failure_count > 0 ? &pool->failures[pool->failure_count - 1] : NULL;
        last = own != NULL && (last == NULL || own->time_ps > last->time_ps) ? own : last;
    }
    return last;
}

static void failures_find(struct deciding *deciding)
{
    const struct memory_profile_pool *pool = deciding->pool;
    const struct memory_profile_failure *last = deciding->last_failure;
    uint32_t *failed_at = arena_array(deciding->scratch, uint32_t, (size_t)pool->failure_count + 1);
    uint32_t count = 0;
    for (; count < pool->failure_count; count++)
        failed_at[count] = pool->first + pool->failures[count].count;
    bool is_elsewhere = last != NULL && (count == 0 || last->time_ps > pool->failures[count - 1].time_ps);
    if (is_elsewhere && pool->profile->events.snapshot->has_times)
        failed_at[count++] = event_at(pool, last->time_ps);
    deciding->failed_at = failed_at;
    deciding->failed_count = count;
}

bool memory_profile_categories_is_unwound(const struct deciding *deciding, uint32_t event, uint32_t partner,
                                          uint32_t *met_in)
{
    uint32_t low = 0, high = deciding->failed_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (deciding->failed_at[middle] <= event)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == deciding->failed_count || deciding->failed_at[low] > partner)
        return false;
    uint32_t run = memory_profile_categories_run_of(deciding, deciding->failed_at[low] - 1);
    uint32_t next = run + 1 < deciding->run_count ? deciding->runs[run + 1].next_backward : PROFILE_NONE;
    if (next <= memory_profile_categories_run_of(deciding, partner))
        return false;
    *met_in = run;
    return true;
}

void memory_profile_categories_runs(struct deciding *deciding)
{
    const struct memory_profile_pool *pool = deciding->pool;
    struct chunks runs;
    enum era last = ERA_NONE;
    chunks_init(&runs, deciding->scratch, sizeof(struct run));
    CHUNKS_ADD(&runs, struct run, ((struct run){pool->first, ERA_NONE, PROFILE_NONE}));
    deciding->has_free_stacks = has_free_stacks(deciding);
    for (uint32_t event = pool->first; event < pool->first + pool->count; event++) {
        if (memory_profile_is_free(deciding->profile, event) && !deciding->has_free_stacks)
            continue;
        enum era era = era_of(memory_profile_categories_phase(deciding, event));
        if (era == ERA_NONE || era == last)
            continue;
        CHUNKS_ADD(&runs, struct run, ((struct run){event, era, PROFILE_NONE}));
        last = era;
    }
    deciding->runs = chunks_copy(&runs, deciding->scratch);
    deciding->run_count = (uint32_t)runs.count;
    for (uint32_t i = deciding->run_count, next = PROFILE_NONE; i-- > 0;) {
        next = deciding->runs[i].era == ERA_BACKWARD ? i : next;
        deciding->runs[i].next_backward = next;
    }
    failures_find(deciding);
}

uint32_t memory_profile_categories_run_of(const struct deciding *deciding, uint32_t event)
{
    uint32_t low = 0, high = deciding->run_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (deciding->runs[middle].first <= event)
            low = middle;
        else
            high = middle;
    }
    return low;
}
