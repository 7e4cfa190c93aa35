/* SPDX-License-Identifier: Apache-2.0
 * exchange/device_fit.h: a job that is held against devices (verdict/device_fit.h).
 * Texts are borrowed; sizes are bytes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What is held against devices: a program of XLA, or what PyTorch's allocator took. */
struct device_fit_job {
    bool is_program;
    int64_t total_bytes;    /* of each device, at least 0: by the plan, or of PyTorch's segments at their peak */
    int64_t failed_bytes;   /* of a recording: of the request that failed; 0 or less: none */
    int64_t part_count;     /* of a program: devices that it is split over, from 1 */
    const char *own_device; /* row of the table that the dump was compiled for; NULL: not known, or split anew */
    uint64_t own_bytes;     /* that the dump states of that device; 0: it does not */
    bool is_confirmed;      /* a compiler is asked where device_fit_may_compile */
};
