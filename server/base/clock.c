/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/clock.h"

#include "server/base/other_systems.h"

int64_t clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_ms(void) { return clock_us() / 1000; }

struct timespec clock_after(int64_t wait_ms)
{
    int64_t at_ms = CLOCK_OF_WAITS == CLOCK_MONOTONIC ? clock_ms() + wait_ms : clock_unix_ms() + wait_ms;
    return (struct timespec){.tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000};
}

void clock_cond_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_OF_WAITS);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

int64_t clock_unix_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_unix_ms(void) { return clock_unix_ns() / 1000000; }
