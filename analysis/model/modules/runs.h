/* SPDX-License-Identifier: Apache-2.0
 * runs.h: how often and when each module of a trace ran, and whether two ever ran at the same time.
 *
 * In: the launches of one trace. Out: one row a module. Units: ps from the first launch. Memory: the arena. */
#pragma once

#include "read/trace/module_launches.h"

struct module_run {
    struct str key;            /* "jit_step(1915)" */
    uint64_t run_count;        /* on all devices */
    uint32_t device_count;     /* that it ran on */
    int64_t first_ps, last_ps; /* begin of the first run, end of the last one */
    int64_t busy_ps;           /* all runs added up */
};

struct module_runs {
    struct module_run *items; /* by key */
    uint32_t count, device_count;
    uint64_t run_count, inferred_count, unclear_count, damaged_count;
    /* Two modules that ran at the same time on one device: how often, and where longest. */
    uint64_t overlap_count;
    int64_t overlap_ps;
    struct str overlap_plane, overlap_first, overlap_second;
};

/* `scratch` for what is not needed afterwards; what is in `out` lives in `arena` alone. */
void runs_take(const struct module_launches *launches, struct arena *scratch, struct arena *arena,
               struct module_runs *out);
/* The runs of a module; NULL: the trace has none. */
const struct module_run *runs_find(const struct module_runs *runs, struct str key);
