/* SPDX-License-Identifier: Apache-2.0
 * each_module.h: the modules of a file or folder, for subcommands that ask a view about each. */
#pragma once

#include "server/cmd/unread_files.h"
#include "server/store/modules.h"

/* Calls back for each module under `path` that `wanted` names (by name, name(id) or id; NULL: every one), by session
 * and largest first. True from `visit`: there was something to show. Returns the exit status (commands.h); what could
 * not be read is in `unread`. */
typedef bool each_module_visit(void *context, const struct snapshot_session *session,
                               const struct modules_entry *entry);
int each_module(struct store *store, const char *path, const char *wanted, each_module_visit *visit, void *context,
                struct unread_files *unread);

bool each_module_is_wanted(const struct modules_entry *entry, const char *wanted);
/* Sorts a session's modules, whose totals were read, largest first. */
void each_module_sort(struct modules *modules);
/* What a view says of it; NULL and the reason in `err`. The caller releases it. */
struct body *each_module_ask(struct store *store, const struct modules_entry *entry,
                             const struct analysis_question *question, struct err *err);
