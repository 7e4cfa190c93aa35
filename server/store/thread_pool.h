/* SPDX-License-Identifier: Apache-2.0
 * thread_pool.h: threads that the core borrows (base/workers.h) to read one large file side by side.
 *
 * At no time are more lent than there are other processors that the daemon may use, or so many times that, to all who
 * ask together; who gets none works alone. They live as long as the work. */
#pragma once

#include "base/workers.h"

struct thread_pool;

struct thread_pool *thread_pool_new(size_t threads_a_processor);
/* Call when no thread uses its workers any more. */
void thread_pool_free(struct thread_pool *thread_pool);
const struct workers *thread_pool_workers(const struct thread_pool *thread_pool);
