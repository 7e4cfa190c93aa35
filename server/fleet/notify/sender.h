/* SPDX-License-Identifier: Apache-2.0
 * sender.h: brings messages to the receiver: straight from the outbox, or, where there is a catalog, by way of that, in
 * which each is kept once for all processes and sent by any of them.
 *
 * For one thread at a time. What fails is said in the log once, until it goes well again. */
#pragma once

#include "server/fleet/catalog/catalog_notices.h"
#include "server/fleet/notify/outbox.h"
#include "server/fleet/notify/webhook.h"

struct sender {
    const struct webhook *webhook;
    struct catalog_notices *notices; /* NULL: there is no catalog */
    struct outbox outbox;            /* empty at first */
    bool is_failing;
};

/* Sends what is due. False: the receiver or the catalog failed. Ends early when no one waits for it (wanted.h). */
bool sender_work(struct sender *sender);
