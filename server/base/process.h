/* SPDX-License-Identifier: Apache-2.0
 * process.h: a child process that is watched, and of which nothing is left.
 *
 * It runs in a session of its own: it has no terminal, so it can ask nobody. What it prints and what it reports come
 * through pipes that never block the reader. Threads: one process belongs to one thread. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    pid_t id;
    int output, report; /* to be read, not blocking */
};

/* The descriptor on which the process writes its report; stdout is the output. */
enum process_report {
    PROCESS_REPORTS_ERRORS = 2, /* stderr */
    PROCESS_REPORTS_APART = 3,  /* one of its own: stderr belongs to the output */
};

/* `program` is searched in PATH if it has no slash; `arguments` and `environment` end with NULL; `folder` is where it
 * works (NULL: where we do). `io` if it cannot be started. A started one is given to process_end, whatever happens. */
bool process_start(struct process *process, const char *program, char *const *arguments, char *const *environment,
                   const char *folder, enum process_report report, struct err *err);
/* It has ended by itself; what it wrote is in the pipes still. */
bool process_has_ended(const struct process *process);
/* Ends it and its group, and closes the pipes. Its wait status, of wait(2). */
int process_end(struct process *process);
/* Waits until there is something to read or `wait_ms` are over. */
void process_wait(const struct process *process, int wait_ms);

/* The process's memory that is in RAM; 0: not known. */
uint64_t process_resident_bytes(const struct process *process);
/* Ends all processes whose environment, as they were started with it, has the text `mark`: those that left the group.
 */
void process_end_marked(const char *mark);
