/* SPDX-License-Identifier: Apache-2.0
 * notify_index.h: what `memviewd index` finds is told a receiver, by way of the catalog.
 *
 * A notice is in the catalog before the rows that it is about: when this process is killed in between, the file is read
 * again, and its notice is there already. It is sent by this process meanwhile and at its end, else by the next one or
 * by a daemon. Of what the catalog knew already when it was first read to be told of, nothing is told. */
#pragma once

#include "server/fleet/notify/notice.h"
#include "server/fleet/notify/webhook.h"

struct notify_index;

/* All arguments must outlive it. NULL with `err`. */
struct notify_index *notify_index_start(const struct webhook *webhook, const char *catalog_url, struct store *store,
                                        struct err *err);
/* Notes the failure in a text whose rows are not in the catalog yet. Waits up to half a minute if the database cannot
 * be reached. False with `err`: then its rows must not be written either. */
bool notify_index_failure(struct notify_index *notify, const struct notice_failure *failure, struct err *err);
/* Sends what waits, for about half a minute where that fails, and says in the log what is left. NULL is none. */
void notify_index_end(struct notify_index *notify);
