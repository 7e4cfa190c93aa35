/* SPDX-License-Identifier: Apache-2.0
 * hlo_assignment.h: BufferAssignmentProto into the arrays of struct hlo. */
#pragma once

#include "read/hlo/hlo.h"

/* Fills buffers, allocations, traces and their maps from hlo->assignment_bytes.
 * `begin` and `offset` place those bytes in the file, for error offsets. */
void hlo_assignment_read(struct hlo *hlo, const char *begin, uint64_t offset, struct arena *arena, struct err *err);
