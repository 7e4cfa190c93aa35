/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/ticker.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/wanted.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

enum { TICK_MS = 1000 };

struct ticker {
    void (*work)(void *context);
    void *context;
    struct wanted wanted;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_stopping; /* under the lock */
};

static bool ticker_rest(struct ticker *ticker)
{
    struct timespec until = clock_after(TICK_MS);
    pthread_mutex_lock(&ticker->lock);
    while (!ticker->is_stopping && pthread_cond_timedwait(&ticker->changed, &ticker->lock, &until) == 0)
        continue;
    bool goes_on = !ticker->is_stopping;
    pthread_mutex_unlock(&ticker->lock);
    return goes_on;
}

static void *ticker_run(void *context)
{
    struct ticker *ticker = context;
    wanted_work_for(&ticker->wanted);
    do
        ticker->work(ticker->context);
    while (ticker_rest(ticker));
    return NULL;
}

static void free_all(struct ticker *ticker)
{
    pthread_cond_destroy(&ticker->changed);
    pthread_mutex_destroy(&ticker->lock);
    free(ticker);
}

struct ticker *ticker_start(void (*work)(void *context), void *context)
{
    struct ticker *ticker = memory_new(sizeof(*ticker));
    ticker->work = work;
    ticker->context = context;
    wanted_begin(&ticker->wanted);
    pthread_mutex_init(&ticker->lock, NULL);
    clock_cond_init(&ticker->changed);
    int reason = pthread_create(&ticker->thread, NULL, ticker_run, ticker);
    if (reason == 0)
        return ticker;
    free_all(ticker);
    errno = reason;
    return NULL;
}

void ticker_stop(struct ticker *ticker)
{
    if (!ticker)
        return;
    pthread_mutex_lock(&ticker->lock);
    ticker->is_stopping = true;
    pthread_cond_signal(&ticker->changed);
    pthread_mutex_unlock(&ticker->lock);
    wanted_end(&ticker->wanted);
    pthread_join(ticker->thread, NULL);
    free_all(ticker);
}
