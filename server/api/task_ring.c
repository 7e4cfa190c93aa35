/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/task_ring.h"

#include "base/hash.h"
#include "server/base/clock.h"
#include "server/gather/snapshot.h"

#include <string.h>

void task_ring_init(struct task_ring *ring, void (*work)(struct task *), void (*drop)(struct task *), const char *busy)
{
    *ring = (struct task_ring){.work = work, .drop = drop, .busy = busy};
    pthread_mutex_init(&ring->lock, NULL);
    pthread_mutex_init(&ring->opening, NULL);
}

static void *task_ring_thread(void *context)
{
    struct task *task = context;
    struct task_ring *ring = task->ring;
    ring->work(task);
    pthread_mutex_lock(&ring->lock);
    task->is_done = true;
    ring->running = NULL;
    pthread_mutex_unlock(&ring->lock);
    return NULL;
}

/* With `opening`, so that only one thread does it. */
static void task_ring_join(struct task_ring *ring)
{
    if (ring->has_thread)
        pthread_join(ring->thread, NULL);
    ring->has_thread = false;
}

void task_ring_stop(struct task_ring *ring)
{
    pthread_mutex_lock(&ring->opening);
    pthread_mutex_lock(&ring->lock);
    ring->is_stopping = true;
    if (ring->running)
        atomic_store(&ring->running->is_cancelled, true);
    pthread_mutex_unlock(&ring->lock);
    task_ring_join(ring);
    pthread_mutex_unlock(&ring->opening);
}

void task_ring_free(struct task_ring *ring)
{
    task_ring_stop(ring);
    for (size_t at = 0; at < TASK_RING_KEPT; at++)
        if (ring->tasks[at])
            ring->drop(ring->tasks[at]);
    pthread_mutex_destroy(&ring->lock);
    pthread_mutex_destroy(&ring->opening);
}

/* With the lock. One that somebody holds is dropped when they release it. */
static void oldest_replace(struct task_ring *ring, struct task *task)
{
    struct task *oldest = ring->tasks[ring->next];
    if (oldest) {
        oldest->is_gone = true;
        if (oldest->holder_count == 0)
            ring->drop(oldest);
    }
    ring->tasks[ring->next] = task;
    ring->next = (ring->next + 1) % TASK_RING_KEPT;
}

/* With both locks, and nothing that runs. */
static bool thread_start(struct task_ring *ring, struct task *task)
{
    snapshot_write_id(task->id, hash_number(++ring->count, (uint64_t)clock_unix_ns()));
    task->ring = ring;
    if (pthread_create(&ring->thread, NULL, task_ring_thread, task) != 0)
        return false;
    ring->has_thread = true;
    ring->running = task;
    oldest_replace(ring, task);
    return true;
}

bool task_ring_begin(struct task_ring *ring, struct task *task, char id[TASK_RING_ID_SIZE], struct err *err)
{
    bool is_begun = false;
    pthread_mutex_lock(&ring->opening);
    pthread_mutex_lock(&ring->lock);
    if (ring->is_stopping) {
        err_set(err, ERR_limit, ERR_NO_OFFSET, "the daemon ends");
    } else if (ring->running) {
        err_set(err, ERR_conflict, ERR_NO_OFFSET, "%s: %s", ring->busy, ring->running->id);
    } else {
        task_ring_join(ring); /* it has ended, or is about to */
        is_begun = thread_start(ring, task);
        if (!is_begun)
            err_set(err, ERR_limit, ERR_NO_OFFSET, "there is no thread for it now");
    }
    if (is_begun)
        memcpy(id, task->id, TASK_RING_ID_SIZE);
    pthread_mutex_unlock(&ring->lock);
    pthread_mutex_unlock(&ring->opening);
    return is_begun;
}

/* With the lock. */
static struct task *task_ring_find(const struct task_ring *ring, const char *id)
{
    for (size_t at = 0; at < TASK_RING_KEPT; at++)
        if (ring->tasks[at] && strcmp(ring->tasks[at]->id, id) == 0)
            return ring->tasks[at];
    return NULL;
}

bool task_ring_cancel(struct task_ring *ring, const char *id)
{
    pthread_mutex_lock(&ring->lock);
    struct task *task = task_ring_find(ring, id);
    if (task)
        atomic_store(&task->is_cancelled, true);
    pthread_mutex_unlock(&ring->lock);
    return task != NULL;
}

struct task *task_ring_hold(struct task_ring *ring, const char *id)
{
    pthread_mutex_lock(&ring->lock);
    struct task *task = task_ring_find(ring, id);
    if (task)
        task->holder_count++;
    pthread_mutex_unlock(&ring->lock);
    return task;
}

void task_ring_release(struct task *task)
{
    struct task_ring *ring = task->ring;
    pthread_mutex_lock(&ring->lock);
    bool is_last = --task->holder_count == 0 && task->is_gone;
    pthread_mutex_unlock(&ring->lock);
    if (is_last)
        ring->drop(task);
}

bool task_ring_running(struct task_ring *ring, char id[TASK_RING_ID_SIZE])
{
    pthread_mutex_lock(&ring->lock);
    bool is_running = ring->running != NULL;
    if (is_running)
        memcpy(id, ring->running->id, TASK_RING_ID_SIZE);
    pthread_mutex_unlock(&ring->lock);
    return is_running;
}
