/* SPDX-License-Identifier: Apache-2.0
 * host_runs.h: which module a thread of the host ran, or which jitted function it called, and when.
 *
 * A run is the span "MODULE:XLA GPU module" in which a thread gives a module's kernels to a GPU; what the module needs
 * was allocated on that thread just before. A call is JAX's span "PjitFunction(NAME)": arguments that are not on the
 * device yet are brought there inside it, and the module of the function is called jit_NAME.
 * Source: gpu_executable.cc of XLA, pjit.cc of jaxlib; the names of modules as JAX makes them (mlir.py).
 * Memory: the arena. */
#pragma once

#include "base/intern.h"
#include "read/trace/trace_line.h"

struct host_run {
    int64_t begin_ps, end_ps; /* from the origin of times */
    uint32_t line;            /* place among the plane's lines */
    uint32_t module;          /* a number of `modules` */
    bool is_call;
};

struct host_runs {
    struct host_run *items; /* by line, then by begin; of equal ones the longer first */
    size_t count;
    struct intern modules;  /* names as host_runs_name has them */
    uint64_t dropped_count; /* more than are kept */
};

/* Reads the lines of the host's plane, which is resolved: none if no event is named like a run or a call. */
void host_runs_read(struct stream *stream, const struct trace_plane *host, int64_t origin_ns, struct arena *arena,
                    struct host_runs *out);
/* A module's name in the form in which names are compared: JAX writes "_" for what is no letter, digit, dot or hyphen,
 * not always at the end. In `arena`. */
struct str host_runs_name(struct arena *arena, const char *prefix, struct str name);
