/* SPDX-License-Identifier: Apache-2.0
 * torch_phase.h: what a PyTorch program was doing when a stack was taken: forward, backward, the optimizer's step, …
 *
 * In:     the distinct stacks of an allocator snapshot, by rows of torch_frames.def.
 * Out:    a phase for each; what the memory is, follows from it and from how long it lives
 *         (model/memory_profile/categories.h).
 * Cost:   frames × rows and frames of all distinct stacks, charged to the arena's work; no event is looked at. */
#pragma once

#include "read/torch/torch_snapshot.h"

enum torch_phase {
    TORCH_PHASE_NONE,  /* none of its frames is of a place that is known */
    TORCH_PHASE_EMPTY, /* it has no frame */
    TORCH_PHASE_MADE,  /* an object is made: no frame says more */
    TORCH_PHASE_PARAMETER,
    TORCH_PHASE_INPUT,
    TORCH_PHASE_MOVED, /* a tensor is moved to the device, in no place that says more */
    TORCH_PHASE_DRAWN, /* a tensor of random numbers is made, in the program's own code alone */
    TORCH_PHASE_CACHE,
    TORCH_PHASE_FORWARD,
    TORCH_PHASE_RECOMPUTE,
    TORCH_PHASE_BACKWARD,
    TORCH_PHASE_OPTIMIZER,
    TORCH_PHASE_OPTIMIZER_STATE,
    TORCH_PHASE_ZERO_GRAD,
    TORCH_PHASE_COLLECTIVE,
    TORCH_PHASE_WORKSPACE,
    TORCH_PHASE_COUNT
};

struct torch_phases {
    const uint8_t *of_stack; /* enum torch_phase, of each stack of the snapshot */
    size_t stack_count;
    bool has_cpp; /* some frame is of C++: then a thread without Python has frames, too */
};

void torch_phases_find(struct torch_phases *phases, const struct torch_snapshot *snapshot, struct arena *arena);
/* The phase of any stack number; TORCH_PHASE_EMPTY for none. */
static inline enum torch_phase torch_phase_of(const struct torch_phases *phases, uint32_t stack)
{
    return stack < phases->stack_count ? (enum torch_phase)phases->of_stack[stack] : TORCH_PHASE_EMPTY;
}
