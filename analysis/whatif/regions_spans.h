/* SPDX-License-Identifier: Apache-2.0
 * regions_spans.h: from where to where layers run that are recognised by their parameters; which of them are one.
 *
 * In:     the operations going forward in their order, labelled with the region whose parameters they read.
 * Out:    a span for each region. Two regions of different names are one layer where each computes with what the other
 *         made: frozen weights and the adapters beside them, of two trees of arguments. No checkpoint could end between
 *         them. An actor and a critic, or an encoder and a decoder, do not need each other both ways.
 * Cost:   two passes over the operations and their operands, and one over each two neighbouring spans that overlap. */
#pragma once

#include "plan/value.h"
#include "whatif/regions_read.h"

struct regions_order {
    const struct graph *graph;
    struct regions *regions;
    const uint32_t *operations, *number_of; /* number_of: by instruction, or HLO_NONE */
    uint32_t count;
    struct value_walk *walk;
    struct arena *arena;
};

struct regions_span {
    uint32_t region, first, last; /* numbers of operations that read its parameters */
};

/* How many, by `first`; `spans` has room for the regions and for what comes behind all of them, REGION_OUTSIDE. Regions
 * that are one have the label of the first from then on. */
uint32_t regions_spans_find(const struct regions_order *order, struct regions_span *spans);
