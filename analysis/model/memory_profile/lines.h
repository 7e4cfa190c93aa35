/* SPDX-License-Identifier: Apache-2.0
 * lines.h: what an allocator snapshot holds at a moment, by line of code and by category.
 *
 * The line is the innermost one that is neither PyTorch's nor Python's: of a model from a library the library's, where
 * columns and filters of the page (`op`) name the person's own line, which all layers of such a model share.
 * Memory: the arena. Time: each event once. */
#pragma once

#include "model/memory_profile/model.h"
#include "plan/torch_operation.h"

struct memory_profile_line {
    struct str words; /* "modeling_llama.py:208 eager_attention_forward"; empty where no stack tells */
    uint32_t frame;   /* of the snapshot; PROFILE_NONE where no stack tells */
    enum category category;
    enum torch_operation operation; /* that the line calls, in some of its stacks */
    uint32_t event;                 /* one of the allocations; PROFILE_NONE: of `kept` */
    uint32_t kept;  /* one of the snapshot's blocks that were there before the recording, and are at its end */
    uint32_t count; /* blocks */
    int64_t bytes;  /* that were asked for */
};

struct memory_profile_lines {
    struct memory_profile_line *items; /* the largest first */
    size_t count;
};

/* After the pool's first `count` events. What was there before the recording and is freed in it is in no line: no block
 * tells of it. Nothing in a trace. */
void memory_profile_lines_make(const struct memory_profile_pool *pool, uint32_t count, struct arena *arena,
                               struct memory_profile_lines *out);
