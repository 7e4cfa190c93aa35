/* SPDX-License-Identifier: Apache-2.0
 * lack.h: words by which any text says that memory ran out, in letters of either case: the grammar of lack.def. */
#pragma once

#include "base/arena.h"
#include "read/oom/text.h"

/* Do such words begin at clean byte `at`? *end is set behind them. */
bool oom_lack_read(const struct oom_text *text, size_t at, size_t *end);

/* Do words begin there that say so before a size? */
bool oom_lack_is_sized(const struct oom_text *text, size_t at, size_t *end);

/* Do words begin there that compare one size with another? */
bool oom_lack_compares(const struct oom_text *text, size_t at, size_t *end);

enum { OOM_LACK_SIGNS = 512 };
/* Words in small letters, one of which stands in every text that is read, once white space and '_' are left out: writes
 * at most OOM_LACK_SIGNS, which `arena` owns, and returns how many. A '-' within them hides one from the search, which
 * would else stop at all advice about "out-of-memory". */
size_t oom_lack_signs(struct arena *arena, const char **signs);

/* Adds their first letters. */
void oom_lack_firsts(bool firsts[256]);
