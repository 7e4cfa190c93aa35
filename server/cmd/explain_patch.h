/* SPDX-License-Identifier: Apache-2.0
 * explain_patch.h: memviewd explain --source-root=DIR [--patch]: advised changes as diffs of the user's source files,
 * which are read and never written. */
#pragma once

#include "analysis/analysis.h"
#include "server/cmd/options.h"

struct explain_patch_text;

/* Zeroed before explain_patch_open. */
struct explain_patch {
    struct patch_sources sources; /* for verdict_around; it borrows this struct */
    char **roots;                 /* without links */
    size_t root_count;
    struct explain_patch_text *texts; /* that were read: they live until explain_patch_free */
};

/* False, and said: options that do not go together, or a root that is no folder. */
bool explain_patch_open(struct explain_patch *patch, const struct options *options);
/* NULL without --source-root. */
const struct patch_sources *explain_patch_sources(const struct explain_patch *patch);
/* `answers`: all answers, as --json has them. Prints the requested diff to standard output, unless `is_json`, and
 * describes it on standard error, or says there why it has none. False: there is none. */
bool explain_patch_print(const struct options *options, const struct buf *answers);
void explain_patch_free(struct explain_patch *patch);
