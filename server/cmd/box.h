/* SPDX-License-Identifier: Apache-2.0
 * box.h: which files this program may still open, by its options; then it goes into its box (server/sandbox). */
#pragma once

#include "server/capture/capture_address.h"
#include "server/cmd/options.h"

/* The daemon's sandbox, once its sockets are open and before it has a thread. It may read the paths that the options
 * name and everything below them. `socket_path`: the file of its Unix socket, or "". Logs which limits hold. */
void box_serve(const struct options *options, const char *socket_path);

/* The sandbox of a command that reads, prints and ends; call it before an input is opened. The command may read what
 * its user may. It writes only the file of --out and a temporary file for a pipe, starts no program and has no socket.
 * Logs nothing. Not for commands that start programs: run, whatif --confirm. */
void box_command(const struct options *options);
/* The sandbox of `capture`. It writes below `logdir`, which exists. It connects to the ports of these addresses and to
 * that of the daemon that may show the result. Logs nothing. */
void box_capture(const struct options *options, const char *logdir, const struct capture_address *const *addresses,
                 size_t count);
/* The sandbox of `capture` for runs: it reads and writes the runs and what lies beside them. Logs nothing. */
void box_capture_runs(const struct options *options, const char *const *runs, size_t count);
/* The sandbox of a process that answers one question of `mcp`. It reads `roots`, what lies below them, and what the
 * options name; otherwise it is limited as a command is. Logs nothing: where no sandbox limits what is read,
 * box_question_warn says so once, before the first question. */
void box_question(const struct options *options, const char *const *roots, size_t root_count);
void box_question_warn(const struct options *options);
