/* SPDX-License-Identifier: Apache-2.0
 * capacity.h: how much memory of a device a program may use, from what lies beside it. */
#pragma once

#include "server/disk/dump_beside.h"
#include "server/store/modules.h"

enum { CAPACITY_SOURCE_SIZE = 160 };

struct capacity {
    uint64_t bytes;
    bool is_named;                     /* the source names a kind of chip, not only a device of the trace */
    bool is_physical;                  /* a program gets less; how much is not known */
    char source[CAPACITY_SOURCE_SIZE]; /* "error.txt", "TPU v5e, from target_arguments.pb": as in the input */
    const char *device;                /* row of the table of devices that it is of; NULL: of none; static */
    const char *file;                  /* text that states it, as long as the session; NULL: none does */
    uint64_t begin, end;               /* where it stands there, in bytes */
    struct dump_beside_lost lost;      /* a file that would have said it; set where nothing says it, too */
};

/* Of memory space 0: what an error text of the session prints, else the chip that its dump names, else the least that a
 * device of its trace has. False: nothing says it. */
bool capacity_find(const struct snapshot_session *session, const struct modules_file *file, struct capacity *capacity);
/* The same of the chip that the dump names, or the devices of the trace, without texts. */
bool capacity_of_device(const struct snapshot_session *session, const struct modules_file *file,
                        struct capacity *capacity);
/* The chip that the dump of a group names, alone. */
bool capacity_of_chip(const struct snapshot_session *session, const struct snapshot_group *group,
                      struct capacity *capacity);
