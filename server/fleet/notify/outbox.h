/* SPDX-License-Identifier: Apache-2.0
 * outbox.h: messages that wait until the receiver took them, in the memory of this process.
 *
 * A failure of a host waits for other hosts of the same notice, OUTBOX_SETTLE_MS after each and OUTBOX_SETTLE_MAX_MS at
 * most: they are one message.
 *
 * One that was not taken is tried again after a pause that doubles, to OUTBOX_PAUSE_MAX_MS, as often as it takes. Of
 * more than OUTBOX_MAX the oldest is given up, and said in the log. For one thread. */
#pragma once

#include "server/fleet/catalog/catalog_notices.h"
#include "server/fleet/catalog/rows.h"

enum { OUTBOX_MAX = 256, OUTBOX_PAUSE_MIN_MS = 2000, OUTBOX_PAUSE_MAX_MS = 300000 };
enum { OUTBOX_SETTLE_MS = CATALOG_NOTICES_SETTLE_S * 1000, OUTBOX_SETTLE_MAX_MS = CATALOG_NOTICES_SETTLE_MAX_S * 1000 };

struct outbox_message {
    char id[ROWS_ID_SIZE];
    const char *kind;          /* static */
    char row_id[ROWS_ID_SIZE]; /* of the failure that it was made for; "": of none */
    struct buf body, hosts;    /* hosts: JSON objects, with commas; see notice_hosts.h */
    unsigned tries;            /* that failed */
    int64_t made_at_ms, due_at_ms;
};

struct outbox {
    struct outbox_message *items; /* oldest first */
    size_t count, capacity;
    uint64_t given_up_count;
};

void outbox_free(struct outbox *outbox);
/* Takes the body; it is due at once. The message, until the outbox changes. */
struct outbox_message *outbox_add(struct outbox *outbox, const char *id, const char *kind, struct buf *body);
/* It is of this failure of a host, too. */
void outbox_host(struct outbox_message *message, const char *row_id, const struct buf *host);
/* It waits for others from that moment on. */
void outbox_settle(struct outbox_message *message, int64_t now_ms);
/* The one of that id that waits, until the outbox changes; NULL: none does. */
struct outbox_message *outbox_find(struct outbox *outbox, const char *id);
/* The oldest that is due at that moment, until the outbox changes; NULL: none is. */
struct outbox_message *outbox_due(struct outbox *outbox, int64_t now_ms);
/* It was sent: it is forgotten. */
void outbox_sent(struct outbox *outbox, struct outbox_message *message);
/* It was not. */
void outbox_failed(struct outbox_message *message, int64_t now_ms);
