/* SPDX-License-Identifier: Apache-2.0
 * tree.h: stacks with common beginnings as a tree, without its smallest nodes.
 *
 * The stacks are sorted, so that a node is a run of them; what is too small to be
 * kept is never stored. Sizes never shrink towards the root: a kept node's parent
 * is kept. */
#pragma once

#include "views/device_memory/model.h"

#define TREE_ROOT UINT32_MAX

struct tree_stack {
    const uint32_t *frames; /* in the order of the tree, from its root */
    const uint16_t *folded; /* machinery above each */
    uint32_t length;
    uint16_t folded_below;
    uint32_t sample; /* of model->samples */
};

struct tree_node {
    uint32_t frame; /* TREE_ROOT: the root */
    uint32_t depth; /* 0: the root */
    int64_t total, self, count;
    int64_t before, after; /* of a difference */
    int64_t size;          /* of all values without their signs, both sides of a difference: what is compared */
    uint32_t folded_above, folded_below;
};

struct tree {
    struct tree_node *nodes; /* parents before their children, larger siblings first; the root is the first */
    uint32_t count;
    uint64_t left_out_count;
    int64_t left_out_below; /* nodes of this size and more are all there; 0: every one is */
    uint32_t depth_max;
};

/* At most `nodes_max` nodes beside the root. Sorts `stacks`. */
void tree_make(const struct model *model, struct tree_stack *stacks, uint32_t stack_count, uint32_t nodes_max,
               struct tree *tree);
