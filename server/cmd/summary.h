/* SPDX-License-Identifier: Apache-2.0
 * summary.h: how `memviewd summary` writes what it found.
 *
 * The figures come from the views "summary" and "buffers" of the memory viewer,
 * the same answers that the page shows. */
#pragma once

#include "server/cmd/hosts_told.h"
#include "server/cmd/unread_files.h"
#include "server/store/capacity.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* One module that was looked at. */
struct summary_module {
    const struct snapshot_session *session;
    const struct modules_entry *entry;
    const struct capacity *capacity;                /* NULL: not known */
    struct err err;                                 /* why there are no figures, or ERR_none */
    const struct body *summary_body, *buffers_body; /* the core's answers; NULL when there are none */
    const cJSON *summary, *buffers;                 /* their "data"; NULL when there is none */
};

/* What one allocator did, from the view "summary" of the memory profile. */
struct summary_pool {
    const struct snapshot_session *session;
    const struct snapshot_host *host;
    const struct analysis_subject *trace;
    size_t at; /* in the trace, worst first */
    struct analysis_trace_pool figures;
};

enum { SUMMARY_ALL_SPACES = -1, SUMMARY_BUFFERS = 10 };

/* A way to write; all functions but `module` may be NULL. */
struct summary_form {
    void (*begin)(void);
    void (*session)(struct store *store, const struct snapshot_session *session, size_t module_count);
    void (*module)(const struct summary_module *module, int64_t space);
    void (*session_end)(void);
    void (*end)(const struct unread_files *unread);
    void (*memory)(const struct summary_pool *pool); /* before the modules */
    void (*memory_end)(void);
};

extern const struct summary_form summary_text, summary_json, summary_csv;
