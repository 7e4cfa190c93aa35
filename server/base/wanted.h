/* SPDX-License-Identifier: Apache-2.0
 * wanted.h: does anybody still wait for what a thread works on?
 *
 * Whoever waits holds the work; when the last one releases it, it is over for good, and all that is done for it ends
 * within some milliseconds with `stopped`: reading files (files.h), the core (arena_watch), the cache. What a thread
 * works for is set for the thread, for between those who wait and those who work lie all of the store and the handlers.
 * Threads: any number. */
#pragma once

#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct wanted {
    atomic_int holders; /* never again above 0 once it was not */
};

/* One holder. */
void wanted_begin(struct wanted *wanted);
/* False when the work is over already: nothing is held then. NULL is never over. */
bool wanted_hold(struct wanted *wanted);
void wanted_release(struct wanted *wanted);
/* Ends the work, even while others hold it. */
void wanted_end(struct wanted *wanted);

/* Says what the calling thread works for from now on; NULL, as at first: for no one in particular. */
void wanted_work_for(struct wanted *wanted);
struct wanted *wanted_now(void);
/* The same for the core: goes on while above 0; NULL: always. */
const atomic_int *wanted_holders(void);
bool wanted_is_over(void);
/* Reports `stopped` over whatever `err` says; returns false. */
bool wanted_stopped(struct err *err);
