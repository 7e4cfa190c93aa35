/* SPDX-License-Identifier: Apache-2.0
 * ask.h: asks the Python processes of a run that goes on for what they hold now: python/memviewd/_capture.py answers.
 *
 * Each process that answers has a named pipe RUN/.capture/NAME-HEX, which nobody but it reads. Any byte in it asks;
 * the kernel says when its reader has ended. The answer is appended to the file NAME-HEX.said, a line each, "WORD
 * TEXT": asked, file (below RUN), failed and nothing (why), done. What is there was written by a program that we do
 * not trust: it is shown, and a file counts when it is there. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ASK_PROCESSES_MAX = 256 };

enum ask_state {
    ASK_WAITING, /* it has not begun to answer */
    ASK_BEGUN,
    ASK_DONE,
    ASK_ENDED, /* it ended before its answer did */
    ASK_SILENT /* it did not begin to answer within the limit */
};

struct ask_file {
    char *path; /* with the run's folder */
    uint64_t bytes;
};

struct ask_process {
    char *name; /* "rank3.4711", "pid4711" */
    enum ask_state state;
    struct ask_file *files;
    size_t file_count, file_capacity;
    char *reason;    /* why there is no file, or not every one, as it says itself; NULL: it says none */
    bool has_failed; /* `reason` is of something that could not be written, not of nothing to write */
};

struct ask_result {
    struct err err; /* why no process was asked: `io`; otherwise not set */
    struct ask_process *items;
    size_t count, file_count;
    size_t left_out_count; /* which were not asked: beyond ASK_PROCESSES_MAX, or they cannot be opened */
    struct err left_out;   /* why the first of the left-out processes was not asked */
    bool is_stopped;       /* by `tick` */
};

struct ask_progress {
    size_t count, ended_count; /* processes, and those of them that need not be waited for */
    const char *waited_for;    /* name of one that is; NULL: none */
};

/* Waits until each process has answered or ended, or has not begun to answer for `wait_ms`. `folder`: of a run,
 * absolute. Fills `result`, which ask_free then frees; its `count` is 0 when no process can be asked. `tick` is called
 * some times a second; false ends the waiting. SIGPIPE is ignored already. */
void ask_run(const char *folder, int64_t wait_ms, struct ask_result *result,
             bool (*tick)(void *context, const struct ask_progress *progress), void *context);
void ask_free(struct ask_result *result);

/* Why a process that is silent says nothing, as far as the system tells: a clause; static. */
const char *ask_silence(const struct ask_process *process);

/* For a run that has ended, when no process can be asked any more: is there a file that was asked for? */
bool ask_end(const char *folder);
