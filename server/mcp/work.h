/* SPDX-License-Identifier: Apache-2.0
 * work.h: a tool's work in a process of its own, whose standard output is the answer.
 *
 * So a tool is the command itself, in its sandbox. Input that ends the process (no memory, a signal) ends this process
 * alone, and what it had in memory is gone with it. Made by a process with one thread. */
#pragma once

#include "base/buf.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

enum { WORK_ANSWER_MAX_BYTES = 16 << 20, WORK_ERRORS_MAX_BYTES = 64 << 10, WORK_PIPE_COUNT = 2 };

struct work {
    pid_t id;
    int pipes[WORK_PIPE_COUNT];          /* its standard output and error; -1 at their ends */
    struct buf written[WORK_PIPE_COUNT]; /* what came out of them */
    bool is_too_long;                    /* it was ended: there was more */
};

/* `run` returns the exit status. False and errno. */
bool work_start(struct work *work, int (*run)(void *context), void *context);
/* For poll(2), and what it found. */
void work_poll(const struct work *work, struct pollfd polled[WORK_PIPE_COUNT]);
void work_take(struct work *work, const struct pollfd polled[WORK_PIPE_COUNT]);
bool work_is_over(const struct work *work);
/* Ends it if it runs. Returns the status of wait(2); the bytes stay until work_free. */
int work_end(struct work *work);
void work_free(struct work *work);
