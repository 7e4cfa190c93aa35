/* SPDX-License-Identifier: Apache-2.0
 * clock.h: times to measure and to wait by, which no change of the clock disturbs. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Since some moment in the past. */
int64_t clock_us(void);
int64_t clock_ms(void);

/* For pthread_cond_timedwait with a condition of clock_cond_init. */
struct timespec clock_after(int64_t wait_ms);
void clock_cond_init(pthread_cond_t *condition);

/* Unix time. */
int64_t clock_unix_ns(void);
int64_t clock_unix_ms(void);

/* What the system says of a file, as Unix time. Years before 1844 and after 2254 become those: a difference from now
 * fits. */
int64_t clock_file_ns(struct timespec time);
/* Are two times further apart than `span`, whichever is later? A clock may be set back: what was done "in the future"
 * is over. */
bool clock_is_apart(int64_t one, int64_t other, int64_t span);
