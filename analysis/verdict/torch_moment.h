/* SPDX-License-Identifier: Apache-2.0
 * torch_moment.h: the moment of an allocator snapshot of PyTorch that a verdict is about: the last request that failed,
 * else the peak. For analysis/verdict alone. */
#pragma once

#include "model/memory_profile/live.h"
#include "model/memory_profile/model.h"
#include "model/memory_profile/retained.h"
#include "plan/torch_operation.h"
#include "verdict/facts.h"
#include "verdict/torch_named.h"
#include "verdict/torch_segments.h"

/* What lines that call an operation hold; of torch_operations.c. */
struct torch_operation_sum {
    int64_t bytes;
    uint32_t count; /* blocks */
    const char
        *line; /* the one that holds most: "modeling_llama.py:208 eager_attention_forward"; NULL: there is none */
    bool is_of_transformers;
};

struct torch_moment {
    const struct memory_profile_pool *pool;
    const struct memory_profile_failure *failure; /* NULL: none failed, and it is the peak */
    uint32_t count;                               /* events that have happened */
    int64_t time_ps, in_use_bytes;
    struct memory_profile_category_sum sums[CATEGORY_COUNT]; /* they add up to in_use_bytes */
    int64_t row_bytes[CATEGORY_COUNT];                       /* of these, of what the table of the page lists */
    struct memory_profile_live_group *groups;                /* by op and category */
    size_t group_count;
    bool is_end;        /* of a snapshot without a failed request beside a text that has one: its last event */
    bool has_backward;  /* the recording shows a backward pass */
    bool is_expandable; /* expandable_segments is on */
    bool is_retained;   /* `retained` is what fills it, more than what is free in pieces */
    struct memory_profile_retained retained;
    struct torch_operation_sum operations[TORCH_OPERATION_COUNT]; /* of saved activations and workspace */
    struct torch_segments segments;
    struct torch_named named;
};

/* What the allocator tells of the moment; those of a request that failed are not known without one. */
enum torch_figure {
    TORCH_REQUESTED,
    TORCH_DEVICE_FREE,
    TORCH_FREE,     /* in segments */
    TORCH_RESERVED, /* the segments */
    TORCH_HOLE,     /* the largest one that the request could have been put into */
    TORCH_MISSING,
    TORCH_IN_USE,
    TORCH_LARGEST, /* of the category that holds most */
    TORCH_FIGURES
};

/* Sets facts->moment where the trace is a snapshot with events. */
void torch_moment_find(struct verdict_facts *facts);
/* Calls `see` with each block in use at the moment: the number of what it is (memory_what) and the bytes asked for. */
void torch_moment_each_held(const struct torch_moment *moment, struct arena *arena,
                            void (*see)(void *context, uint32_t what, int64_t bytes), void *context);
/* Its page, at the moment, with the rows of `category` alone; CATEGORY_COUNT: all rows. */
struct verdict_evidence torch_moment_evidence(const struct verdict_facts *facts, enum category category, int64_t bytes);
/* Is the request that failed in it what the verdict is about: alone, or with its text? */
bool torch_moment_is_failure(const struct verdict_facts *facts);
/* -1: not known. */
int64_t torch_figure_bytes(const struct verdict_facts *facts, enum torch_figure figure);
struct verdict_evidence torch_figure_evidence(const struct verdict_facts *facts, enum torch_figure figure);
/* The category that holds most, of those that are known; CATEGORY_UNKNOWN: none is. */
enum category torch_moment_largest(const struct torch_moment *moment);
/* Does what nothing tells of hold more than any category? */
bool torch_moment_is_unknown(const struct torch_moment *moment);
/* How much that is, and where it comes from; in the arena. */
const char *torch_moment_unknown_sentence(const struct verdict_facts *facts);
/* The line of code that asked for most of a category; "" where none is known. */
const char *torch_moment_line(const struct verdict_facts *facts, enum category category);
/* "Saved activations hold", "Optimizer state holds"; in the arena. */
const char *torch_moment_holder(const struct verdict_facts *facts, enum category category);
/* Fill the parts of the verdict; the fit is that of a request that failed. */
void torch_moment_fit(const struct verdict_facts *facts);
void torch_moment_categories(const struct verdict_facts *facts);
void torch_moment_groups(const struct verdict_facts *facts);
/* One sentence: the request that failed, or the peak, and what held most. */
const char *torch_moment_sentence(const struct verdict_facts *facts);

/* torch_inner.c: of lines of a user's own code that a whole model from a library is behind, the library's line that
 * asked for most. For analysis/verdict alone. */
/* Sets `inner` of the verdict's groups; `whats`: of each of them, in their order. */
void torch_inner_find(const struct verdict_facts *facts, const struct memory_what *const *whats);

/* torch_operations.c: what lines that call an operation hold at a moment of an allocator snapshot. For
 * analysis/verdict alone. */
/* Fills moment->operations, TORCH_OPERATION_COUNT of them. */
void torch_operations_sum(const struct verdict_facts *facts, struct torch_moment *moment);
/* That operation of the moment which holds half of the saved activations and workspace, or more; NONE. */
enum torch_operation torch_operations_main(const struct torch_moment *moment);
