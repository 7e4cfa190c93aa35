/* SPDX-License-Identifier: Apache-2.0
 * shape_read.h: a shape as XLA prints it, "(f32[8,128]{1,0:T(8,128)}, s32[])", as a ShapeProto: the way back of
 * shape.h.
 *
 * Room: at most SHAPE_READ_FACTOR bytes for each of the text. Errors: `malformed`, with the line. */
#pragma once

#include "base/buf.h"
#include "read/text_cursor.h"

enum { SHAPE_READ_FACTOR = 16 };

/* Writes field `field` of what is open in `out`; `is_tuple` may be NULL. The cursor ends behind the shape. */
bool shape_read(struct text_cursor *cursor, struct buf *out, uint32_t field, bool *is_tuple);
