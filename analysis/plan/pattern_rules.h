/* SPDX-License-Identifier: Apache-2.0
 * pattern_rules.h: which live buffers belong to a pattern; of pattern.c alone. */
#pragma once

#include "plan/pattern_facts.h"

/* Does the buffer belong to the pattern? */
bool pattern_rules_take(struct pattern_finding *finding, enum pattern_kind kind, const struct pattern_live *live);
