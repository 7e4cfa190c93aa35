/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/system.h"

#include "server/base/memory.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

const char system_lacks[] = "";

char *system_own_program(void) { return memory_text("/proc/self/exe"); }

size_t system_processor_count(void)
{
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof(processors), &processors) == 0 ? (size_t)CPU_COUNT(&processors) : 1;
}

void system_name_process(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

void system_end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

void system_keep_no_core(void)
{
    const struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
}

bool system_signal_wait(const sigset_t *set, int wait_ms, struct system_signal *out)
{
    const struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000};
    siginfo_t info;
    int number = wait_ms < 0 ? sigwaitinfo(set, &info) : sigtimedwait(set, &info, &wait);
    if (number > 0)
        *out = (struct system_signal){number, info.si_code <= 0};
    return number > 0;
}
