/* SPDX-License-Identifier: Apache-2.0
 * task_ring.h: what pages begin and then ask about: one task at a time, each on a thread of its own; the last few are
 * kept with what came of them. Threads: any number. */
#pragma once

#include "base/err.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TASK_RING_KEPT = 16, TASK_RING_ID_SIZE = 13 };

struct task_ring;

/* What the struct of a task begins with. */
struct task {
    char id[TASK_RING_ID_SIZE];
    struct task_ring *ring;
    atomic_bool is_cancelled;
    /* under the lock of the ring */
    bool is_done; /* what `work` wrote stays as it is, and anybody may read it */
    bool is_gone; /* another one took its place */
    unsigned holder_count;
};

/* Only task_ring.c writes it, but for `work`, `drop` and `busy`. */
struct task_ring {
    void (*work)(struct task *task); /* on its thread, until it is_cancelled */
    void (*drop)(struct task *task); /* frees the whole task */
    const char *busy;                /* "another capture is at work": why none is begun now */
    pthread_mutex_t lock;            /* of what a task tells while it runs, too */
    pthread_mutex_t opening;         /* one at a time begins one, or ends them */
    struct task *tasks[TASK_RING_KEPT];
    size_t next;
    uint64_t count;
    struct task *running;
    pthread_t thread;
    bool has_thread, is_stopping;
};

void task_ring_init(struct task_ring *ring, void (*work)(struct task *), void (*drop)(struct task *), const char *busy);
/* The daemon ends: cancels the task that runs and waits for it. No other is begun. */
void task_ring_stop(struct task_ring *ring);
/* Stops, and drops all. */
void task_ring_free(struct task_ring *ring);

/* Begins `task`, which is the ring's from then on, and fills `id`. False, and `task` is the caller's still: `conflict`
 * (another one runs) or `limit` (no thread, or the daemon ends). */
bool task_ring_begin(struct task_ring *ring, struct task *task, char id[TASK_RING_ID_SIZE], struct err *err);
/* False: there is none of that id, or not any more. */
bool task_ring_cancel(struct task_ring *ring, const char *id);
/* The task of that id, which stays until task_ring_release; NULL: as above. */
struct task *task_ring_hold(struct task_ring *ring, const char *id);
void task_ring_release(struct task *task);
/* Fills the id of the one that runs; false: none does. */
bool task_ring_running(struct task_ring *ring, char id[TASK_RING_ID_SIZE]);
