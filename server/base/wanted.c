/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/wanted.h"

#include <limits.h>

/* So far below 0 that no release or hold that comes late leads back. */
enum { OVER = INT_MIN / 2 };

static _Thread_local struct wanted *now;

void wanted_begin(struct wanted *wanted) { atomic_init(&wanted->holders, 1); }

bool wanted_hold(struct wanted *wanted)
{
    int holders = wanted ? atomic_load(&wanted->holders) : 0;
    while (wanted && holders > 0)
        if (atomic_compare_exchange_weak(&wanted->holders, &holders, holders + 1))
            return true;
    return wanted == NULL;
}

void wanted_release(struct wanted *wanted)
{
    int holders = wanted ? atomic_load(&wanted->holders) : 0;
    while (holders > 0)
        if (atomic_compare_exchange_weak(&wanted->holders, &holders, holders > 1 ? holders - 1 : OVER))
            return;
}

void wanted_end(struct wanted *wanted) { atomic_store(&wanted->holders, OVER); }

void wanted_work_for(struct wanted *wanted) { now = wanted; }

struct wanted *wanted_now(void) { return now; }

const atomic_int *wanted_holders(void) { return now ? &now->holders : NULL; }

bool wanted_is_over(void) { return now && atomic_load_explicit(&now->holders, memory_order_relaxed) <= 0; }

bool wanted_stopped(struct err *err)
{
    *err = (struct err)ERR_INIT;
    return err_set(err, ERR_stopped, ERR_NO_OFFSET, "was stopped: nobody waits for it any more");
}
