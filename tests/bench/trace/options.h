/* SPDX-License-Identifier: Apache-2.0
 * options.h: what a trace shall hold. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { OPTIONS_LINES_MAX = 1024, OPTIONS_ALLOCATORS_MAX = 64 };

enum bad_kind { BAD_DISORDER, BAD_FREE, BAD_DOUBLE, BAD_SIZE, BAD_STATS, BAD_CLOCK, BAD_KINDS };

struct options {
    const char *out;
    int64_t events, lines, allocators, seed, steps, leak_bytes, before_bytes, capacity_bytes, others, bad_every;
    bool is_tpu;
    bool bad[BAD_KINDS];
};

/* Ends the program with its use on a wrong option, with 0 after --help. */
struct options options_read(int argc, char **argv);
