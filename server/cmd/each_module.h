/* SPDX-License-Identifier: Apache-2.0
 * each_module.h: the modules of a file or folder, for subcommands that ask a view about each. */
#pragma once

#include "server/cmd/unread_files.h"
#include "server/gather/index.h"
#include "server/store/modules.h"

/* What lies at a path. Scanned once: a file of a server is not asked for twice. */
struct each_module_place {
    const char *path;
    struct index *index;
    struct snapshot *snapshot;
};
void each_module_place_open(struct each_module_place *place, const char *path);
void each_module_place_close(struct each_module_place *place);

/* Calls back for each module at the place that the name `wanted` selects (modules_is_named), by session and largest
 * first. `visit` returns true if it showed something. Returns the exit status (commands.h); modules that could not be
 * read are in `unread`. */
typedef bool each_module_visit(void *context, const struct snapshot_session *session,
                               const struct modules_entry *entry);
int each_module_at(struct store *store, const struct each_module_place *place, const char *wanted,
                   each_module_visit *visit, void *context, struct unread_files *unread);
/* The same of what lies at a path. */
int each_module(struct store *store, const char *path, const char *wanted, each_module_visit *visit, void *context,
                struct unread_files *unread);

/* The answer of one view of the module; NULL and the reason in `err`. The caller releases it. */
struct body *each_module_ask(struct store *store, const struct modules_entry *entry,
                             const struct analysis_question *question, struct err *err);
