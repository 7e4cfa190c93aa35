/* SPDX-License-Identifier: Apache-2.0
 * capacity.h: how much memory of a device a program may use: what the user chose and what lies beside the program say
 * it. This file gathers what each says; which of them counts, the core decides (analysis_capacity_counts_before). */
#pragma once

#include "server/gather/dump_beside.h"

enum { CAPACITY_SOURCE_SIZE = 160 };

struct capacity {
    enum capacity_from from;
    int64_t space; /* memory space of a program: 0 device memory, 1 VMEM */
    uint64_t bytes;
    uint64_t half_bytes;  /* as a text prints it, to ± this; 0: exact */
    uint64_t asked_bytes; /* that the same text asked for; 0: it does not say so */
    bool is_of_gpu;
    bool is_named;                     /* the source names a kind of chip, not only a device of the trace */
    bool is_physical;                  /* a program gets less; how much is not known */
    char source[CAPACITY_SOURCE_SIZE]; /* "error.txt", "TPU v5e, from target_arguments.pb": as in the input */
    char chip[CAPACITY_SOURCE_SIZE];   /* what says the device: the same, but where its allocator's limit counts */
    const char *device;                /* row of the table of devices that it is of; NULL: of none; static */
    const char *file;                  /* text that states it, as long as the session; NULL: none does */
    uint64_t begin, end;               /* its place there, in bytes */
    struct dump_beside_lost lost;      /* a file that would have said it; set where nothing says it, too */
};

/* What a person chose: a device of the table or a size (analysis_capacity_read). False: `text` is neither. */
bool capacity_choose(const char *text, struct capacity *capacity);
/* `found` is `one` where that counts before it; of the same memory space. Either may have 0 bytes: it says nothing. */
void capacity_take(struct capacity *found, const struct capacity *one);
/* The capacity of memory space 0, from `chosen` (may be NULL), the session's error texts, the chip that its dump names,
 * or the devices of its trace. False: none of them gives it. For a dump's module pass `group`, for a trace `contents`;
 * the other may be NULL. */
bool capacity_find(const struct capacity *chosen, const struct snapshot_session *session,
                   const struct snapshot_group *group, const struct analysis_contents *contents,
                   struct capacity *capacity);
/* What there is of each memory space; of others than 0 texts alone say it. */
enum { CAPACITY_SPACES = 4 };
struct capacity_spaces {
    struct capacity items[CAPACITY_SPACES];
    size_t count;                 /* each space once */
    struct dump_beside_lost lost; /* the first file that would have said one, and could not be read */
};
/* Out of the texts of a session. */
void capacity_spaces_of_texts(const struct snapshot_session *session, struct capacity_spaces *texts);
/* Those of a module: `chosen` (may be NULL) of its device memory, the texts', its device. */
void capacity_spaces_find(const struct capacity_spaces *texts, const struct capacity *chosen,
                          const struct snapshot_session *session, const struct snapshot_group *group,
                          const struct analysis_contents *contents, struct capacity_spaces *spaces);
/* As the core takes it; valid as long as `capacity`, and as `spaces`. */
struct capacity_stated capacity_core(const struct capacity *capacity);
void capacity_spaces_core(const struct capacity_spaces *spaces, struct capacity_stated core[CAPACITY_SPACES]);
/* `key`, which is freed, and what tells an answer with these capacities from others; free(). */
char *capacity_spaces_key(char *key, const struct capacity_stated *core, size_t count);
/* That of a space; NULL: not known. */
const struct capacity_stated *capacity_spaces_at(const struct capacity_stated *core, size_t count, int64_t space);

/* That of memory space 0 among them; false: not known, bytes 0. */
bool capacity_of_spaces(const struct capacity_spaces *spaces, struct capacity *capacity);
/* What its device alone says. */
bool capacity_of_device(const struct snapshot_session *session, const struct snapshot_group *group,
                        const struct analysis_contents *contents, struct capacity *capacity);
