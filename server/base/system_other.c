/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/system.h"

#include "server/base/memory.h"

#include <mach-o/dyld.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 50 };

const char system_lacks[] = "no sandbox, no telling users of TCP connections apart, no compiling, no control groups; "
                            "compiled for macOS, where it has not been run";

char *system_own_program(void)
{
    char path[MAXPATHLEN];
    uint32_t size = sizeof(path);
    return memory_text(_NSGetExecutablePath(path, &size) == 0 ? path : "/nonexistent");
}

size_t system_processor_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (size_t)count : 1;
}

void system_name_process(const char *name) { (void)name; }

/* There is no asking for it: who starts a process here ends it, unless it is killed itself. */
void system_end_with_parent(void) {}

void system_keep_no_core(void)
{
    const struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
}

static void heard(int number) { (void)number; }

/* What is ignored unless a program asks for it is not kept for one that waits, either. */
static void listen_to(int number)
{
    struct sigaction before;
    const struct sigaction ours = {.sa_handler = heard, .sa_flags = SA_RESTART};
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(number, &ours, NULL);
}

/* Nobody tells who sent a signal: those of keys and of the terminal's size are taken for the terminal's. */
static bool is_by_process(int number)
{
    return number != SIGINT && number != SIGQUIT && number != SIGTSTP && number != SIGWINCH;
}

/* There is no waiting for a signal for a while: it is looked for every LOOK_MS. */
static bool is_pending(const sigset_t *set)
{
    sigset_t pending;
    bool is = false;
    if (sigpending(&pending) != 0)
        return false;
    for (int number = 1; number < NSIG; number++)
        is |= sigismember(set, number) == 1 && sigismember(&pending, number) == 1;
    return is;
}

bool system_signal_wait(const sigset_t *set, int wait_ms, struct system_signal *out)
{
    static const int ignored[] = {SIGCHLD, SIGWINCH, SIGCONT, SIGURG, SIGIO};
    const struct timespec look = {.tv_nsec = LOOK_MS * 1000000};
    int number;
    for (size_t at = 0; at < sizeof(ignored) / sizeof(ignored[0]); at++)
        if (sigismember(set, ignored[at]) == 1)
            listen_to(ignored[at]);
    for (int left_ms = wait_ms; wait_ms >= 0 && !is_pending(set); left_ms -= LOOK_MS) {
        if (left_ms <= 0)
            return false;
        nanosleep(&look, NULL);
    }
    if (sigwait(set, &number) != 0)
        return false;
    *out = (struct system_signal){number, is_by_process(number)};
    return true;
}
