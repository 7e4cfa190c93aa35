/* SPDX-License-Identifier: Apache-2.0
 * edits.h: what each kind of edit is done by: one file each. */
#pragma once

#include "edit/edit.h"
#include "edit/program.h"

/* Each changes `program` and counts in it what was changed and what was left. False with a report where the edit does
 * not apply; the program is then of no use. */
bool donate_apply(struct program *program, const struct edit *edit);
bool resize_apply(struct program *program, const struct edit *edit);
bool checkpoint_apply(struct program *program, const struct edit *edit);
bool shard_apply(struct program *program, const struct edit *edit);
bool cast_apply(struct program *program, const struct edit *edit);
bool unpad_apply(struct program *program, const struct edit *edit);
