/* SPDX-License-Identifier: Apache-2.0
 * seccomp.h: which system calls this process may make from now on, with all threads and processes that it starts. It
 * can become fewer later, never more.
 *
 * Which files may be opened is Landlock's (landlock.h): a filter sees numbers, not what a pointer leads to. Source:
 * seccomp_rule_add(3). x86_64 and aarch64; who calls by the numbers of another architecture (i386, x32) is killed. */
#pragma once

#include <stdbool.h>

enum seccomp_kind {
    SECCOMP_NARROW, /* only what seccomp_allowed.def has: for this program's own code */
    SECCOMP_WIDE,   /* all but what seccomp_refused.def has: for a library of others */
};

/* What a narrow filter must allow. */
struct seccomp_needs {
    bool serves;        /* connections that came are answered, and whose they are is asked for (NETLINK_SOCK_DIAG) */
    bool writes;        /* files are written */
    bool connects;      /* to servers, whose names are looked up */
    bool connects_unix; /* and to Unix sockets of this machine */
    bool
        is_confined; /* Landlock holds: it says which files may be opened, and for what, where a filter cannot see it */
};

/* Applies to all existing threads, too. `needs` may be NULL for a wide filter. PR_SET_NO_NEW_PRIVS has to be set. False
 * and errno where not all of it applies: EINVAL (not built in), ENOSYS (not for this architecture). */
bool seccomp_enter(enum seccomp_kind kind, const struct seccomp_needs *needs);
