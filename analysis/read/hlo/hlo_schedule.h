/* SPDX-License-Identifier: Apache-2.0
 * hlo_schedule.h: the program as one sequence of instructions.
 *
 * The entry computation's order, with the computations that calls, conditionals,
 * loops and asynchronous regions run placed before the instruction that runs
 * them, each once: the positions of XLA's live-range report.
 * Memory: the arena. Source: hlo_live_range.cc (FlattenSchedule). */
#pragma once

#include "read/hlo/hlo.h"

struct hlo_schedule {
    uint32_t *order; /* instruction at a position */
    uint32_t length;
    uint32_t *position_of_instruction; /* HLO_NONE: not in the order */
    uint32_t *span_begin, *span_end;   /* of a computation; begin HLO_NONE: not in the order */
};

void hlo_schedule_flatten(const struct hlo *hlo, struct arena *arena, struct hlo_schedule *out);
