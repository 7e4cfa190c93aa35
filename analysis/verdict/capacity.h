/* SPDX-License-Identifier: Apache-2.0
 * capacity.h: how much memory a program may use, where several sources say it: the one order of them.
 *
 * Whoever gathers files hands over what each source says; which of them counts is decided here alone. What a trace in
 * another folder tells of an allocator is no source: lists of programs do not look for such traces. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* In the order in which they count. */
enum capacity_from {
    CAPACITY_CHOSEN,    /* the user, as --capacity */
    CAPACITY_FAILURE,   /* the failure that is explained states it */
    CAPACITY_TEXT,      /* an error text beside the program states it */
    CAPACITY_CHIP,      /* a file beside the dump names the chip: target_arguments.pb, topology.pb */
    CAPACITY_TRACE,     /* the trace that holds the program records its devices */
    CAPACITY_ALLOCATOR, /* without a program: limit of an allocator or size of a device, in memory over time */
};

/* What there is of a memory space for one program, and who says so; as it is handed from door to verdict. */
struct capacity_stated {
    enum capacity_from from;
    int64_t space;
    uint64_t bytes, half_bytes, asked_bytes; /* as plan/memory_fit.h has them; 0: none */
    const char *source;                      /* "as chosen", "error.txt", "TPU v5e, from target_arguments.pb" */
    const char *device;                      /* row of the table of devices that it is of; NULL: of none */
    bool is_physical;                        /* of the whole device: a program may get less */
    bool is_of_gpu;
    const char *file; /* text that states it, in bytes [begin, end); NULL: none does */
    uint64_t begin, end;
};

/* What one source says of one memory space. */
struct capacity_said {
    enum capacity_from from;
    int64_t bytes; /* at least 0 */
};

/* Does `one` count, where `other` was found before it? Of two texts the first counts, of devices of a trace the
 * smallest. */
bool capacity_counts_before(const struct capacity_said *one, const struct capacity_said *other);
/* May a source of that kind still count, where `found` is known? NULL: nothing is. */
bool capacity_may_count(enum capacity_from from, const struct capacity_said *found);

/* What a program may use of a device: what the table of devices or its allocator leaves it, else its physical size.
 * 0: not known. */
struct capacity_usable {
    int64_t bytes;
    bool is_physical; /* a program gets less; how much is not known */
};
struct capacity_usable capacity_usable_of(int64_t available_bytes, int64_t physical_bytes);
