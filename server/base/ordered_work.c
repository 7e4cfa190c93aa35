/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/ordered_work.h"

#include "server/base/memory.h"

#include <pthread.h>
#include <stdlib.h>

struct piece {
    void *made; /* NULL: not yet */
    uint64_t cost_bytes;
};

struct ordered_work_running {
    const struct ordered_work *work;
    pthread_mutex_t lock;
    pthread_cond_t is_made, is_taken;
    struct piece *pieces;
    size_t begun_count, taken_count;
    uint64_t waiting_bytes; /* made and not taken */
    bool is_stopping;
};

struct worker {
    struct ordered_work_running *running;
    size_t number;
    pthread_t thread;
};

/* The next piece, or the count where there is none; under the lock. */
static size_t piece_begin(struct ordered_work_running *running)
{
    const struct ordered_work *work = running->work;
    while (!running->is_stopping && running->begun_count < work->count && running->waiting_bytes > work->ahead_bytes &&
           running->begun_count > running->taken_count)
        pthread_cond_wait(&running->is_taken, &running->lock);
    return running->is_stopping || running->begun_count == work->count ? work->count : running->begun_count++;
}

static void *work_on(void *context)
{
    struct worker *worker = context;
    struct ordered_work_running *running = worker->running;
    const struct ordered_work *work = running->work;
    pthread_mutex_lock(&running->lock);
    for (size_t at; (at = piece_begin(running)) < work->count;) {
        struct piece piece = {.made = NULL};
        pthread_mutex_unlock(&running->lock);
        piece.made = work->make(work->context, worker->number, at, &piece.cost_bytes);
        pthread_mutex_lock(&running->lock);
        running->pieces[at] = piece;
        running->waiting_bytes += piece.cost_bytes;
        if (at == running->taken_count)
            pthread_cond_signal(&running->is_made);
    }
    pthread_mutex_unlock(&running->lock);
    return NULL;
}

static bool take_all(struct ordered_work_running *running)
{
    const struct ordered_work *work = running->work;
    bool is_wanted = true;
    pthread_mutex_lock(&running->lock);
    for (size_t at = 0; at < work->count && is_wanted; at++) {
        struct piece *piece = &running->pieces[at];
        while (!piece->made)
            pthread_cond_wait(&running->is_made, &running->lock);
        pthread_mutex_unlock(&running->lock);
        is_wanted = work->take(work->context, piece->made);
        work->free_made(piece->made);
        pthread_mutex_lock(&running->lock);
        piece->made = NULL;
        running->waiting_bytes -= piece->cost_bytes;
        running->taken_count++;
        pthread_cond_broadcast(&running->is_taken);
    }
    running->is_stopping = true;
    pthread_cond_broadcast(&running->is_taken);
    pthread_mutex_unlock(&running->lock);
    return is_wanted;
}

static bool run_alone(const struct ordered_work *work)
{
    bool is_wanted = true;
    for (size_t at = 0; at < work->count && is_wanted; at++) {
        uint64_t cost_bytes = 0;
        void *made = work->make(work->context, 0, at, &cost_bytes);
        is_wanted = work->take(work->context, made);
        work->free_made(made);
    }
    return is_wanted;
}

bool ordered_work_run(const struct ordered_work *work)
{
    struct ordered_work_running running = {.work = work,
                                           .pieces = memory_new((work->count + 1) * sizeof(*running.pieces))};
    struct worker *workers = memory_new((work->thread_count + 1) * sizeof(*workers));
    size_t started = 0;
    pthread_mutex_init(&running.lock, NULL);
    pthread_cond_init(&running.is_made, NULL);
    pthread_cond_init(&running.is_taken, NULL);
    for (size_t at = 0; at < work->thread_count; at++) {
        workers[started] = (struct worker){.running = &running, .number = started};
        started += pthread_create(&workers[started].thread, NULL, work_on, &workers[started]) == 0;
    }
    bool is_wanted = started > 0 ? take_all(&running) : run_alone(work);
    for (size_t at = 0; at < started; at++)
        pthread_join(workers[at].thread, NULL);
    for (size_t at = 0; at < work->count; at++)
        if (running.pieces[at].made)
            work->free_made(running.pieces[at].made);
    pthread_cond_destroy(&running.is_taken);
    pthread_cond_destroy(&running.is_made);
    pthread_mutex_destroy(&running.lock);
    free(workers);
    free(running.pieces);
    return is_wanted;
}
