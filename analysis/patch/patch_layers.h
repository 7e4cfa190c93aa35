/* SPDX-License-Identifier: Apache-2.0
 * patch_layers.h: which function of the source is the layer; for patch_checkpoint.c alone. Its own file: this is found
 * in the program, that writes Python.
 *
 * The layer is the innermost function that a loop of the source calls and in which most of what the layers save is
 * computed. */
#pragma once

#include "patch/patch_files.h"

struct patch_layer {
    const struct patch_file *file;
    const struct hlo_frame *frame;      /* in the function */
    const struct patch_file *call_file; /* of the call; read as Python */
    const struct hlo_frame *call;       /* the frame outside */
    uint32_t def;                       /* statement of `file` */
    bool is_of_loop_call;               /* jax.lax.scan and the like call it: all its arguments are arrays */
};

/* False: `why`. */
bool patch_layers_find(const struct patch_files *files, struct patch_layer *out, struct patch *why);
