/* SPDX-License-Identifier: Apache-2.0
 * unread_files.h: files below a command's PATH that could not be read, or only up to the place where they end: each
 * is named on the standard error with its reason and place, and with --json in the list "not_read". */
#pragma once

#include "analysis/analysis.h"
#include "server/gather/snapshot.h"
#include "server/store/modules.h"

struct json;        /* base/json.h */
struct unread_file; /* of unread_files.c */
struct unread_files {
    struct unread_file *items;
    size_t count, capacity;
};

/* Names one file, once for each reason; `err` is set. */
void unread_files_add(struct unread_files *files, const char *file, const struct err *err);
/* Moves those of `from` behind those of `to`; not said again. `folder`: the one that they lie below; NULL: none. */
void unread_files_move(struct unread_files *to, struct unread_files *from, const char *folder);
/* Those that no session shows, as the scanner saw them. */
void unread_files_add_problems(struct unread_files *files, const struct snapshot *snapshot);
/* Those of a session's trace in which no program could be looked for, or not to their end: of one host, or (NULL)
 * all. */
void unread_files_add_of(struct unread_files *files, const struct modules *modules, const struct snapshot_host *host);

/* What was lost of a trace that could be read in part: of one that ends in the middle, where. False: nothing. */
bool unread_files_lost(const struct modules_file *file, struct err *err);
/* Adds a module for which a view could not be made: the reason begins with its name. */
void unread_files_add_module(struct unread_files *files, const struct modules_entry *entry, const struct err *err);

/* A member of the JSON object: "not_read": [{file, code, reason, offset_bytes}]. */
void unread_files_write(const struct unread_files *files, struct json *json);
/* The end of the JSON that a command begins with {"modules":[. */
void unread_files_add_end(const struct unread_files *files, struct buf *out);
/* The same, printed; nothing as text. */
void unread_files_print_end(const struct unread_files *files, bool is_json);
void unread_files_free(struct unread_files *files);
