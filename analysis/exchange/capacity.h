/* SPDX-License-Identifier: Apache-2.0
 * exchange/capacity.h: how much memory a device has for one program, and who says so (verdict/capacity.h decides which
 * source counts). Texts are borrowed; sizes are bytes. */
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
