/* SPDX-License-Identifier: Apache-2.0
 * hlo_totals.h: sums of a program's allocations, without decoding the program.
 *
 * Reads the headers of the buffer assignment through a small window; the module
 * is passed by length, but for a few instructions that tell the platform. */
#pragma once

#include "read/kind.h"
#include "read/space.h"
#include "wire/stream.h"

struct hlo_space_total {
    int64_t space, total_bytes;   /* thread-local allocations left out */
    int64_t temporary_bytes;      /* the part that is no argument, output or constant */
    int64_t largest_output_bytes; /* of allocations for outputs alone */
};

struct hlo_totals {
    enum space_platform platform;
    bool has_assignment;
    struct hlo_space_total *spaces; /* ascending */
    size_t space_count;
};

/* `scope` holds one message of `kind`. */
bool hlo_totals_read(const struct source *source, struct stream_scope scope, enum kind kind, struct arena *arena,
                     struct hlo_totals *out, struct err *err);
/* Name of the module in a file of `kind`, copied; empty if it has none. */
struct str hlo_totals_name(const struct source *source, enum kind kind, struct arena *arena, struct err *err);
