/* SPDX-License-Identifier: Apache-2.0
 * person_rules.h: the user's own rules of whose memory a buffer is; they come before all others.
 *
 * In:     lines "REGEX CATEGORY": an expression (base/regex.h), which may hold spaces, and the name of a category
 * behind the last one. Empty lines, and those that begin with #, say nothing. Out:    a plan whose rows and arguments
 * have the category of the first line that matches one of their texts: op name, path of the argument, source line
 * ("model.py:41", with folders) or name of the buffer. Errors: `argument`, with the line, the place in it, and the
 * nearest category; the offset counts in the whole text. Cost:   expressions × texts, each text once, charged to the
 * arena's work. */
#pragma once

#include "base/buf.h"
#include "plan/plan.h"

enum { PERSON_RULES_MAX = 200, PERSON_RULES_LENGTH_MAX = 65536 };

struct person_rules; /* belongs to its arena; for one thread at a time */

/* NULL with a report in `err`. `text` must live as long as the rules. */
struct person_rules *person_rules_read(struct str text, struct arena *arena, struct err *err);
/* The plan as the rules see it, in their arena: what they do not touch is shared with `plan`. `scratch` holds one text
 * at a time. */
const struct plan *person_rules_apply(struct person_rules *rules, const struct plan *plan, struct buf *scratch);
/* The line that decided about a row, without its category, and its number from 1; false if none did. */
bool person_rules_line_of(struct person_rules *rules, const struct plan *plan, const struct plan_row *row,
                          struct buf *scratch, struct str *expression, uint32_t *line);
