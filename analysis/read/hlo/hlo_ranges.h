/* SPDX-License-Identifier: Apache-2.0
 * hlo_ranges.h: from which to which position of the schedule each logical buffer lives.
 *
 * A value is alive from the instruction that defines it to the last one that
 * reads it, wherever it went meanwhile: through tuples and their elements,
 * bitcasts, loops, calls, branches and asynchronous pairs. Values of one buffer
 * (buffer_aliases) follow each other without overlap.
 *
 * In:     a scheduled program. Out: a range per logical buffer, both ends
 *         included, as in XLA's `-live-range.txt`.
 * Memory: the arena. Cost: linear in instructions and in the places values reach.
 * Source: rules of hlo_live_range.cc and hlo_dataflow_analysis.cc. */
#pragma once

#include "read/hlo/hlo_schedule.h"

struct hlo_range {
    uint32_t start, end; /* positions; start HLO_NONE: not in the schedule */
};

struct hlo_ranges {
    struct hlo_range *of_buffer; /* by place in hlo.buffers */
    uint64_t lost_count;         /* values that went further than is followed: their end is a lower bound */
};

void hlo_ranges_build(const struct hlo *hlo, const struct hlo_schedule *schedule, struct arena *arena,
                      struct hlo_ranges *out);
