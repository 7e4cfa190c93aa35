/* SPDX-License-Identifier: Apache-2.0
 * hlo_text.h: a program as XLA prints it ("HloModule jit_f, is_scheduled=true, …") as a HloModuleProto.
 *
 * Read are names, shapes with their layouts, opcodes, operands, called computations, what an operation says of its
 * dimensions, metadata with stack frames, the kind of a sharding, backend configurations, which outputs live in which
 * arguments, and the schedule: of a scheduled module it is the order of the lines. Ids are ours: in the order of the
 * text, computations from 1 and instructions from 1. Not read: values of constants, frontend attributes.
 *
 * In:     the text, one module. Out: the message's fields, behind what is in `out` already.
 * Memory: the arena; about 4 times the text. Cost: linear; charged to the arena's work.
 * Errors: `malformed` with file, line and reason: a bracket without its end, a name that nothing defines, no module.
 * Source: HloModule::ToString and HloInstruction::ToString of XLA; texts of jaxlib 0.10.2 and libtpu 0.0.52. */
#pragma once

#include "read/text_cursor.h"
#include "wire/arena_out.h"

/* Does the text begin as a module does? */
bool hlo_text_is(struct str begin);
bool hlo_text_read(struct str text, struct str file, struct arena *arena, struct arena_out *out, bool *is_odd,
                   struct err *err);
/* Its name, "" if it has none. Reads the first line alone. */
struct str hlo_text_name(struct str text);
