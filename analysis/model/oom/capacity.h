/* SPDX-License-Identifier: Apache-2.0
 * capacity.h: the capacity that an out-of-memory text states: the first of the
 * failures in it (oom.h) that has one. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct oom_capacity {
    int64_t space;           /* colour: 0 HBM, 1 VMEM, 4 SMEM */
    int64_t available_bytes; /* as printed */
    int64_t needed_bytes;    /* as printed; −1 when the sentence does not say */
    int64_t half_unit_bytes; /* the printed figure is exact to ± this; 0 for bytes */
    size_t offset, length;   /* of the printed capacity in the text */
    bool may_be_of_xla;      /* false: another runtime printed it */
};

/* False when no sentence of the text states a capacity. */
bool oom_capacity_read(struct str text, struct arena *arena, struct oom_capacity *out, struct err *err);
