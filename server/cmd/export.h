/* SPDX-License-Identifier: Apache-2.0
 * export.h: what memviewd export writes of modules.
 *
 * All figures are those of the views of the memory viewer. A form gets each module; what it writes is collected and
 * printed at the end, so that nothing half-done is left behind. */
#pragma once

#include "base/buf.h"
#include "server/cmd/unread_files.h"
#include "server/store/modules.h"

#include <stdbool.h>

enum { EXPORT_TIME_SIZE = 32 };

struct export_module {
    struct store *store;
    const struct snapshot_session *session;
    const struct modules_entry *entry;
    char modified_at[EXPORT_TIME_SIZE]; /* of its file: "2026-11-23T10:02:00Z"; empty: not known */
    struct unread_files *unread;        /* gets the modules that could not be exported */
    bool is_first;
};

struct export_form {
    const char *name;
    void (*begin)(struct buf *out);
    /* False, and told, when a view cannot be answered: then nothing of the module is written. */
    bool (*module)(const struct export_module *module, struct buf *out);
    void (*end)(struct buf *out, const struct unread_files *unread);
};
extern const struct export_form export_html, export_csv, export_json, export_ndjson;

/* The answer of a view of the memory viewer about the module, appended; false, and told, when there is none. */
bool export_ask(const struct export_module *module, const char *view, const struct analysis_param *params,
                size_t param_count, struct buf *out);
