/* SPDX-License-Identifier: Apache-2.0
 * edges.h: who calls whom: pprof's graph. A sample counts once for each pair of
 * caller and callee that follow each other in its stack. */
#pragma once

#include "base/map.h"
#include "views/device_memory/model.h"

struct edges_edge {
    uint32_t from, to; /* frames: caller, callee */
    int64_t value;
    bool is_residual; /* somewhere a frame between the two is left out */
    uint32_t seen;    /* of edges.c: the last sample, plus 1 */
};

/* What a frame holds in this graph. */
struct edges_node {
    int64_t self, total, count;
    uint32_t seen;       /* as above */
    uint64_t label_sets; /* a bit for sets of labels of its own samples */
};

struct edges {
    const struct model *model;
    struct map table; /* .count: how many */
    struct edges_edge *items;
    size_t capacity;
    struct edges_node *nodes; /* of each frame */
};

/* Makes the graph of the frames in `kept` (NULL: all). With `touching` it makes only edges at one of these frames. */
void edges_make(const struct model *model, const bool *kept, const bool *touching, struct edges *edges);
