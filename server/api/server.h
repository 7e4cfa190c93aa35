/* SPDX-License-Identifier: Apache-2.0
 * server.h: what the handlers of requests share. Set once, before the first request. */
#pragma once

#include "server/fleet/catalog/catalog.h"
#include "server/gather/index.h"
#include "server/http/guard.h"
#include "server/store/store.h"
#include "server/store/subjects.h"
#include "server/store/upload_set.h"

#include <stdint.h>

struct cache;
struct captures;
struct confirmations;
struct fleet_files;
struct metrics;

struct server {
    struct index *index;
    struct store *store;
    const char *const *source_roots; /* folders whose files may be shown as source */
    size_t source_root_count;
    struct guard guard;
    struct confirmations *confirmations;
    struct captures *captures;
    struct fleet_files *fleet_files; /* rows of the watched files */
    struct cache *fleets;            /* of the catalog, for some seconds: api_fleet.c */
    const char *web_folder;          /* --web-dir, or NULL for the pages that are compiled in */
    struct metrics *metrics;
    struct catalog *catalog; /* --catalog, or NULL: there is none */
    uint64_t memory_limit_bytes;
    bool is_without_uploads;
    int64_t started_at_ms; /* Unix time */
};
