/* SPDX-License-Identifier: Apache-2.0
 * set.h: what the views of all modules are about: each module of a session, on each host. */
#pragma once

#include "model/modules/figures.h"
#include "model/modules/runs.h"
#include "plan/memory_fit.h"

/* Texts and what pointers point to live as long as the question. */
struct module_item {
    const char *id, *name, *key;
    const char *host_id, *host; /* NULL unless a trace */
    const char *file;
    const struct module_figures *figures; /* NULL: see `code`; NULL there too: not read yet */
    const struct module_runs *runs;       /* of its trace; NULL: not known (yet) */
    struct memory_capacity capacity;
    const char *code, *reason; /* why it cannot be read */
};

struct module_set {
    struct module_item *items; /* host by host, in the order of the files */
    uint32_t count;
    uint64_t host_count, runs_count, runs_known_count, distinct_count; /* as in analysis.h */
};
