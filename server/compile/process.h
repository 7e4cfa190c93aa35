/* SPDX-License-Identifier: Apache-2.0
 * process.h: a child process that is watched, and of which nothing is left.
 *
 * It runs in a process group of its own. What it prints (stdout and stderr) and what it reports (descriptor 3) come
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

enum { PROCESS_REPORT_DESCRIPTOR = 3 };

/* `program` is searched in PATH if it has no slash; `arguments` and `environment` end with NULL; `folder` is where it
 * works. `io` if it cannot be started. A started one is given to process_end, whatever happens. */
bool process_start(struct process *process, const char *program, char *const *arguments, char *const *environment,
                   const char *folder, struct err *err);
/* It has ended by itself; what it wrote is in the pipes still. */
bool process_has_ended(const struct process *process);
/* Ends it and its group, and closes the pipes. Its wait status, of wait(2). */
int process_end(struct process *process);
/* Waits until there is something to read or `wait_ms` are over. */
void process_wait(const struct process *process, int wait_ms);

/* Memory of it that is in RAM; 0: not known. */
uint64_t process_resident_bytes(const struct process *process);
/* Ends all processes whose environment, as they were started with it, has the text `mark`: those that left the group. */
void process_end_marked(const char *mark);
