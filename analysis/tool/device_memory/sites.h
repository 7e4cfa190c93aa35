/* SPDX-License-Identifier: Apache-2.0
 * sites.h: call sites: the user's own line that made a buffer, and what it called. */
#ifndef ANALYSIS_TOOL_DEVICE_MEMORY_SITES_H
#define ANALYSIS_TOOL_DEVICE_MEMORY_SITES_H

#include "base/map.h"
#include "tool/device_memory/study.h"

struct sites_key {
    uint32_t frame;
    struct str callee; /* the function of the machinery that was called there; empty without one */
};

struct sites {
    struct arena *arena;
    struct map table;
    struct sites_key *keys;
    size_t capacity;
};

void sites_init(struct sites *sites, struct arena *arena);
/* The site of a stack, new or known. */
uint32_t sites_of(struct sites *sites, const struct study *study, const struct study_walk *walk);
/* "frame" and "callee" */
void sites_write(const struct sites *sites, uint32_t at, const struct study *study, struct json *json);

#endif
