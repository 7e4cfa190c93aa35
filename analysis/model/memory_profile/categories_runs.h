/* SPDX-License-Identifier: Apache-2.0
 * categories_runs.h: forward, backward, the optimizer's step and all else as they follow each other in a pool; part of
 * categories.h. */
#pragma once

#include "model/memory_profile/categories.h"

enum era { ERA_FORWARD, ERA_BACKWARD, ERA_OPTIMIZER, ERA_BUILD, ERA_OTHER, ERA_NONE };

struct run {
    uint32_t first; /* event */
    enum era era;
    uint32_t next_backward; /* this run or the next one that is of the backward pass; PROFILE_NONE */
};

/* What is decided about one pool. */
struct deciding {
    struct memory_profile *profile;
    struct memory_profile_pool *pool;
    const struct torch_phases *phases;
    struct arena *scratch;
    const struct memory_profile_failure *last_failure; /* of all pools; NULL: no request failed */
    bool is_python_only;  /* threads without Python, as autograd's, have stacks without a frame */
    bool has_free_stacks; /* a free says where it was freed, not where its block was allocated */
    struct run *runs;
    uint32_t run_count;
    const uint32_t *failed_at; /* the event behind each request that failed, in order; those of the pool, and the last
                                  one of the file */
    uint32_t failed_count;
};

/* A program that ends with a request on one device frees what it has on the others, too. NULL: no request failed. */
const struct memory_profile_failure *memory_profile_categories_last_failure(const struct memory_profile *profile);
/* Sets has_free_stacks, runs, run_count, failed_at and failed_count. */
void memory_profile_categories_runs(struct deciding *deciding);
/* The run in which an event of the pool is; 0 before the first. */
uint32_t memory_profile_categories_run_of(const struct deciding *deciding, uint32_t event);
/* Was an allocation of the pool alive at a request that failed, and freed by `partner` before any backward pass began?
 * Then the exception freed it as it left its frames, and how long it was meant to live is not known. `met_in`: the run
 * in which the request failed. */
bool memory_profile_categories_is_unwound(const struct deciding *deciding, uint32_t event, uint32_t partner,
                                          uint32_t *met_in);
/* What the program was doing at an event's stack; of one without a frame BACKWARD where only Python's frames are
 * kept. */
enum torch_phase memory_profile_categories_phase(const struct deciding *deciding, uint32_t event);
/* The phase of a stack of the snapshot. */
enum torch_phase memory_profile_categories_phase_of(const struct deciding *deciding, uint32_t stack);
