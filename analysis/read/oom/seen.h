/* SPDX-License-Identifier: Apache-2.0
 * seen.h: which of some words is nearest before a place. No byte is looked at twice, however many places ask. */
#pragma once

#include "read/oom/text.h"

#include <stdbool.h>

enum { OOM_SEEN_WORDS = 40 };

/* Of one list of words; zeroed at first. */
struct oom_seen {
    bool is_found;
    size_t which;      /* the last word that was found */
    uint64_t at;       /* and where in the input it begins */
    uint64_t until_at; /* up to here the input was searched */
};

/* The word that begins nearest before clean byte `from`, at most `within` bytes of the input before it; false when
 * there is none. `words`: at most OOM_SEEN_WORDS, without white space. */
bool oom_seen_before(struct oom_seen *seen, const struct oom_text *text, size_t from, size_t within,
                     const char *const *words, size_t count, size_t *which);
