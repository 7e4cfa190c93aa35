/* SPDX-License-Identifier: Apache-2.0
 * live_files.h: the files in which processes of a run write what they have in use (python/memviewd/_live.py), read for
 * analysis_live_read. Processes append to them meanwhile, or put another file in the place of one. */
#pragma once

#include "analysis/analysis.h"

#include <stdbool.h>
#include <stddef.h>

struct live_files {
    struct live_text *items; /* by the name of their process: "rank2.12" before "rank10.4" */
    size_t count;
    size_t left_out_count; /* beyond 256 files, or 64 MiB of them all */
};

/* Reads the files of the run `name` in the folder `all`, and follows no link out of it. None where nothing was written,
 * or it cannot be read. live_files_free afterwards. */
void live_files_read(const char *all, const char *name, struct live_files *files);
void live_files_free(struct live_files *files);
/* Is it the folder of a run, and no link, that has a folder for such files? */
bool live_files_are(const char *run_folder);
