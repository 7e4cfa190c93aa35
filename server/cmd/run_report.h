/* SPDX-License-Identifier: Apache-2.0
 * run_report.h: what `memviewd run` says at its end: what is in the folder, what was armed. */
#pragma once

#include "server/run/inject.h"

#include <stdbool.h>
#include <stddef.h>

/* What one run left behind. */
struct run_report {
    const char *folder;
    size_t program_count, snapshot_count;
    bool is_injected;    /* without --no-inject */
    const char *refusal; /* of inject_refusal() */
    const struct inject_marks *marks;
};

/* Snapshots of PyTorch's allocator in the folder. */
size_t run_report_snapshot_count(const char *folder);
/* "its output, 1 program and 2 allocator snapshots are in DIR" */
void run_report_say_files(const struct run_report *report);
/* A line on what was armed, or why nothing was; none with --no-inject. */
void run_report_say_armed(const struct run_report *report);
