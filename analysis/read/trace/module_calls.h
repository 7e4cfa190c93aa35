/* SPDX-License-Identifier: Apache-2.0
 * module_calls.h: which kernels of a GPU one run of a module called.
 *
 * A kernel tells the call that launched it (correlation_id); the host's lines hold that call under the same number,
 * inside the span "MODULE:XLA GPU module" of the run that made it. Two calls that no such span holds both are of two
 * runs. Spans of several threads, one for each device, may lie over each other: then it is not known.
 * Source: gpu_executable.cc of XLA writes the spans; the collectors of CUPTI and roctracer write the numbers.
 * Memory: the arena that is given. */
#pragma once

#include "base/chunks.h"
#include "base/intern.h"
#include "read/trace/trace_line.h"

enum module_calls_answer { MODULE_CALLS_UNKNOWN, MODULE_CALLS_ONE_RUN, MODULE_CALLS_TWO_RUNS };

struct module_call_span {
    int64_t begin_ps, end_ps;
    int64_t last_ps; /* the latest end of the spans of the module that begin before it, and of itself */
    uint32_t module;
};

struct module_calls {
    struct map times; /* place in time_ps, by correlation id */
    int64_t *time_ps;
    size_t call_count;
    struct module_call_span *spans; /* by module and begin */
    int64_t *ends;                  /* of the spans, by module and end */
    size_t span_count;
    struct intern modules; /* that the host ran */
};

/* Reads the lines of the host's plane, which is resolved. Without spans, or with too many calls, nothing is known. */
void module_calls_read(struct stream *stream, const struct trace_plane *host, int64_t origin_ns, struct arena *arena,
                       struct module_calls *out);
/* Were two kernels of the module (a number of `modules`, or MAP_NONE), recognised by their correlation ids, launched by
 * one run? */
enum module_calls_answer module_calls_compare(const struct module_calls *calls, uint32_t module, uint64_t one,
                                              uint64_t other);
