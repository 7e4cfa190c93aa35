/* SPDX-License-Identifier: Apache-2.0
 * run_folder.h: where one run leaves its output and its dump: "run-2026-01-09-101500-4711" in the folder of all runs.
 *
 * It is there while the command runs, so that what is left by a runner that was killed can be looked at too. The file
 * run.lock in it, locked as long as its runner lives, tells it from folders of other origin: only such are ever
 * removed. python/memviewd/_session.py makes and removes the same ones. */
#pragma once

#include "base/err.h"

#include <stdint.h>

struct run_folder {
    char *all;  /* the folder of all runs, absolute */
    char *path; /* of this run */
    int lock;
    bool is_made; /* `all` was not there before */
};

/* `all` is made if it is not there. `io` when that cannot be. run_folder_close or run_folder_remove afterwards. */
bool run_folder_open(struct run_folder *folder, const char *all, struct err *err);
/* Leaves it, and removes the oldest runs that have ended until all runs together have no more than `max_bytes`; this
 * one stays. */
void run_folder_close(struct run_folder *folder, uint64_t max_bytes);
/* With all that is in it. */
void run_folder_remove(struct run_folder *folder);

/* Is it the folder of a run, whether or not that has ended? */
bool run_folder_is(const char *path);
/* Does its runner live? Where a file system has no locks, true. */
bool run_folder_is_running(const char *path);
/* The newest run in the folder `all` whose runner lives, else the newest one; NULL: there is none. free() */
char *run_folder_newest(const char *all);
