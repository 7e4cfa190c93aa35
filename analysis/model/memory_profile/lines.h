/* SPDX-License-Identifier: Apache-2.0
 * lines.h: what an allocator snapshot holds at a moment, by line of code and by category.
 *
 * The line is the innermost one that is neither PyTorch's nor Python's: of a model from a library the library's, where
 * columns and filters of the page (`op`) name the user's own line, which all layers of such a model share.
 * Memory: the arena. Time: each event once. */
#pragma once

#include "model/memory_profile/model.h"
#include "plan/torch_operation.h"

struct memory_profile_line {
    struct str words; /* "modeling_llama.py:208 eager_attention_forward"; empty where no stack tells */
    uint32_t frame;   /* of the snapshot; PROFILE_NONE where no stack tells */
    enum category category;
    uint32_t count; /* blocks */
    int64_t bytes;  /* that were asked for */
    /* The same bytes and count by the operation that the line called; [TORCH_OPERATION_NONE]: what the line asked for
     * itself, such as a copy in another dtype. Requests of other functions that the line calls are in none. */
    int64_t operation_bytes[TORCH_OPERATION_COUNT];
    uint32_t operation_count[TORCH_OPERATION_COUNT];
};

struct memory_profile_lines {
    struct memory_profile_line *items; /* the largest first */
    size_t count;
};

/* Fills the lines after the pool's first `count` events. Memory that was live before the recording and is freed in it
 * is in no line, because no block describes it. Nothing for a trace. */
void memory_profile_lines_make(const struct memory_profile_pool *pool, uint32_t count, struct arena *arena,
                               struct memory_profile_lines *out);
