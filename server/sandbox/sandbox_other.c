/* SPDX-License-Identifier: Apache-2.0
 * sandbox_other.c: see sandbox.h. Where the kernel is not Linux there is none, which is said. */
#include "server/sandbox/sandbox.h"

#include "server/base/memory.h"

#include <stdlib.h>

struct sandbox {
    enum sandbox_kind kind;
};

struct sandbox *sandbox_new(enum sandbox_kind kind)
{
    struct sandbox *sandbox = memory_new(sizeof(*sandbox));
    sandbox->kind = kind;
    return sandbox;
}

void sandbox_reads(struct sandbox *sandbox, const char *path) { (void)sandbox, (void)path; }

void sandbox_writes(struct sandbox *sandbox, const char *path) { (void)sandbox, (void)path; }

void sandbox_connects(struct sandbox *sandbox, uint16_t port) { (void)sandbox, (void)port; }

const char *sandbox_reads_all_because(void) { return "the system is not Linux"; }

bool sandbox_enter(struct sandbox *sandbox, struct buf *said)
{
    if (said)
        buf_text(said, "no Landlock, no seccomp: the system is not Linux, and all that this user may read can be read");
    free(sandbox);
    return false;
}
