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

int64_t clock_file_ns(struct timespec time)
{
    const int64_t first_s = -4000000000, last_s = 9000000000, seconds = (int64_t)time.tv_sec;
    return (seconds < first_s ? first_s : seconds > last_s ? last_s : seconds) * 1000000000 + time.tv_nsec;
}

bool clock_is_apart(int64_t one, int64_t other, int64_t span)
{
    int64_t difference;
    bool is_more =
        one > other ? __builtin_sub_overflow(one, other, &difference) : __builtin_sub_overflow(other, one, &difference);
    return is_more || difference > span;
}
