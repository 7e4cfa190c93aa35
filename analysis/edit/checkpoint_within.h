/* SPDX-License-Identifier: Apache-2.0
 * checkpoint_within.h: what is made of a layer's parameters alone, and whether the layer makes it; for
 * checkpoint_layers.c alone.
 *
 * A cast of a weight reads nothing that was computed before, so only its place tells whether the author's layer does it
 * (and does it again for the backward pass) or is given its result (which is kept). JAX numbers instructions as the
 * source runs: of the layer is what has an instruction of the layer next to it. */
#pragma once

#include "edit/checkpoint_layers.h"
#include "whatif/regions_read.h"

/* Gives the entry's instructions that are made of parameters, and the tuples that loops begin with, the layer that
 * reads them, or none where it does not make them. */
void checkpoint_within_label(const struct program *program, const struct regions_parameters *parameters,
                             struct checkpoint_layers *layers);
/* Does a loop of the forward pass read parameters of layers that it is not of? Then it is around the layers: its turns
 * are what is computed again. */
bool checkpoint_within_has_around(const struct program *program, const struct regions_parameters *parameters,
                                  const struct checkpoint_layers *layers);
