/* SPDX-License-Identifier: Apache-2.0
 * run_log.h: the end of what a command prints, as a file that never grows past a limit.
 *
 * When it is full its first half is dropped: between half of the limit and all of it is kept. What cannot be written
 * (the disk is full) is left out. Threads: any number add. */
#pragma once

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct run_log;

/* A new file; NULL with `io`. */
struct run_log *run_log_new(const char *path, uint64_t max_bytes, struct err *err);
void run_log_add(struct run_log *log, const char *bytes, size_t size);
void run_log_free(struct run_log *log);
