/* SPDX-License-Identifier: Apache-2.0
 * hlo_shapes.h: the shape of each logical buffer's value.
 *
 * Of an instruction that gives a tuple, the last number of the buffer's shape
 * index picks the element, as XLA does for unpadded sizes (it treats tuples in
 * tuples wrongly, and so compatibly). */
#pragma once

#include "read/hlo/hlo.h"

/* A ShapeProto's bytes per logical buffer; empty where the instruction is not
 * known. */
struct str *hlo_shapes_build(const struct hlo *hlo, struct arena *arena);

/* Does its layout put an array into another memory than the device's, such as S(5), the host's? */
bool hlo_shapes_is_elsewhere(struct str shape);
/* By number of the entry's parameters, up to `count`: the same. */
bool *hlo_shapes_elsewhere(const struct hlo *hlo, uint32_t count, struct arena *arena);

/* Element `nth` of an instruction's tuple; empty where there is none. */
struct str hlo_shapes_element(const struct hlo *hlo, struct arena *arena, uint32_t instruction_at, uint32_t nth);
