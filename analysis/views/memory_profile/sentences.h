/* SPDX-License-Identifier: Apache-2.0
 * sentences.h: what the views of the memory profile say above their pictures and tables. Whole sentences, with their
 * figures as parts; in the request's arena. */
#pragma once

#include "model/finding.h"
#include "model/memory_profile/held.h"
#include "model/memory_profile/live.h"
#include "model/memory_profile/model.h"

struct memory_profile_sentences_holes {
    uint32_t block_count, hole_count;
    uint64_t largest_bytes; /* between blocks; 0: there is none */
    int64_t unknown_bytes;  /* in use at addresses that are not known */
};
const struct finding *memory_profile_sentences_addresses(const struct memory_profile_sentences_holes *holes,
                                                         struct arena *arena);

/* What segments come to. */
struct memory_profile_sentences_sums {
    uint64_t free_bytes, unused_bytes; /* unused: of segments without a block */
    uint64_t largest_hole_bytes;
    uint32_t hole_count;
};
/* NULL: there are none. */
const struct finding *memory_profile_sentences_segments(const struct memory_profile_held *held,
                                                        const struct memory_profile_sentences_sums *sums,
                                                        struct arena *arena);

/* The moment with the smallest largest free chunk (`worst`, an event), and for how long the largest request would have
 * failed. NULL without such a moment (PROFILE_NONE). */
const struct finding *memory_profile_sentences_fragmentation(const struct memory_profile_pool *pool, uint32_t worst,
                                                             int64_t failing_ps, struct arena *arena);

/* Do the rows and what is beside them add up to the bytes in use? A clause: "70.10 GiB = curve at this time". */
const char *memory_profile_sentences_balance(const struct memory_profile_live *live, int64_t total_bytes,
                                             struct arena *arena);
