/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/http_turns.h"

#include "server/base/clock.h"
#include "server/base/wanted.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { FIRST_DELAY_MS = 200, DELAY_MAX_MS = 10000, PAUSE_MAX_MS = 60000, LOOK_MS = 100, SERVER_COUNT = 32 };

/* Servers that meet in one place of the table pause together. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_made;
    unsigned in_flight;
    int64_t paused_until_ms[SERVER_COUNT];
} turns = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_bool is_stopped;

void http_turns_stop(void) { atomic_store(&is_stopped, true); }

bool http_turns_are_over(void) { return atomic_load(&is_stopped) || wanted_is_over(); }

/* With the lock. */
static void look_again(int64_t wait_ms)
{
    if (!turns.is_made)
        clock_cond_init(&turns.changed);
    turns.is_made = true;
    struct timespec until = clock_after(wait_ms);
    pthread_cond_timedwait(&turns.changed, &turns.lock, &until);
}

static int64_t http_turns_shorter(int64_t a, int64_t b) { return a < b ? a : b; }

bool http_turns_begin(uint64_t server, unsigned in_flight_max)
{
    const int64_t *paused_until_ms = &turns.paused_until_ms[server % SERVER_COUNT];
    bool is_over;
    pthread_mutex_lock(&turns.lock);
    while (!(is_over = http_turns_are_over()) && (turns.in_flight >= in_flight_max || clock_ms() < *paused_until_ms))
        look_again(LOOK_MS);
    turns.in_flight += !is_over;
    pthread_mutex_unlock(&turns.lock);
    return !is_over;
}

void http_turns_end(void)
{
    pthread_mutex_lock(&turns.lock);
    turns.in_flight--;
    if (turns.is_made)
        pthread_cond_signal(&turns.changed);
    pthread_mutex_unlock(&turns.lock);
}

void http_turns_pause(uint64_t server, int64_t wait_ms)
{
    int64_t until_ms = clock_ms() + http_turns_shorter(wait_ms, PAUSE_MAX_MS);
    pthread_mutex_lock(&turns.lock);
    if (turns.paused_until_ms[server % SERVER_COUNT] < until_ms)
        turns.paused_until_ms[server % SERVER_COUNT] = until_ms;
    pthread_mutex_unlock(&turns.lock);
}

int64_t http_turns_delay_ms(unsigned tried, uint64_t chance)
{
    int64_t longest_ms = FIRST_DELAY_MS;
    for (unsigned at = 1; at < tried && longest_ms < DELAY_MAX_MS; at++)
        longest_ms *= 2;
    longest_ms = http_turns_shorter(longest_ms, DELAY_MAX_MS);
    return longest_ms / 2 + (int64_t)(chance % (uint64_t)(longest_ms / 2 + 1));
}

bool http_turns_wait(int64_t wait_ms)
{
    const int64_t until_ms = clock_ms() + wait_ms;
    pthread_mutex_lock(&turns.lock);
    for (int64_t left_ms; !http_turns_are_over() && (left_ms = until_ms - clock_ms()) > 0;)
        look_again(http_turns_shorter(left_ms, LOOK_MS));
    pthread_mutex_unlock(&turns.lock);
    return !http_turns_are_over();
}
