/* SPDX-License-Identifier: Apache-2.0
 * moment.h: a moment of a pool, as people and addresses write it.
 *
 *   peak        after the event with the most in use, the first of several
 *   start, end  before the first event, after the last
 *   12.5ms      after all events up to this time; in s, ms, us, ns or ps from the origin of times
 *   step3       where this step begins (numbered as in the views, from 0); step3.peak, step3.end: its peak, its end
 *   e17         after this event of the pool, counted from 0 */
#pragma once

#include "model/memory_profile/model.h"

struct memory_profile_moment {
    uint32_t count; /* events of the pool that have happened; 0: before the first */
    int64_t time_ps;
    uint32_t rare_count; /* of a snapshot: how many of pool->torch.events have happened */
};

/* Right after event `at` of the pool; and after all that happened up to a time. */
struct memory_profile_moment memory_profile_moment_after_event(const struct memory_profile_pool *pool, uint32_t at);
struct memory_profile_moment memory_profile_moment_at_time(const struct memory_profile_pool *pool, int64_t time_ps);

/* The moment of an allocator snapshot's pool to look at: when `failure` failed. If it is NULL, the peak; or the end if
 * no peak is known (a snapshot without a history, or of one event) and with `is_end_wanted`. */
enum memory_profile_moment_kind { MOMENT_OF_FAILURE, MOMENT_OF_PEAK, MOMENT_OF_END };
enum memory_profile_moment_kind memory_profile_moment_that_matters(const struct memory_profile_pool *pool,
                                                                   const struct memory_profile_failure *failure,
                                                                   bool is_end_wanted,
                                                                   struct memory_profile_moment *out);

/* False with an `argument` report, which `name` begins: the parameter or option that `text` was given by. */
bool memory_profile_moment_read(const struct memory_profile_pool *pool, const char *name, const char *text,
                                struct memory_profile_moment *out, struct err *err);
enum { MOMENT_TEXT_SIZE = 32, MOMENT_WORDS_SIZE = 64 };
/* "the peak, 25.412 ms", "12.5 ms", of a text that was read. */
const char *memory_profile_moment_words(const char *text, const struct memory_profile_moment *moment,
                                        char words[MOMENT_WORDS_SIZE]);
/* Moment `at` of those that make a series, in the order of time: where steps begin, else evenly spread; the end is the
 * last. False past it. */
bool memory_profile_moment_of_series(const struct memory_profile_pool *pool, size_t at, char text[MOMENT_TEXT_SIZE]);
/* Are there steps enough for them? */
bool memory_profile_moment_has_steps(const struct memory_profile *profile);
