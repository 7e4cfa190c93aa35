/* SPDX-License-Identifier: Apache-2.0
 * torch_values.h: the values of an allocator snapshot, whatever they are kept in (torch_form.h). */
#pragma once

#include "read/torch/pickle.h"
#include "read/torch/torch_form.h"

struct torch_values {
    struct pickle *pickle; /* that holds them; of JSON, too */
    struct pickle_value root;
    enum torch_form form;
};

/* As pickle_read. */
bool torch_values_read(const struct source *source, pickle_take *take, void *context, struct arena *arena,
                       struct torch_values *out, struct err *err);
