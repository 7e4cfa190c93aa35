/* SPDX-License-Identifier: Apache-2.0 */
#include "server/sandbox/landlock.h"

#include "server/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same on every architecture. */
enum { NR_CREATE_RULESET = 444, NR_ADD_RULE = 445, NR_RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, RULE_PATH_BENEATH = 1, RULE_NET_PORT = 2 };

#define BIT(number) (UINT64_C(1) << (number))
static const uint64_t EXECUTE = BIT(0), WRITE_FILE = BIT(1), READ_FILE = BIT(2), READ_DIR = BIT(3), REMOVE_DIR = BIT(4),
                      REMOVE_FILE = BIT(5), MAKE_DIR = BIT(7), MAKE_REG = BIT(8), MAKE_SYM = BIT(12), REFER = BIT(13),
                      TRUNCATE = BIT(14), IOCTL_DEV = BIT(15);
static const uint64_t ALL_OF_FIRST = BIT(13) - 1;
static const uint64_t NET_BIND_AND_CONNECT = 3, NET_CONNECT = 2, SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 3;

struct ruleset {
    uint64_t files, net, scoped;
};

struct __attribute__((packed)) rule {
    uint64_t rights;
    int32_t parent;
};

struct port_rule {
    uint64_t rights, port;
};

struct landlock {
    int ruleset;
    uint64_t handled, handled_net;
};

int landlock_version(void)
{
    long version = syscall(NR_CREATE_RULESET, NULL, (size_t)0, ASK_VERSION);
    return version > 0 ? (int)version : 0;
}

struct landlock *landlock_new(bool executes)
{
    int version = landlock_version();
    if (version == 0)
        return NULL;
    struct ruleset ruleset = {.files = ALL_OF_FIRST};
    ruleset.files |= version >= 2 ? REFER : 0;
    ruleset.files |= version >= 3 ? TRUNCATE : 0;
    ruleset.files |= version >= 5 ? IOCTL_DEV : 0;
    ruleset.files &= executes ? ~EXECUTE : ~UINT64_C(0);
    ruleset.net = version >= 4 ? NET_BIND_AND_CONNECT : 0;
    ruleset.scoped = version >= 6 ? SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS : 0;
    /* A kernel that does not know the last members wants them to be 0. */
    int descriptor = (int)syscall(NR_CREATE_RULESET, &ruleset, sizeof(ruleset), 0);
    if (descriptor < 0)
        return NULL;
    struct landlock *landlock = memory_new(sizeof(*landlock));
    *landlock = (struct landlock){descriptor, ruleset.files, ruleset.net};
    return landlock;
}

static uint64_t rights_of(enum landlock_right right)
{
    switch (right) {
    case LANDLOCK_RIGHT_READ: return READ_FILE | READ_DIR;
    case LANDLOCK_RIGHT_WRITE:
        return READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | MAKE_REG | MAKE_DIR | MAKE_SYM | REMOVE_FILE |
               REMOVE_DIR | REFER;
    case LANDLOCK_RIGHT_EXECUTE: return READ_FILE | READ_DIR | EXECUTE;
    }
    return 0;
}

bool landlock_allow(struct landlock *landlock, const char *path, enum landlock_right right, bool pin)
{
    const uint64_t of_files = READ_FILE | WRITE_FILE | TRUNCATE | EXECUTE | IOCTL_DEV;
    struct stat status;
    int parent = open(path, O_PATH | O_CLOEXEC);
    if (parent < 0)
        return false;
    uint64_t rights = rights_of(right) & landlock->handled;
    if (fstat(parent, &status) == 0 && !S_ISDIR(status.st_mode))
        rights &= of_files;
    struct rule rule = {rights, parent};
    bool is_added = syscall(NR_ADD_RULE, landlock->ruleset, RULE_PATH_BENEATH, &rule, 0) == 0;
    int reason = errno;
    if (!pin || !is_added)
        close(parent);
    errno = reason;
    return is_added;
}

bool landlock_allow_port(struct landlock *landlock, uint16_t port)
{
    const struct port_rule rule = {NET_CONNECT & landlock->handled_net, port};
    return rule.rights == 0 || syscall(NR_ADD_RULE, landlock->ruleset, RULE_NET_PORT, &rule, 0) == 0;
}

bool landlock_enter(struct landlock *landlock)
{
    bool is_in = syscall(NR_RESTRICT_SELF, landlock->ruleset, 0) == 0;
    int reason = errno;
    close(landlock->ruleset);
    free(landlock);
    errno = reason;
    return is_in;
}
