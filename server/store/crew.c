/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/crew.h"

#include "server/base/cgroups.h"
#include "server/base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* More pieces than that take longer to join than to read. */
enum { HANDS_MOST = 16, LEAST_BYTES = 2 << 20, STACK_BYTES = 1 << 20 };

struct crew {
    struct hands hands;
    atomic_int free_count; /* threads that may still be lent */
};

struct shift {
    hands_work *work;
    void *task;
    size_t count;
    atomic_size_t next;
};

static void *work_on(void *context)
{
    struct shift *shift = context;
    for (size_t at; (at = atomic_fetch_add(&shift->next, 1)) < shift->count;)
        shift->work(shift->task, at);
    return NULL;
}

static bool borrow(struct crew *crew)
{
    int free_count = atomic_load(&crew->free_count);
    while (free_count > 0)
        if (atomic_compare_exchange_weak(&crew->free_count, &free_count, free_count - 1))
            return true;
    return false;
}

static void run(void *context, size_t count, hands_work *work, void *task)
{
    struct crew *crew = context;
    struct shift shift = {.work = work, .task = task, .count = count};
    pthread_t threads[HANDS_MOST];
    pthread_attr_t attributes;
    size_t lent_count = 0, borrowed_count = 0, wanted_count = count < crew->hands.count ? count : crew->hands.count;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (borrowed_count + 1 < wanted_count && borrow(crew)) {
        borrowed_count++;
        lent_count += pthread_create(&threads[lent_count], &attributes, work_on, &shift) == 0;
    }
    pthread_attr_destroy(&attributes);
    work_on(&shift);
    for (size_t i = 0; i < lent_count; i++)
        pthread_join(threads[i], NULL);
    atomic_fetch_add(&crew->free_count, (int)borrowed_count);
}

/* The processors that this process may run on, and no more than its control group lets it use at a time. */
static size_t processor_count(void)
{
    cpu_set_t processors;
    uint64_t count = sched_getaffinity(0, sizeof(processors), &processors) == 0 ? (uint64_t)CPU_COUNT(&processors) : 1;
    uint64_t allowed = cgroups_processor_count("");
    count = count < allowed ? count : allowed;
    return count < 1 ? 1 : count < HANDS_MOST ? (size_t)count : HANDS_MOST;
}

struct crew *crew_new(void)
{
    struct crew *crew = memory_new(sizeof(*crew));
    size_t count = processor_count();
    crew->hands = (struct hands){.context = crew, .run = run, .count = count, .least_bytes = LEAST_BYTES};
    atomic_init(&crew->free_count, (int)count - 1);
    return crew;
}

void crew_free(struct crew *crew)
{
    free(crew);
}

const struct hands *crew_hands(const struct crew *crew)
{
    return &crew->hands;
}
