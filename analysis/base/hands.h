/* SPDX-License-Identifier: Apache-2.0
 * hands.h: other threads' help, lent by whoever calls the core, which starts no thread itself.
 *
 * What is worked on side by side shares nothing that changes: each piece has an arena of its own
 * (arena_try, arena_adopt) and reads with source.read_apart. */
#ifndef ANALYSIS_BASE_HANDS_H
#define ANALYSIS_BASE_HANDS_H

#include <stddef.h>
#include <stdint.h>

/* One of several pieces of work, from 0 on. It must return: no arena's jump may lead out of it. */
typedef void hands_work(void *task, size_t at);

struct hands {
    void *context; /* the owner's; passed back to run */

    /* Calls work(task, 0) to work(task, count - 1), each once, in any order and on any thread, and returns when all
     * have returned. */
    void (*run)(void *context, size_t count, hands_work *work, void *task);

    size_t count;         /* of pieces that are worked on at once, the caller's own with them; 1 or more */
    uint64_t least_bytes; /* of input: what is smaller is not worth a piece of its own; 1 or more */
};

/* How many slices to make of so many bytes of work: one a hand, if each has enough. `hands` may be NULL. */
static inline size_t hands_slices(const struct hands *hands, uint64_t bytes)
{
    uint64_t slices = hands == NULL ? 1 : bytes / hands->least_bytes;
    slices = slices > 0 ? slices : 1;
    return hands != NULL && slices > hands->count ? hands->count : (size_t)slices;
}

/* Where slice `at` of `slices` begins among `count` items. */
static inline size_t hands_slice(size_t count, size_t at, size_t slices)
{
    return (size_t)((uint64_t)count * at / slices); /* far below 2^64 for anything that is in memory */
}

/* With `hands` that are NULL the caller does it all. */
static inline void hands_run(const struct hands *hands, size_t count, hands_work *work, void *task)
{
    if (hands != NULL) {
        hands->run(hands->context, count, work, task);
        return;
    }
    for (size_t at = 0; at < count; at++)
        work(task, at);
}

/* One slice of a range of items: [first, end). */
typedef void hands_slice_work(void *task, size_t slice, size_t first, size_t end);

struct hands_range {
    hands_slice_work *work;
    void *task;
    size_t count, slices;
};

static inline void hands_range_slice(void *context, size_t at)
{
    const struct hands_range *range = context;
    range->work(range->task, at, hands_slice(range->count, at, range->slices),
                hands_slice(range->count, at + 1, range->slices));
}

/* Works on `count` items of `item_bytes` of input each in hands_slices of them. */
static inline void hands_range(const struct hands *hands, size_t count, size_t item_bytes, hands_slice_work *work,
                               void *task)
{
    struct hands_range range = {work, task, count, hands_slices(hands, (uint64_t)count * item_bytes)};
    hands_run(hands, range.slices, hands_range_slice, &range);
}

#endif
