/* SPDX-License-Identifier: Apache-2.0
 * live_runs.h: runs in a folder whose processes write, or wrote, what they have in use (live_files.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct live_run {
    char *name; /* "run-2026-01-09-101500-4711", in the folder */
    bool is_running;
};

struct live_runs {
    struct live_run *items; /* those that run first, then the newest */
    size_t count;
};

/* At most `max` of them; of `all` the newest 256 runs are looked at. live_runs_free afterwards. */
void live_runs_find(const char *all, size_t max, struct live_runs *runs);
void live_runs_free(struct live_runs *runs);
