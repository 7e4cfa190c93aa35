/* SPDX-License-Identifier: Apache-2.0
 * traces.h: what the core made of traces' memory events, kept while it is looked at.
 *
 * A trace takes its memory from the account of the store's programs. Threads: any number. */
#ifndef SERVER_STORE_TRACES_H
#define SERVER_STORE_TRACES_H

#include "server/disk/snapshot.h"
#include "server/store/store.h"

struct traces;

struct traces *traces_new(struct store *store);
void traces_on_wait(struct traces *traces, const struct cache_waiting *waiting);
/* Nothing may be held; before the store. */
void traces_free(struct traces *traces);

/* The memory events of the file at `place`, held in `hold` (cache_release), or NULL and `err`. */
const struct analysis_trace *traces_get(struct traces *traces, const struct files_place *place, struct cache_hold *hold,
                                        struct err *err);

/* The host of a trace session whose worst pool is the worst of all; the first without any. Reads every host. */
const struct snapshot_host *traces_worst(struct traces *traces, const struct snapshot_session *session);

/* Does the file at `place` name memory events? Reads its headers alone. */
bool traces_has_events(struct store *store, const struct files_place *place);

#endif
