/* SPDX-License-Identifier: Apache-2.0
 * seccomp.c: two filters, by libseccomp. The first looks at arguments, the second at the numbers of calls: one filter
 * has one answer for all that no rule of it is about, while a call that nobody knew then is to be answered otherwise
 * (ENOSYS) than arguments that are refused (EPERM). What either refuses is refused, and where both do, the second one's
 * errno is told. */
#include "server/sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

/* set_mempolicy_home_node of Linux 5.17; later numbers are the same everywhere, and of calls that nobody here knows. */
enum { NEWEST_KNOWN = 450 };

struct filters {
    scmp_filter_ctx arguments, numbers;
    bool is_allowed[NEWEST_KNOWN + 1]; /* by its number; then its arguments may decide */
    int fault;                         /* errno; 0: none */
};

static void seccomp_note(struct filters *filters, int result)
{
    if (result < 0 && filters->fault == 0)
        filters->fault = -result;
}

/* ---- calls of which the arguments decide ------------------------------------------------- */

/* The kernel takes them as numbers of 32 bits: the upper half of the register may be anything. */
static struct scmp_arg_cmp is_value(unsigned at, uint32_t value)
{
    return SCMP_CMP64(at, SCMP_CMP_MASKED_EQ, UINT32_MAX, value);
}

static struct scmp_arg_cmp has_bits(unsigned at, uint32_t bits, uint32_t set)
{
    return SCMP_CMP64(at, SCMP_CMP_MASKED_EQ, bits, set);
}

/* One more case in which a call is allowed, or refused with EPERM: all that is compared holds. */
static void seccomp_when(struct filters *filters, uint32_t action, long number, const struct scmp_arg_cmp *compared,
                         unsigned count)
{
    filters->is_allowed[number] = true;
    seccomp_note(filters, seccomp_rule_add_array(filters->arguments, action, (int)number, count, compared));
}
#define ALLOW_WHEN(filters, number, ...)                                                                               \
    seccomp_when(filters, SCMP_ACT_ALLOW, number, (const struct scmp_arg_cmp[]){__VA_ARGS__},                          \
                 sizeof((const struct scmp_arg_cmp[]){__VA_ARGS__}) / sizeof(struct scmp_arg_cmp))
#define REFUSE_WHEN(filters, number, compared)                                                                         \
    seccomp_when(filters, SCMP_ACT_ERRNO(EPERM), number, (const struct scmp_arg_cmp[]){compared}, 1)

/* NETLINK_SOCK_DIAG: peer_user.c. Who connects takes NETLINK_ROUTE as well, by which getaddrinfo learns which addresses
 * this machine has, and sockets of the internet. */
static void take_sockets(struct filters *filters, const struct seccomp_needs *needs)
{
    if (needs->serves || needs->connects)
        ALLOW_WHEN(filters, SYS_socket, is_value(0, AF_NETLINK), is_value(2, NETLINK_SOCK_DIAG));
    if (needs->connects) {
        ALLOW_WHEN(filters, SYS_socket, is_value(0, AF_NETLINK), is_value(2, NETLINK_ROUTE));
        ALLOW_WHEN(filters, SYS_socket, is_value(0, AF_INET));
        ALLOW_WHEN(filters, SYS_socket, is_value(0, AF_INET6));
    }
    if (needs->connects_unix)
        ALLOW_WHEN(filters, SYS_socket, is_value(0, AF_UNIX));
}

static void take_opening_to_read(struct filters *filters)
{
    const uint32_t bits = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    ALLOW_WHEN(filters, SYS_openat, has_bits(2, bits, 0));
#ifdef SYS_open
    ALLOW_WHEN(filters, SYS_open, has_bits(1, bits, 0));
#endif
}

static void narrow_arguments(struct filters *filters, const struct seccomp_needs *needs)
{
    static const uint32_t asks[] = {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO}, names[] = {PR_SET_NAME, PR_GET_NAME};
    ALLOW_WHEN(filters, SYS_mmap, has_bits(2, PROT_EXEC, 0));
    ALLOW_WHEN(filters, SYS_mprotect, has_bits(2, PROT_EXEC, 0));
    if (!needs->writes)
        take_opening_to_read(filters);
    ALLOW_WHEN(filters, SYS_clone, has_bits(0, CLONE_THREAD, CLONE_THREAD));
    for (size_t at = 0; at < sizeof(asks) / sizeof(asks[0]); at++)
        ALLOW_WHEN(filters, SYS_ioctl, is_value(1, asks[at]));
    for (size_t at = 0; at < sizeof(names) / sizeof(names[0]); at++)
        ALLOW_WHEN(filters, SYS_prctl, is_value(0, names[at]));
    ALLOW_WHEN(filters, SYS_tgkill, is_value(0, (uint32_t)getpid()));
    ALLOW_WHEN(filters, SYS_prlimit64, SCMP_A2_64(SCMP_CMP_EQ, 0, 0)); /* limits are read, not set */
    take_sockets(filters, needs);
}

