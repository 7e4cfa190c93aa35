/* SPDX-License-Identifier: Apache-2.0
 * clock.h: times to measure and to wait by, which no change of the clock disturbs. */
#pragma once

#include <pthread.h>
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
