/* SPDX-License-Identifier: Apache-2.0 */
#include "server/sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#if defined(__x86_64__)
static const uint32_t ARCHITECTURE = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
static const uint32_t ARCHITECTURE = AUDIT_ARCH_AARCH64;
#else
#define SECCOMP_UNKNOWN_ARCHITECTURE
static const uint32_t ARCHITECTURE = 0;
#endif

/* set_mempolicy_home_node of Linux 5.17; later numbers are the same everywhere, and of calls that nobody here knows. */
enum { NEWEST_KNOWN = 450 };
enum { MAX_STEPS = 512 };

struct program {
    struct sock_filter steps[MAX_STEPS];
    unsigned short count;
};

static void seccomp_add(struct program *program, uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t value)
{
    if (program->count < MAX_STEPS)
        program->steps[program->count++] = (struct sock_filter){code, if_true, if_false, value};
}

static void seccomp_load(struct program *program, size_t at)
{
    seccomp_add(program, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)at);
}

static void seccomp_answer(struct program *program, uint32_t action)
{
    seccomp_add(program, BPF_RET | BPF_K, 0, 0, action);
}

static void seccomp_refuse(struct program *program, int reason)
{
    seccomp_answer(program, SECCOMP_RET_ERRNO | ((uint32_t)reason & SECCOMP_RET_DATA));
}

/* The lower half of an argument: little-endian here. */
static size_t argument(unsigned at) { return offsetof(struct seccomp_data, args) + at * sizeof(uint64_t); }

static void load_number(struct program *program) { seccomp_load(program, offsetof(struct seccomp_data, nr)); }

/* The next `steps` are about this call alone; they end with an answer. */
static void of_call(struct program *program, long number, uint8_t steps)
{
    seccomp_add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, steps, (uint32_t)number);
}

static void seccomp_take(struct program *program, long number, uint32_t action)
{
    of_call(program, number, 1);
    seccomp_answer(program, action);
}

/* ---- calls of which the arguments decide ------------------------------------------------- */

/* Allowed only without any of these bits, or, with `wanted`, only with one. */
static void take_bits(struct program *program, long number, unsigned at, uint32_t bits, bool wanted)
{
    of_call(program, number, 4);
    seccomp_load(program, argument(at));
    seccomp_add(program, BPF_JMP | BPF_JSET | BPF_K, wanted ? 1 : 0, wanted ? 0 : 1, bits);
    seccomp_refuse(program, EPERM);
    seccomp_answer(program, SECCOMP_RET_ALLOW);
}

/* Allowed only with one of these values. */
static void take_values(struct program *program, long number, unsigned at, const uint32_t *values, uint8_t count)
{
    of_call(program, number, (uint8_t)(count + 3));
    seccomp_load(program, argument(at));
    for (uint8_t i = 0; i < count; i++)
        seccomp_add(program, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(count - i), 0, values[i]);
    seccomp_refuse(program, EPERM);
    seccomp_answer(program, SECCOMP_RET_ALLOW);
}

/* socket(AF_NETLINK, …, NETLINK_SOCK_DIAG): peer_user.c. With `connects` also NETLINK_ROUTE, by which getaddrinfo
 * learns which addresses this machine has, and sockets of the internet. */
static void take_sockets(struct program *program, bool connects)
{
    const uint32_t second = connects ? NETLINK_ROUTE : NETLINK_SOCK_DIAG;
    of_call(program, SYS_socket, connects ? 9 : 7);
    seccomp_load(program, argument(0));
    if (connects) {
        seccomp_add(program, BPF_JMP | BPF_JEQ | BPF_K, 6, 0, AF_INET);
        seccomp_add(program, BPF_JMP | BPF_JEQ | BPF_K, 5, 0, AF_INET6);
    }
    seccomp_add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, AF_NETLINK);
    seccomp_load(program, argument(2));
    seccomp_add(program, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, NETLINK_SOCK_DIAG);
    seccomp_add(program, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, second);
    seccomp_refuse(program, EPERM);
    seccomp_answer(program, SECCOMP_RET_ALLOW);
}

/* socket(AF_UNIX); others are looked at by what comes after it. */
static void take_unix_sockets(struct program *program)
{
    of_call(program, SYS_socket, 4);
    seccomp_load(program, argument(0));
    seccomp_add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, AF_UNIX);
    seccomp_answer(program, SECCOMP_RET_ALLOW);
    load_number(program);
}

