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
