/* SPDX-License-Identifier: Apache-2.0
 * ordered_work.h: pieces of work that several threads make side by side, and the caller takes in their order.
 *
 * What is made and not taken yet waits in memory; when that is more than `ahead_bytes`, threads wait, but for the one
 * that makes the piece which is taken next. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ordered_work {
    size_t count, thread_count; /* pieces; threads beside the caller's, which are numbered from 0 */
    uint64_t ahead_bytes;
    /* Makes piece `at`, never NULL, and says about how much memory it takes. Any thread may call it. `thread` is the
     * thread's number: 0 where there are no threads and the caller does all the work. */
    void *(*make)(void *context, size_t thread, size_t at, uint64_t *cost_bytes);
    /* Called by the caller's thread, from piece 0 on. False: no more pieces are needed. */
    bool (*take)(void *context, void *made);
    void (*free_made)(void *made); /* each that was made, taken or not */
    void *context;
};

/* Returns when no thread works any more. False: `take` ended it. */
bool ordered_work_run(const struct ordered_work *work);
