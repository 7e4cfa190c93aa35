/* SPDX-License-Identifier: Apache-2.0
 * moment.h: times to measure and to wait by, which no change of the clock disturbs. */
#ifndef SERVER_BASE_MOMENT_H
#define SERVER_BASE_MOMENT_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Since some moment in the past. */
int64_t moment_us(void);
int64_t moment_ms(void);

/* For pthread_cond_timedwait with a condition of moment_cond_init. */
struct timespec moment_after(int64_t wait_ms);
void moment_cond_init(pthread_cond_t *condition);

/* Unix time. */
int64_t moment_unix_ns(void);
int64_t moment_unix_ms(void);

#endif