static void wide_arguments(struct filters *filters)
{
    static const uint32_t apart[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                     CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
    for (size_t at = 0; at < sizeof(apart) / sizeof(apart[0]); at++)
        REFUSE_WHEN(filters, SYS_clone, has_bits(0, apart[at], apart[at]));
    REFUSE_WHEN(filters, SYS_ioctl, is_value(1, TIOCSTI)); /* types into the terminal */
}

/* ---- the two kinds ----------------------------------------------------------------------- */

/* Numbers of another architecture, x32 among them, mean something else. */
static scmp_filter_ctx seccomp_begin(struct filters *filters, uint32_t otherwise)
{
    scmp_filter_ctx filter = seccomp_init(otherwise);
    if (!filter) {
        seccomp_note(filters, -ENOSYS);
        return NULL;
    }
    seccomp_note(filters, seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    seccomp_note(filters,
                 seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0)); /* it is set, and prctl limited by the first */
    seccomp_note(filters, seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1));
    seccomp_note(filters, seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2)); /* a tree of numbers */
    seccomp_note(filters, seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1)); /* errno of the kernel */
    return filter;
}

static void fill_narrow(struct filters *filters, const struct seccomp_needs *needs)
{
    filters->arguments = seccomp_begin(filters, SCMP_ACT_ERRNO(EPERM));
    narrow_arguments(filters, needs);
    for (int number = 0; number <= NEWEST_KNOWN; number++)
        if (!filters->is_allowed[number]) /* by its arguments */
            seccomp_note(filters, seccomp_rule_add(filters->arguments, SCMP_ACT_ALLOW, number, 0));
    const bool ALWAYS = true, SERVES = needs->serves, CONNECTS = needs->connects, WRITES = needs->writes,
               CONFINED = needs->is_confined;
#define ALLOWED(name, when)                                                                                            \
    if (when)                                                                                                          \
        filters->is_allowed[SYS_##name] = true;
#include "server/sandbox/seccomp_allowed.def"
#undef ALLOWED
}

static void fill_wide(struct filters *filters)
{
    filters->arguments = seccomp_begin(filters, SCMP_ACT_ALLOW);
    wide_arguments(filters);
    memset(filters->is_allowed, true, sizeof(filters->is_allowed));
#define REFUSED(name) filters->is_allowed[SYS_##name] = false;
#include "server/sandbox/seccomp_refused.def"
#undef REFUSED
}

/* clone3 is answered as a call that is not known: its flags lie in memory; then clone is asked. */
static void fill_numbers(struct filters *filters)
{
    filters->numbers = seccomp_begin(filters, SCMP_ACT_ERRNO(ENOSYS));
    for (int number = 0; number <= NEWEST_KNOWN; number++) {
        uint32_t action = filters->is_allowed[number] ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM);
        if (number != SYS_clone3)
            seccomp_note(filters, seccomp_rule_add(filters->numbers, action, number, 0));
    }
}

bool seccomp_enter(enum seccomp_kind kind, const struct seccomp_needs *needs)
{
    struct filters filters = {.fault = 0};
#if (!defined(__x86_64__) && !defined(__aarch64__)) || defined(__ILP32__)
    errno = ENOSYS; /* its numbers may lie beyond those of is_allowed */
    return false;
#endif
    if (kind == SECCOMP_NARROW)
        fill_narrow(&filters, needs);
    else
        fill_wide(&filters);
    fill_numbers(&filters);
    if (filters.fault == 0)
        seccomp_note(&filters, seccomp_load(filters.arguments));
    if (filters.fault == 0)
        seccomp_note(&filters, seccomp_load(filters.numbers));
    seccomp_release(filters.arguments);
    seccomp_release(filters.numbers);
    errno = filters.fault;
    return filters.fault == 0;
}
