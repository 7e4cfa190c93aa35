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
