/* SPDX-License-Identifier: Apache-2.0
 * checkpoint_layers.h: the layers of the program that is edited; for checkpoint.c alone. */
#pragma once

#include "edit/edit.h"
#include "edit/program_graph.h"
#include "whatif/regions.h"

struct checkpoint_layers {
    struct program_graph graph;
    struct regions regions;  /* of every instruction */
    uint32_t first;          /* number of the entry's first instruction */
    const uint32_t *sources; /* by parameters: the entry's instructions as the source runs, without those of calls */
    uint32_t source_count;
};

/* By scopes, or, where `edit->layers` says so, by the parameters that are read: calls in the entry are written out
 * then. False with a report. */
bool checkpoint_layers_find(struct program *program, const struct edit *edit, struct checkpoint_layers *out);
/* The layer of the entry's instruction `place`, if the edit covers that layer; else HLO_NONE. */
uint32_t checkpoint_layers_of(const struct program *program, const struct edit *edit,
                              const struct checkpoint_layers *layers, size_t place);
