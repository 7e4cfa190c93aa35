/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/work.h"

#include "server/base/descriptors.h"
#include "server/base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10 };

static void close_pipe(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static void be_worker(const int out[2], const int errors[2], int (*run)(void *context), void *context)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(errors[1], STDERR_FILENO);
    descriptors_close_from(STDERR_FILENO + 1);
    signal(SIGPIPE, SIG_DFL);
    system_end_with_parent();
    int status = run(context);
    fflush(stdout);
    _exit(status);
}

bool work_start(struct work *work, int (*run)(void *context), void *context)
{
    int out[2] = {-1, -1}, errors[2] = {-1, -1};
    *work = (struct work){.id = -1, .pipes = {-1, -1}, .written = {BUF_INIT, BUF_INIT}};
    bool has_pipes = descriptors_pipe(out) && descriptors_pipe(errors);
    work->id = has_pipes ? fork() : -1;
    if (work->id == 0)
        be_worker(out, errors, run, context);
    int reason = errno;
    close_pipe(&out[1]);
    close_pipe(&errors[1]);
    work->pipes[0] = out[0];
    work->pipes[1] = errors[0];
    work->written[0].limit_bytes = WORK_ANSWER_MAX_BYTES;
    work->written[1].limit_bytes = WORK_ERRORS_MAX_BYTES;
    if (work->id < 0) {
        close_pipe(&work->pipes[0]);
        close_pipe(&work->pipes[1]);
        errno = reason;
    }
    return work->id > 0;
}

void work_poll(const struct work *work, struct pollfd polled[WORK_PIPE_COUNT])
{
    for (int at = 0; at < WORK_PIPE_COUNT; at++)
        polled[at] = (struct pollfd){.fd = work->pipes[at], .events = POLLIN};
}

void work_take(struct work *work, const struct pollfd polled[WORK_PIPE_COUNT])
{
    char bytes[READ_BYTES];
    for (int at = 0; at < WORK_PIPE_COUNT; at++) {
        if (work->pipes[at] < 0 || !polled[at].revents)
            continue;
        ssize_t size = read(work->pipes[at], bytes, sizeof(bytes));
        if (size > 0)
            buf_add(&work->written[at], bytes, (size_t)size);
        else if (size == 0 || errno != EINTR)
            close_pipe(&work->pipes[at]);
    }
    if (work->written[0].failed && !work->is_too_long) {
        work->is_too_long = true;
        kill(work->id, SIGKILL);
    }
}

bool work_is_over(const struct work *work) { return work->pipes[0] < 0 && work->pipes[1] < 0; }

int work_end(struct work *work)
{
    int status = 0;
    if (!work_is_over(work))
        kill(work->id, SIGKILL);
    close_pipe(&work->pipes[0]);
    close_pipe(&work->pipes[1]);
    while (waitpid(work->id, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

void work_free(struct work *work)
{
    for (int at = 0; at < WORK_PIPE_COUNT; at++)
        buf_free(&work->written[at]);
}
