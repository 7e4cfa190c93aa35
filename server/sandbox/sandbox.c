/* SPDX-License-Identifier: Apache-2.0 */
#include "server/sandbox/sandbox.h"

#include "server/base/memory.h"
#include "server/sandbox/landlock.h"
#include "server/sandbox/seccomp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANDBOX_SANITIZED true
#endif
#endif
#ifndef SANDBOX_SANITIZED
#define SANDBOX_SANITIZED false
#endif

struct path {
    char *text;
    bool is_written;
};

struct sandbox {
    enum sandbox_kind kind;
    struct path *paths;
    size_t count, capacity;
    uint16_t *ports;
    size_t port_count, port_capacity;
};

struct sandbox *sandbox_new(enum sandbox_kind kind)
{
    struct sandbox *sandbox = memory_new(sizeof(*sandbox));
    sandbox->kind = kind;
    return sandbox;
}

static void sandbox_add(struct sandbox *sandbox, const char *path, bool is_written)
{
    sandbox->paths = memory_grow(sandbox->paths, &sandbox->capacity, sandbox->count + 1, sizeof(*sandbox->paths));
    sandbox->paths[sandbox->count++] = (struct path){memory_text(path), is_written};
}

void sandbox_reads(struct sandbox *sandbox, const char *path) { sandbox_add(sandbox, path, false); }

void sandbox_writes(struct sandbox *sandbox, const char *path) { sandbox_add(sandbox, path, true); }

void sandbox_connects(struct sandbox *sandbox, uint16_t port)
{
    sandbox->ports =
        memory_grow(sandbox->ports, &sandbox->port_capacity, sandbox->port_count + 1, sizeof(*sandbox->ports));
    sandbox->ports[sandbox->port_count++] = port;
}

const char *sandbox_reads_all_because(void) { return landlock_version() > 0 ? NULL : strerror(errno); }

/* What every process of ours asks the system about itself and the machine, with all its threads. Files of /proc get new
 * inodes when no one has them open: pinned, they stay those of the rule. */
static void allow_system(struct landlock *landlock)
{
    static const char *const pinned[] = {"/proc/self", "/proc/meminfo", "/proc/sys/vm/overcommit_memory"};
    static const char *const read[] = {"/sys/fs/cgroup", "/sys/devices/system/cpu", "/dev/tty", "/dev/urandom"};
    static const char *const of_sanitizers[] = {"/usr", "/lib", "/lib64", "/etc/ld.so.cache"};
    for (size_t at = 0; at < sizeof(pinned) / sizeof(pinned[0]); at++)
        landlock_allow(landlock, pinned[at], LANDLOCK_RIGHT_READ, true);
    for (size_t at = 0; at < sizeof(read) / sizeof(read[0]); at++)
        landlock_allow(landlock, read[at], LANDLOCK_RIGHT_READ, false);
    landlock_allow(landlock, "/dev/null", LANDLOCK_RIGHT_WRITE, false);
    for (size_t at = 0; SANDBOX_SANITIZED && at < sizeof(of_sanitizers) / sizeof(of_sanitizers[0]); at++)
        landlock_allow(landlock, of_sanitizers[at], LANDLOCK_RIGHT_READ, false);
}

static bool enter_landlock(const struct sandbox *sandbox)
{
    struct landlock *landlock = landlock_new(SANDBOX_SANITIZED || sandbox->kind == SANDBOX_STARTER);
    if (!landlock)
        return false;
    allow_system(landlock);
    for (size_t at = 0; at < sandbox->count; at++) {
        const struct path *path = &sandbox->paths[at];
        landlock_allow(landlock, path->text, path->is_written ? LANDLOCK_RIGHT_WRITE : LANDLOCK_RIGHT_READ, false);
    }
    for (size_t at = 0; at < sandbox->port_count; at++)
        landlock_allow_port(landlock, sandbox->ports[at]);
    return landlock_enter(landlock);
}

static bool enter_seccomp(const struct sandbox *sandbox, bool is_landlock)
{
    struct seccomp_needs needs = {
        .serves = sandbox->kind != SANDBOX_COMMAND, .connects = sandbox->port_count > 0, .is_confined = is_landlock};
    for (size_t at = 0; at < sandbox->count; at++)
        needs.writes |= sandbox->paths[at].is_written;
    for (size_t at = 0; at < sandbox->port_count; at++)
        needs.connects_unix |= sandbox->ports[at] == 0;
    return seccomp_enter(sandbox->kind == SANDBOX_COMPILER ? SECCOMP_WIDE : SECCOMP_NARROW, &needs);
}

/* `version` 0: no Landlock, because of `landlock_fault`. */
static void sandbox_say(struct buf *said, int version, int landlock_fault, bool is_seccomp, const char *seccomp_fault)
{
    if (version > 0)
        buf_format(said, "Landlock ABI %d%s", version, is_seccomp ? ", " : "");
    buf_text(said, is_seccomp ? "seccomp" : "");
    if (version == 0)
        buf_format(said, "%sno Landlock: %s", is_seccomp ? "; " : "", strerror(landlock_fault));
    if (!is_seccomp)
        buf_format(said, "; no seccomp: %s", seccomp_fault);
}

bool sandbox_enter(struct sandbox *sandbox, struct buf *said)
{
    bool has_filter = !SANDBOX_SANITIZED && sandbox->kind != SANDBOX_STARTER;
    struct buf unheard = BUF_INIT;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    bool is_landlock = enter_landlock(sandbox);
    int landlock_fault = errno, version = is_landlock ? landlock_version() : 0; /* the filter refuses the question */
    bool is_seccomp = has_filter && enter_seccomp(sandbox, is_landlock);
    sandbox_say(said ? said : &unheard, version, landlock_fault, is_seccomp,
                SANDBOX_SANITIZED ? "built with sanitizers" : strerror(errno));
    buf_free(&unheard);
    for (size_t at = 0; at < sandbox->count; at++)
        free(sandbox->paths[at].text);
    free(sandbox->paths);
    free(sandbox->ports);
    free(sandbox);
    return is_landlock || is_seccomp;
}
