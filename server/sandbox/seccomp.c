/* SPDX-License-Identifier: Apache-2.0
 * seccomp.c: two filters. The first, by libseccomp, says which calls may be made, and of some with which arguments:
 * what it refuses is EPERM. The second only tells calls that nobody knew then (ENOSYS) from those that are refused: it
 * has no more steps than a comparison of numbers takes, where libseccomp would want a rule for each number. What either
 * refuses is refused, and where both do, the second one's errno is told. */
#include "server/sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

/* set_mempolicy_home_node of Linux 5.17; later numbers are the same everywhere, and belong to calls that are not known
 * here. */
enum { NEWEST_KNOWN = 450 };

struct filter {
    scmp_filter_ctx rules;
    int fault; /* errno; 0: none */
};

static void seccomp_note(struct filter *filter, int result)
{
    if (result < 0 && filter->fault == 0)
        filter->fault = -result;
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

static void seccomp_always(struct filter *filter, uint32_t action, long number)
{
    seccomp_note(filter, seccomp_rule_add(filter->rules, action, (int)number, 0));
}

/* One more case in which a call is allowed, or refused with EPERM: all that is compared holds. */
static void seccomp_when(struct filter *filter, uint32_t action, long number, const struct scmp_arg_cmp *compared,
                         unsigned count)
{
    seccomp_note(filter, seccomp_rule_add_array(filter->rules, action, (int)number, count, compared));
}
#define ALLOW_WHEN(filter, number, ...)                                                                                \
    seccomp_when(filter, SCMP_ACT_ALLOW, number, (const struct scmp_arg_cmp[]){__VA_ARGS__},                           \
                 sizeof((const struct scmp_arg_cmp[]){__VA_ARGS__}) / sizeof(struct scmp_arg_cmp))
#define REFUSE_WHEN(filter, number, compared)                                                                          \
    seccomp_when(filter, SCMP_ACT_ERRNO(EPERM), number, (const struct scmp_arg_cmp[]){compared}, 1)

/* NETLINK_SOCK_DIAG: peer_user.c. Who connects takes NETLINK_ROUTE as well, by which getaddrinfo learns which addresses
 * this machine has, and sockets of the internet. */
static void take_sockets(struct filter *filter, const struct seccomp_needs *needs)
{
    if (needs->serves || needs->connects)
        ALLOW_WHEN(filter, SYS_socket, is_value(0, AF_NETLINK), is_value(2, NETLINK_SOCK_DIAG));
    if (needs->connects) {
        ALLOW_WHEN(filter, SYS_socket, is_value(0, AF_NETLINK), is_value(2, NETLINK_ROUTE));
        ALLOW_WHEN(filter, SYS_socket, is_value(0, AF_INET));
        ALLOW_WHEN(filter, SYS_socket, is_value(0, AF_INET6));
    }
    if (needs->connects_unix)
        ALLOW_WHEN(filter, SYS_socket, is_value(0, AF_UNIX));
}

static void take_opening_to_read(struct filter *filter)
{
    const uint32_t bits = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    ALLOW_WHEN(filter, SYS_openat, has_bits(2, bits, 0));
#ifdef SYS_open
    ALLOW_WHEN(filter, SYS_open, has_bits(1, bits, 0));
#endif
}

static void narrow_arguments(struct filter *filter, const struct seccomp_needs *needs)
{
    static const uint32_t asks[] = {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO}, names[] = {PR_SET_NAME, PR_GET_NAME};
    ALLOW_WHEN(filter, SYS_mmap, has_bits(2, PROT_EXEC, 0));
    ALLOW_WHEN(filter, SYS_mprotect, has_bits(2, PROT_EXEC, 0));
    if (!needs->writes)
        take_opening_to_read(filter);
    ALLOW_WHEN(filter, SYS_clone, has_bits(0, CLONE_THREAD, CLONE_THREAD));
    for (size_t at = 0; at < sizeof(asks) / sizeof(asks[0]); at++)
        ALLOW_WHEN(filter, SYS_ioctl, is_value(1, asks[at]));
    for (size_t at = 0; at < sizeof(names) / sizeof(names[0]); at++)
        ALLOW_WHEN(filter, SYS_prctl, is_value(0, names[at]));
    ALLOW_WHEN(filter, SYS_tgkill, is_value(0, (uint32_t)getpid()));
    ALLOW_WHEN(filter, SYS_flock, is_value(1, LOCK_SH | LOCK_NB));    /* does somebody hold it? */
    ALLOW_WHEN(filter, SYS_prlimit64, SCMP_A2_64(SCMP_CMP_EQ, 0, 0)); /* limits are read, not set */
    take_sockets(filter, needs);
}

static void wide_arguments(struct filter *filter)
{
    static const uint32_t apart[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                     CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
    for (size_t at = 0; at < sizeof(apart) / sizeof(apart[0]); at++)
        REFUSE_WHEN(filter, SYS_clone, has_bits(0, apart[at], apart[at]));
    REFUSE_WHEN(filter, SYS_ioctl, is_value(1, TIOCSTI)); /* types into the terminal */
}

/* ---- the two kinds ----------------------------------------------------------------------- */

/* Numbers of another architecture, x32 among them, have other meanings. */
static void seccomp_begin(struct filter *filter, uint32_t otherwise)
{
    filter->rules = seccomp_init(otherwise);
    if (!filter->rules) {
        seccomp_note(filter, -ENOSYS);
        return;
    }
    seccomp_note(filter, seccomp_attr_set(filter->rules, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    seccomp_note(filter, seccomp_attr_set(filter->rules, SCMP_FLTATR_CTL_NNP, 0)); /* it is set */
    seccomp_note(filter, seccomp_attr_set(filter->rules, SCMP_FLTATR_CTL_TSYNC, 1));
    seccomp_note(filter, seccomp_attr_set(filter->rules, SCMP_FLTATR_CTL_OPTIMIZE, 2)); /* a tree of numbers */
    seccomp_note(filter, seccomp_attr_set(filter->rules, SCMP_FLTATR_API_SYSRAWRC, 1)); /* errno of the kernel */
}

static void fill_narrow(struct filter *filter, const struct seccomp_needs *needs)
{
    const bool ALWAYS = true, SERVES = needs->serves, CONNECTS = needs->connects, WRITES = needs->writes,
               CONFINED = needs->is_confined;
    seccomp_begin(filter, SCMP_ACT_ERRNO(EPERM));
    narrow_arguments(filter, needs);
    seccomp_always(filter, SCMP_ACT_ALLOW, SYS_seccomp); /* for the second filter, which refuses it */
#define ALLOWED(name, when)                                                                                            \
    if (when)                                                                                                          \
        seccomp_always(filter, SCMP_ACT_ALLOW, SYS_##name);
#include "server/sandbox/seccomp_allowed.def"
#undef ALLOWED
}

static void fill_wide(struct filter *filter)
{
    seccomp_begin(filter, SCMP_ACT_ALLOW);
    wide_arguments(filter);
#define REFUSED(name) seccomp_always(filter, SCMP_ACT_ERRNO(EPERM), SYS_##name);
#include "server/sandbox/seccomp_refused.def"
#undef REFUSED
}

/* clone3 is answered as a call that is not known: its flags lie in memory; then clone is asked. A narrow kind makes no
 * further filters. 0, or a fault as libseccomp returns it. */
static int load_numbers(enum seccomp_kind kind)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, NEWEST_KNOWN, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, kind == SECCOMP_NARROW ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(steps) / sizeof(steps[0]), steps};
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    return result < 0 ? -errno : result > 0 ? -ESRCH : 0; /* above 0: a thread that it cannot hold for */
}

bool seccomp_enter(enum seccomp_kind kind, const struct seccomp_needs *needs)
{
    struct filter filter = {.fault = 0};
#if (!defined(__x86_64__) && !defined(__aarch64__)) || defined(__ILP32__)
    errno = ENOSYS; /* numbers that are known may lie above NEWEST_KNOWN */
    return false;
#endif
    if (kind == SECCOMP_NARROW)
        fill_narrow(&filter, needs);
    else
        fill_wide(&filter);
    if (filter.fault == 0)
        seccomp_note(&filter, seccomp_load(filter.rules));
    if (filter.fault == 0)
        seccomp_note(&filter, load_numbers(kind));
    seccomp_release(filter.rules);
    errno = filter.fault;
    return filter.fault == 0;
}
