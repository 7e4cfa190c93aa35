/* SPDX-License-Identifier: Apache-2.0
 * assignment_text.h: "…-buffer-assignment.txt" of a dump as a BufferAssignmentProto.
 *
 * The text has every allocation with its size, space and use, and every value with its id, its instruction's name, size
 * and offset. It has no heap trace and no aliases of values; that an allocation holds tables of pointers is known by
 * the shapes of its values.
 *
 * In:     the text, and the module whose instructions it names, or NULL: then a module of those names is made up, one
 *         instruction for each value, with the value's shape and nothing else.
 * Out:    the fields of the message behind what is in `out` already; of the made-up module, in `module`.
 * Memory: the arena. Cost: linear.
 * Errors: `malformed` with file, line and reason.
 * Source: BufferAssignment::ToString of XLA; 79,388 lines of libtpu 0.0.52. */
#pragma once

#include "read/hlo/hlo.h"
#include "read/text_cursor.h"
#include "wire/arena_out.h"

bool assignment_text_is(struct str begin);
bool assignment_text_read(struct str text, struct str file, const struct hlo *module, struct arena *arena,
                          struct arena_out *out, struct arena_out *made, bool *is_odd, struct err *err);
