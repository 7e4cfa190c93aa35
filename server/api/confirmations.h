/* SPDX-License-Identifier: Apache-2.0
 * confirmations.h: what the compiler was asked about changes, in the daemon: one at a time, each on a thread of its
 * own.
 *
 * The last few are kept with what came of them. The changed program becomes a session like uploaded files as soon
 * as it is there, whether anybody asks for the result or not. Threads: any number. */
#pragma once

#include "server/api/api.h"
#include "server/api/task_ring.h"
#include "server/compile/confirm.h"

struct confirmations;

/* `topology`: as in compile.h. Both must outlive it. */
struct confirmations *confirmations_new(struct store *store, struct compile_apart *apart, const char *topology);
/* The daemon ends: ends the one that runs, with its process, and removes all folders. No other is begun. */
void confirmations_stop(struct confirmations *confirmations);
void confirmations_free(struct confirmations *confirmations);

/* What is asked. The runner takes `subject` over, which holds the session that `module` is in, when it is begun. */
struct confirmations_asked {
    struct api_subject *subject;
    const struct snapshot_file *module;
    const char *key;       /* NULL: the dump's; if there is none, */
    const char *topology;  /* NULL: the dump's, else */
    const char *otherwise; /* this one; NULL: the daemon's */
    const char *const *changes;
    size_t change_count;
};

/* `id` is filled. False: another one is running (`conflict`), or a thread cannot be had (`limit`). */
bool confirmations_begin(struct confirmations *confirmations, const struct confirmations_asked *asked,
                         char id[TASK_RING_ID_SIZE], struct err *err);
/* False: there is none of that id, or not any more. */
bool confirmations_cancel(struct confirmations *confirmations, const char *id);
/* Writes an object, schema Confirmation in docs/openapi.yaml. False as of confirmations_cancel. */
bool confirmations_write(struct confirmations *confirmations, const char *id, struct json *json);
/* Whether the compiler can be asked, an object as well: schema Confirmations. Looks for libtpu, which may take seconds
 * the first time. */
void confirmations_write_offer(struct confirmations *confirmations, struct json *json);
/* Is a libtpu there? Else `notfound` and where was looked. */
bool confirmations_is_offered(struct confirmations *confirmations, struct err *err);
