/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/child.h"

#include "server/base/descriptors.h"
#include "server/base/other_systems.h"
#include "server/base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Those that stop us when a terminal is used from behind, and those by which a fault of our own ends us. */
static const int NOT_OURS[] = {SIGTTIN, SIGTTOU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};

static void waited_for(sigset_t *set)
{
    sigfillset(set);
    for (size_t at = 0; at < sizeof(NOT_OURS) / sizeof(NOT_OURS[0]); at++)
        sigdelset(set, NOT_OURS[at]);
}

/* In the child: becomes the command, or tells why not. */
static _Noreturn void command_become(char *const *arguments, const struct child_variable *variables,
                                     const struct tee *tee, pid_t parent, int report)
{
    for (; variables->name; variables++) {
        if (variables->value)
            setenv(variables->name, variables->value, 1);
    }
    tee_enter(tee);
    system_end_with_parent();
    if (getppid() != parent)
        raise(SIGKILL);
    execvp(arguments[0], arguments);
    int fault = errno;
    if (write(report, &fault, sizeof(fault)) != sizeof(fault))
        fault = 0;
    _exit(127);
}

bool child_start(struct child *child, char *const *arguments, const struct child_variable *variables,
                 const struct tee *tee)
{
    int report[2];
    sigset_t set;
    struct sigaction ended = {.sa_handler = SIG_DFL}, ended_before;
    pid_t parent = getpid();
    *child = (struct child){0};
    if (!descriptors_pipe(report)) {
        child->fault = errno;
        return false;
    }
    waited_for(&set);
    pthread_sigmask(SIG_BLOCK, &set, &child->mask_before);
    sigaction(SIGCHLD, &ended, &ended_before); /* if it is ignored, the end of the child would not be reported */
    child->id = fork();
    if (child->id == 0) {
        sigaction(SIGCHLD, &ended_before, NULL);
        pthread_sigmask(SIG_SETMASK, &child->mask_before, NULL);
        command_become(arguments, variables, tee, parent, report[1]);
    }
    child->fault = child->id < 0 ? errno : 0;
    close(report[1]);
    ssize_t length = 0;
    while (child->id > 0 && (length = read(report[0], &child->fault, sizeof(child->fault))) < 0 && errno == EINTR)
        ;
    close(report[0]);
    if (length > 0)
        waitpid(child->id, NULL, 0);
    return child->fault == 0;
}

/* Stops this process as a key would; it returns when the group is continued. If no one could continue it, the kernel
 * does not stop it. */
static void child_stop(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    kill(getpid(), SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* What the kernel sends (keys, another size) has gone to the whole group; of a terminal that is gone it tells the
 * leader of the session alone. */
static void signal_pass(const struct child *child, const struct system_signal *info, struct tee *tee)
{
    bool is_for_us_alone = info->is_by_process || (info->number == SIGHUP && getsid(0) == getpid());
    if (info->number == SIGWINCH)
        tee_resize(tee);
    /* It may have asked for its size before that had come through. */
    if (is_for_us_alone || info->number == SIGWINCH)
        kill(child->id, info->number);
    if (info->number == SIGTSTP)
        child_stop();
}

struct child_end child_wait(const struct child *child, struct tee *tee)
{
    struct child_end end = {0};
    struct rusage usage;
    sigset_t set;
    waited_for(&set);
    for (;;) {
        struct system_signal info;
        pid_t ended = waitpid(child->id, &end.wait_status, WNOHANG);
        if (ended == child->id || (ended < 0 && errno != EINTR))
            break;
        if (!system_signal_wait(&set, -1, &info) || info.number == SIGCHLD || info.number == SIGPIPE)
            continue;
        signal_pass(child, &info, tee);
    }
    struct system_signal last;
    while (system_signal_wait(&set, 0, &last)) /* meant for the child, which is gone */
        ;
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_SETMASK, &child->mask_before, NULL);
    getrusage(RUSAGE_CHILDREN, &usage);
    end.resident_bytes = (uint64_t)usage.ru_maxrss * MAXRSS_BYTES;
    return end;
}

int child_status_take(int wait_status)
{
    if (!WIFSIGNALED(wait_status))
        return WEXITSTATUS(wait_status);
    sigset_t set;
    int number = WTERMSIG(wait_status);
    system_keep_no_core();
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    kill(getpid(), number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return 128 + number; /* as a shell says it; the first process of a container is ended by no signal */
}
