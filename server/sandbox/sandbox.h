/* SPDX-License-Identifier: Apache-2.0
 * sandbox.h: what a process of this program may still do once it reads what others wrote: Landlock (files, TCP,
 * signals) and seccomp (system calls), as far as the kernel has them.
 *
 * Before any thread is started; it holds for good. In a build with sanitizers there is no seccomp, and Landlock lets
 * their programs start and read libraries. docs/operate/trust.md says what holds where. */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum sandbox_kind {
    SANDBOX_DAEMON,   /* answers connections that came; starts nothing, connects nowhere but see sandbox_connects */
    SANDBOX_COMMAND,  /* reads files, prints; no socket at all but see sandbox_connects */
    SANDBOX_OPENER,   /* opens files for the daemon (server/files/opener.h) */
    SANDBOX_STARTER,  /* starts compilers: programs may be started, all may be read */
    SANDBOX_COMPILER, /* code of others: no program, no socket */
};

struct sandbox;

struct sandbox *sandbox_new(enum sandbox_kind kind);
/* The file, or the folder with all below it, as far as it is there; with links followed. */
void sandbox_reads(struct sandbox *sandbox, const char *path);
/* The folder and all below it, to be read, too; or one file. */
void sandbox_writes(struct sandbox *sandbox, const char *path);

/* May connect to this TCP port, of whatever host, and look up names; 0: to Unix sockets, wherever they lie. */
void sandbox_connects(struct sandbox *sandbox, uint16_t port);

/* Why no sandbox limits which files are read: "Function not implemented"; NULL: it does. Asked outside of one, whose
 * filter refuses the question. */
const char *sandbox_reads_all_because(void);

/* Begins, and frees `sandbox`. Appends what holds to `said` (may be NULL): "Landlock ABI 7, seccomp", "seccomp; no
 * Landlock: Function not implemented". False when nothing holds. */
bool sandbox_enter(struct sandbox *sandbox, struct buf *said);
