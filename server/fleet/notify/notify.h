/* SPDX-License-Identifier: Apache-2.0
 * notify.h: tells a receiver (webhook.h) of sessions that run out of memory while a daemon runs, and, where it has no
 * catalog, of regressions in its own folders.
 *
 * What the first complete scan has found, and what was written before the daemon was started, is not told. Each text
 * that tells of a lack of memory is reported once by a process, about its first failure, though it grows later; with a
 * catalog once by all processes that have that. A receiver that does not answer delays nothing: one thread does all of
 * this, and what waits for it lies in an outbox. */
#pragma once

#include "server/fleet/notify/webhook.h"
#include "server/gather/index.h"
#include "server/store/store.h"

struct notify;
struct fleet_files;

struct notify_settings {
    const struct webhook *webhook;
    struct index *index;
    struct store *store;
    struct fleet_files *fleet_files; /* in which regressions are looked for where there is no catalog */
    const char *labels;              /* of MEMVIEWD_LABELS, or NULL */
    const char *const *label_paths;  /* of --label-path */
    size_t label_path_count;
    const char *catalog_url; /* NULL: there is none; else what is found goes by way of the catalog */
};

/* All of `settings` must outlive it. NULL with `err`. */
struct notify *notify_start(const struct notify_settings *settings, struct err *err);
/* What is under way is cut off, and what waits is lost. NULL is none. */
void notify_stop(struct notify *notify);
