/* SPDX-License-Identifier: Apache-2.0
 * dump_limit.h: a dump that a running program writes, kept small: only what memviewd reads, only the newest programs.
 *
 * XLA writes several files a program and has no such limit itself (xla_dump_max_hlo_modules keeps the first ones). A
 * thread looks at the folder, five times a second while something comes and goes. Files that are of no use go once
 * they are a second old; the oldest programs go at once when there are too many or too many bytes. Files that are not
 * named as XLA names those of a dump are left alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dump_limit {
    const char *folder;
    size_t max_programs;
    uint64_t max_bytes;
};

/* Once, on the calling thread; the program has ended. The number of programs that are left. */
size_t dump_limit_apply(const struct dump_limit *limit);

struct dump_limit_watch;
/* NULL when no thread could be made. `limit` outlives it. */
struct dump_limit_watch *dump_limit_watch_new(const struct dump_limit *limit);
void dump_limit_watch_free(struct dump_limit_watch *watch);
