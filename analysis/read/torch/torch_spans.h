/* SPDX-License-Identifier: Apache-2.0
 * torch_spans.h: what ran around a moment of a thread, from the spans of a trace: a call stack.
 *
 * In:     begin, end and what of each span, in any order; spans of one thread lie in each other or apart.
 * Out:    a number of what was open at a moment; equal stacks have equal numbers.
 * Cost:   sorting the spans once, then a step for each span and moment.
 * Memory: 32 bytes a span in the arena, which is a child. */
#pragma once

#include "base/chunks.h"
#include "base/table.h"

struct torch_spans {
    struct chunks spans;
    struct table nodes; /* the node around it + 1 (0: none), and what it is */
};

/* A moment of a thread, in ns; `stack` is put there: a number of torch_spans_node + 1, 0 where nothing was open. */
struct torch_moment {
    int64_t at_ns;
    uint32_t thread, stack;
    size_t order; /* as the caller has it */
};

/* A span and what lies around it. */
struct torch_span_node {
    uint32_t around; /* a number + 1; 0: nothing */
    uint32_t what;
};

void torch_spans_init(struct torch_spans *spans, struct arena *arena);
void torch_spans_add(struct torch_spans *spans, uint32_t thread, int64_t begin_ns, int64_t end_ns, uint32_t what);
/* Sorts the moments by thread and time, and says what was open at each. */
void torch_spans_hold(struct torch_spans *spans, struct torch_moment *moments, size_t count);
struct torch_span_node torch_spans_node(const struct torch_spans *spans, uint32_t number);