/* Limits are read, not set: the third argument is NULL, in both halves. */
static void take_reading_of_limits(struct program *program)
{
    of_call(program, SYS_prlimit64, 6);
    seccomp_load(program, argument(2));
    seccomp_add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0);
    seccomp_load(program, argument(2) + sizeof(uint32_t));
    seccomp_add(program, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0);
    seccomp_refuse(program, EPERM);
    seccomp_answer(program, SECCOMP_RET_ALLOW);
}

static void take_opening(struct program *program, bool writes)
{
    const uint32_t bits = writes ? 0 : O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    take_bits(program, SYS_openat, 2, bits, false);
#ifdef SYS_open
    take_bits(program, SYS_open, 1, bits, false);
#endif
}

/* ---- the two filters --------------------------------------------------------------------- */

static void seccomp_begin(struct program *program)
{
    seccomp_load(program, offsetof(struct seccomp_data, arch));
    seccomp_add(program, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCHITECTURE);
    seccomp_answer(program, SECCOMP_RET_KILL_PROCESS); /* numbers of another architecture mean something else */
    load_number(program);
}

/* The answers above these load something else, and have ended. */
static void fill_narrow(struct program *program, const struct seccomp_needs *needs)
{
    static const uint32_t asks[] = {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO}, names[] = {PR_SET_NAME, PR_GET_NAME};
    const uint32_t own[] = {(uint32_t)getpid()};
    seccomp_begin(program);
    take_bits(program, SYS_mmap, 2, PROT_EXEC, false);
    take_bits(program, SYS_mprotect, 2, PROT_EXEC, false);
    take_opening(program, needs->writes);
    take_bits(program, SYS_clone, 0, CLONE_THREAD, true);
    seccomp_take(program, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS); /* its flags lie in memory; then clone is asked */
    take_values(program, SYS_ioctl, 1, asks, sizeof(asks) / sizeof(asks[0]));
    take_values(program, SYS_prctl, 0, names, sizeof(names) / sizeof(names[0]));
    take_values(program, SYS_tgkill, 0, own, 1);
    take_reading_of_limits(program);
    if (needs->connects_unix)
        take_unix_sockets(program);
    if (needs->serves || needs->connects)
        take_sockets(program, needs->connects);
    const bool ALWAYS = true, SERVES = needs->serves, CONNECTS = needs->connects, WRITES = needs->writes,
               CONFINED = needs->is_confined;
#define ALLOWED(name, when)                                                                                            \
    if (when)                                                                                                          \
        seccomp_take(program, SYS_##name, SECCOMP_RET_ALLOW);
#include "server/sandbox/seccomp_allowed.def"
#undef ALLOWED
    seccomp_add(program, BPF_JMP | BPF_JGT | BPF_K, 0, 1, NEWEST_KNOWN);
    seccomp_refuse(program, ENOSYS);
    seccomp_refuse(program, EPERM);
}

static void fill_wide(struct program *program)
{
    seccomp_begin(program);
    seccomp_add(program, BPF_JMP | BPF_JGT | BPF_K, 0, 1, NEWEST_KNOWN); /* those of x32 too, which are others */
    seccomp_refuse(program, ENOSYS);
    take_bits(program, SYS_clone, 0,
              CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
              false);
    seccomp_take(program, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    of_call(program, SYS_ioctl, 4);
    seccomp_load(program, argument(1));
    seccomp_add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, TIOCSTI); /* types into the terminal */
    seccomp_refuse(program, EPERM);
    seccomp_answer(program, SECCOMP_RET_ALLOW);
#define REFUSED(name) seccomp_take(program, SYS_##name, SECCOMP_RET_ERRNO | EPERM);
#include "server/sandbox/seccomp_refused.def"
#undef REFUSED
    seccomp_answer(program, SECCOMP_RET_ALLOW);
}

bool seccomp_enter(enum seccomp_kind kind, const struct seccomp_needs *needs)
{
    struct program program = {.count = 0};
#ifdef SECCOMP_UNKNOWN_ARCHITECTURE
    errno = ENOSYS;
    return false;
#endif
    if (kind == SECCOMP_NARROW)
        fill_narrow(&program, needs);
    else
        fill_wide(&program);
    if (program.count == MAX_STEPS) {
        errno = E2BIG;
        return false;
    }
    const struct sock_fprog filter = {program.count, program.steps};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}
