/* SPDX-License-Identifier: Apache-2.0
 * oom_capacity.h: the capacity that an out-of-memory text states.
 *
 * Sentences of TPU compilers of all releases:
 *   Used 55.24G of 31.25G hbm.
 *   … (300.00G) exceeds available HBM (15.75G).
 *   Allocation (size=N) would exceed memory (size=M) :: … space=hbm …
 *   … exceeding available bytes: 95.74G
 *   Requires 3.84T, has 90.96G available.
 * Line breaks and indents may stand anywhere between words. */
#ifndef ANALYSIS_INPUT_OOM_CAPACITY_H
#define ANALYSIS_INPUT_OOM_CAPACITY_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct oom_capacity {
    int64_t space;           /* colour: 0 HBM, 1 VMEM, 4 SMEM */
    int64_t available_bytes; /* as printed */
    int64_t needed_bytes;    /* as printed; −1 when the sentence does not say */
    int64_t half_unit_bytes; /* the printed figure is exact to ± this; 0 for bytes */
    size_t offset, length;   /* of the printed capacity in the text */
};

/* The first sentence of the text that states a capacity. */
bool oom_capacity_read(struct str text, struct oom_capacity *out);

#endif
