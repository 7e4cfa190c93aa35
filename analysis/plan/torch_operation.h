/* SPDX-License-Identifier: Apache-2.0
 * torch_operation.h: which operation of PyTorch asked for a block, where it is one that is known for large tensors, by
 * the frames of its stack (torch_operation.def). */
#pragma once

#include "read/torch/torch_snapshot.h"

enum torch_operation {
    TORCH_OPERATION_NONE,
    TORCH_OPERATION_ATTENTION_SCORES, /* a softmax outside of the loss: tokens × tokens for each head */
    TORCH_OPERATION_LOSS,             /* cross entropy: tokens × vocabulary */
    TORCH_OPERATION_COUNT
};

/* The operation of one frame; NONE. */
enum torch_operation torch_operation_of_frame(const struct torch_frame *frame);
/* Fills one for each stack of the snapshot; cost: frames × rows, and frames of all stacks, charged to the arena's work.
 */
uint8_t *torch_operations_find(const struct torch_snapshot *snapshot, struct arena *arena);
