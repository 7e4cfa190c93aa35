/* SPDX-License-Identifier: Apache-2.0
 * torch_holder.h: which part of a program or library of PyTorch asked for a block, where a setting or a line of code
 * takes that away, by the frames of its stack (torch_holder.def). */
#pragma once

#include "read/torch/torch_snapshot.h"

enum torch_holder {
    TORCH_HOLDER_EVALUATION,
    TORCH_HOLDER_LOADED,
    TORCH_HOLDER_AVERAGED,
    TORCH_HOLDER_FOREACH,
    TORCH_HOLDER_BUCKETS,
    TORCH_HOLDER_CUBLAS,
    TORCH_HOLDER_CUDNN,
    TORCH_HOLDER_AUTOTUNING,
    TORCH_HOLDER_COUNT
};

/* Fills one set for each stack of the snapshot: bit 1 << holder, of each whose frames are in it. Cost: frames × rows,
 * and frames of all stacks, charged to the arena's work. */
uint8_t *torch_holders_find(const struct torch_snapshot *snapshot, struct arena *arena);
