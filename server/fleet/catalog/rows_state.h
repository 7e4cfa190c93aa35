/* SPDX-License-Identifier: Apache-2.0
 * rows_state.h: a digest of all that the rows of a file depend on, without reading it (rows_file.state): 32 hex
 * digits. The version of memviewd is no part of it: rows are made anew by another one when that is asked for. */
#pragma once

#include "server/fleet/catalog/rows.h"

/* The state of all files of the session (NULL: none), for rows that depend on several files: the error beside a dump,
 * the programs beside a trace. `category_rules` may be NULL; `problem`: why a file is in no session, or "". */
void rows_state_of_session(const char *category_rules, const struct snapshot_session *session, const char *problem,
                           char state[ROWS_STATE_SIZE]);
/* `file` may be NULL; `fault`: what is wrong with its labels, else "". */
void rows_state_of_file(const char session_state[ROWS_STATE_SIZE], const struct snapshot_file *file,
                        const char *labels_json, const char *fault, char state[ROWS_STATE_SIZE]);
/* The state of a file by itself: the same on all machines that share the disk or the bucket. */
void rows_state_of_identity(const struct files_place *place, const struct files_identity *identity,
                            char state[ROWS_STATE_SIZE]);
