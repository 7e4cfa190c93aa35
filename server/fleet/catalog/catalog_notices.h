/* SPDX-License-Identifier: Apache-2.0
 * catalog_notices.h: messages that wait for a receiver in the catalog (memviewd.notices), for all processes that write
 * to it.
 *
 * Whoever claims one sends it, and has CATALOG_NOTICES_LEASE_S for that: then it is anybody's again, for the process
 * may have been killed. So each is sent at least once, and twice only when a process ends between the receiver's answer
 * and catalog_notices_sent.
 * The database is reached when something is asked for, and again after it was lost. For one thread at a time. Errors:
 * as in catalog.h. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* A notice of hosts waits for the others of them: so long after the last one, and at most so long after the first. */
enum { CATALOG_NOTICES_SETTLE_S = 5, CATALOG_NOTICES_SETTLE_MAX_S = 60 };
enum { CATALOG_NOTICES_LEASE_S = 120, CATALOG_NOTICES_PAUSE_MAX_S = 300 };

struct catalog_notices;

/* `url`: see catalog_open. Connects to nothing yet. NULL with `err`. */
struct catalog_notices *catalog_notices_open(const char *url, struct err *err);
void catalog_notices_close(struct catalog_notices *notices); /* NULL is none */

struct catalog_notices_message {
    const char *id, *kind;
    const struct buf *body;
    const char *row_id;     /* of the failure on one host, or NULL */
    const struct buf *host; /* the same: what is known of that host, a JSON object */
    bool is_for_new;        /* skip it if the catalog has that row: it was there before notices were sent */
};
/* One that is there already stays as it is, and the host is added to it. */
bool catalog_notices_add(struct catalog_notices *notices, const struct catalog_notices_message *message,
                         struct err *err);

struct catalog_notice {
    struct buf id, body,
        hosts; /* id: NUL-terminated; empty: none is to be sent now. hosts: a JSON array. buf_free all */
};
bool catalog_notices_claim(struct catalog_notices *notices, struct catalog_notice *notice, struct err *err);
bool catalog_notices_sent(struct catalog_notices *notices, const char *id, struct err *err);
/* It waits 2 s, 4 s, … CATALOG_NOTICES_PAUSE_MAX_S. */
bool catalog_notices_failed(struct catalog_notices *notices, const char *id, const char *fault, struct err *err);
/* The receiver never takes it: it is not sent again, and does not wait. */
bool catalog_notices_refused(struct catalog_notices *notices, const char *id, const char *fault, struct err *err);
/* How many wait. */
bool catalog_notices_waiting(struct catalog_notices *notices, uint64_t *count, struct err *err);
