/* SPDX-License-Identifier: Apache-2.0
 * glob.h: what a GLOB of a change means: arguments, scopes and patterns by their names. */
#pragma once

#include "plan/plan.h"
#include "whatif/variant.h"

/* Does it match `text` from the beginning of a part to the end of one? Parts are divided by / . [ ] ( ). */
bool glob_matches(struct str glob, struct str text);
/* Steps that it takes, for arena_work: texts come out of the file and from the asker. */
static inline uint64_t glob_work(struct str glob, struct str text)
{
    return text.length * (1 + (uint64_t)glob.length / 16);
}
/* The rows of a variant that it names: flags by row, in the arena; how many. */
uint32_t glob_rows(const struct variant *variant, struct str glob, bool *flags);
/* An `argument` report: what matches nothing, and the nearest names that would. False. */
bool glob_missed(const struct variant *variant, const char *parameter, struct str glob, struct err *err);
