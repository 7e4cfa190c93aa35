/* SPDX-License-Identifier: Apache-2.0
 * child.h: a command that runs as if nobody was between it and whoever started us.
 *
 * It stays in our process group, has our stdin, our terminal and all that it would inherit. So keys (^C, ^Z, ^\) and
 * signals to the group reach it directly; a signal that was sent to us alone is passed on. (One that somebody sends to
 * the group by hand reaches it twice: nothing tells the two apart.) When we are killed it is killed too.
 * Called by one thread, before any other is made; those that are made while it runs have all signals blocked. */
#pragma once

#include "server/run/tee.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
    pid_t id;
    int fault; /* errno when the command could not be started */
    sigset_t mask_before;
};

struct child_end {
    int wait_status;         /* of wait(2) */
    uint64_t resident_bytes; /* the most that it, or one of its own that it waited for, had in RAM */
};

/* A variable of the command's environment besides ours; without a value it stays as it is. */
struct child_variable {
    const char *name, *value;
};

/* `arguments` end with NULL, `variables` with an empty name. False with child->fault. */
bool child_start(struct child *child, char *const *arguments, const struct child_variable *variables,
                 const struct tee *tee);
/* Passes signals on until it has ended; from then on they end us as they would have before. */
struct child_end child_wait(const struct child *child, struct tee *tee);
/* Ends this process as the child ended: by the same signal (128 and its number, where that cannot end us), without a
 * further core; or returns the status to exit with. */
int child_status_take(int wait_status);
