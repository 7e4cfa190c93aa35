/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/thread_pool.h"

#include "server/base/cgroups.h"
#include "server/base/memory.h"
#include "server/base/system.h"
#include "server/base/wanted.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* More pieces than that take longer to join than to read. */
enum { WORKERS_MAX = 16, MIN_BYTES = 2 << 20, STACK_BYTES = 1 << 20 };

struct thread_pool {
    struct workers workers;
    atomic_int free_count; /* threads that may still be lent */
};

struct shift {
    workers_work *work;
    void *task;
    size_t count;
    struct wanted *wanted; /* what the caller works for, and so those who help */
    atomic_size_t next;
};

static void *work_on(void *context)
{
    struct shift *shift = context;
    wanted_work_for(shift->wanted);
    for (size_t at; (at = atomic_fetch_add(&shift->next, 1)) < shift->count;)
        shift->work(shift->task, at);
    return NULL;
}

static bool borrow(struct thread_pool *thread_pool)
{
    int free_count = atomic_load(&thread_pool->free_count);
    while (free_count > 0)
        if (atomic_compare_exchange_weak(&thread_pool->free_count, &free_count, free_count - 1))
            return true;
    return false;
}

static void thread_pool_run(void *context, size_t count, workers_work *work, void *task)
{
    struct thread_pool *thread_pool = context;
    struct shift shift = {.work = work, .task = task, .count = count, .wanted = wanted_now()};
    pthread_t threads[WORKERS_MAX];
    pthread_attr_t attributes;
    size_t lent_count = 0, borrowed_count = 0,
           wanted_count = count < thread_pool->workers.count ? count : thread_pool->workers.count;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (borrowed_count + 1 < wanted_count && borrow(thread_pool)) {
        borrowed_count++;
        lent_count += pthread_create(&threads[lent_count], &attributes, work_on, &shift) == 0;
    }
    pthread_attr_destroy(&attributes);
    work_on(&shift);
    for (size_t i = 0; i < lent_count; i++)
        pthread_join(threads[i], NULL);
    atomic_fetch_add(&thread_pool->free_count, (int)borrowed_count);
}

/* The processors that this process may run on, and no more than its control group lets it use at a time. */
static size_t processor_count(void)
{
    uint64_t count = system_processor_count();
    uint64_t allowed = cgroups_processor_count("");
    count = count < allowed ? count : allowed;
    return count < 1 ? 1 : count < WORKERS_MAX ? (size_t)count : WORKERS_MAX;
}

struct thread_pool *thread_pool_new(size_t threads_a_processor)
{
    struct thread_pool *thread_pool = memory_new(sizeof(*thread_pool));
    size_t count = processor_count() * threads_a_processor;
    count = count < WORKERS_MAX ? count : WORKERS_MAX;
    thread_pool->workers =
        (struct workers){.context = thread_pool, .run = thread_pool_run, .count = count, .min_bytes = MIN_BYTES};
    atomic_init(&thread_pool->free_count, (int)count - 1);
    return thread_pool;
}

void thread_pool_free(struct thread_pool *thread_pool) { free(thread_pool); }

const struct workers *thread_pool_workers(const struct thread_pool *thread_pool) { return &thread_pool->workers; }
