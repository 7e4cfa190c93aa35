/* SPDX-License-Identifier: Apache-2.0
 * workers.h: other threads' help, lent by whoever calls the core, which starts no thread itself.
 *
 * What is worked on side by side shares nothing that changes: each piece has an arena of its own
 * (arena_try, arena_adopt) and reads with source.read_apart. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Does one of several pieces of work, from 0 on. It must return: no arena's jump may lead out of it. */
typedef void workers_work(void *task, size_t at);

struct workers {
    void *context; /* the owner's; passed back to run */

    /* Calls work(task, 0) to work(task, count - 1), each once, in any order and on any thread, and returns when all
     * have returned. */
    void (*run)(void *context, size_t count, workers_work *work, void *task);

    size_t count;       /* of pieces that are worked on at once, the caller's own with them; 1 or more */
    uint64_t min_bytes; /* of input: what is smaller is not worth a piece of its own; 1 or more */
};

/* How many slices to make of so many bytes of work: one a hand, if each has enough. `workers` may be NULL. */
static inline size_t workers_slices(const struct workers *workers, uint64_t bytes)
{
    uint64_t slices = workers == NULL ? 1 : bytes / workers->min_bytes;
    slices = slices > 0 ? slices : 1;
    return workers != NULL && slices > workers->count ? workers->count : (size_t)slices;
}

/* Where slice `at` of `slices` begins among `count` items. */
static inline size_t workers_slice(size_t count, size_t at, size_t slices)
{
    return (size_t)((uint64_t)count * at / slices); /* far below 2^64 for anything that is in memory */
}

/* With `workers` that are NULL the caller does it all. */
static inline void workers_run(const struct workers *workers, size_t count, workers_work *work, void *task)
{
    if (workers != NULL) {
        workers->run(workers->context, count, work, task);
        return;
    }
    for (size_t at = 0; at < count; at++)
        work(task, at);
}

/* One slice of a range of items: [first, end). */
typedef void workers_slice_work(void *task, size_t slice, size_t first, size_t end);

struct workers_range {
    workers_slice_work *work;
    void *task;
    size_t count, slices;
};

static inline void workers_range_slice(void *context, size_t at)
{
    const struct workers_range *range = context;
    range->work(range->task, at, workers_slice(range->count, at, range->slices),
                workers_slice(range->count, at + 1, range->slices));
}

/* Works on `count` items of `item_bytes` of input each in workers_slices of them. */
static inline void workers_range(const struct workers *workers, size_t count, size_t item_bytes,
                                 workers_slice_work *work, void *task)
{
    struct workers_range range = {work, task, count, workers_slices(workers, (uint64_t)count * item_bytes)};
    workers_run(workers, range.slices, workers_range_slice, &range);
}
