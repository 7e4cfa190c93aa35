/* SPDX-License-Identifier: Apache-2.0
 * torch_operations.h: what lines that call an operation hold at a moment of an allocator snapshot. For analysis/verdict
 * alone. */
#pragma once

#include "plan/torch_operation.h"
#include "verdict/facts.h"

struct torch_moment;

struct torch_operation_sum {
    int64_t bytes;
    uint32_t count; /* blocks */
    const char
        *line; /* the one that holds most: "modeling_llama.py:208 eager_attention_forward"; NULL: there is none */
    bool is_of_transformers;
};

/* Fills moment->operations, TORCH_OPERATION_COUNT of them. */
void torch_operations_sum(const struct verdict_facts *facts, struct torch_moment *moment);
/* That operation of the moment which holds half of the saved activations and workspace, or more; NONE. */
enum torch_operation torch_operations_main(const struct torch_moment *moment);
