/* SPDX-License-Identifier: Apache-2.0
 * torch_trace_stacks.h: the spans around memory events of torch.profiler become stacks, and texts of them: of
 * torch_trace.c. */
#pragma once

#include "base/intern.h"
#include "read/torch/torch_snapshot.h"
#include "read/torch/torch_spans.h"

enum torch_span_kind {
    TORCH_SPAN_OPERATOR,   /* aten::linear */
    TORCH_SPAN_PYTHON,     /* train.py(17): step; <built-in method linear of type object at 0x7f…> */
    TORCH_SPAN_ANNOTATION, /* of record_function, or an optimizer's step */
};

struct torch_span_name {
    struct str text;
    uint64_t text_key; /* equal for equal texts */
    enum torch_span_kind kind;
};

struct torch_trace_stacks {
    struct arena *arena, *scratch;
    struct torch_spans spans;
    struct table names;   /* text and kind */
    struct chunks frames; /* struct torch_frame, by number of its name */
    struct chunks kinds;  /* uint8_t, enum torch_span_kind */
    struct table whats;   /* numbers of spans' nodes + 1 */
    struct intern texts;
};

void torch_trace_stacks_init(struct torch_trace_stacks *stacks, struct arena *arena, struct arena *scratch);
void torch_trace_stacks_span(struct torch_trace_stacks *stacks, uint32_t thread, int64_t begin_ns, int64_t end_ns,
                             struct torch_span_name name);
/* Says of each moment what was open, for torch_trace_stacks_what. */
void torch_trace_stacks_hold(struct torch_trace_stacks *stacks, struct torch_moment *moments, size_t count);
/* The number, in memory_events.whats, of the text for a moment's stack. */
uint32_t torch_trace_stacks_what(struct torch_trace_stacks *stacks, uint32_t stack);
/* Frames and stacks into the snapshot; op, region and stack of each number that was given out into `out`. */
void torch_trace_stacks_take(struct torch_trace_stacks *stacks, struct torch_snapshot *snapshot,
                             struct memory_events *out);
