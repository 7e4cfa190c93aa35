/* SPDX-License-Identifier: Apache-2.0
 * box.h: which files this program may still open, by its options; then it goes into its box (server/sandbox). */
#pragma once

#include "server/capture/capture_address.h"
#include "server/cmd/options.h"

/* Of the daemon, once its sockets are open and before it has a thread: reads what the options name, and what lies
 * below it. `socket_path`: the file of a Unix socket that goes with it, or "". Says what holds in a line of the log. */
void box_serve(const struct options *options, const char *socket_path);

/* Of a command that reads, prints and ends: before it opens an input. It reads what its user may, writes no file but
 * the one of
 * --out, and of a pipe a temporary one, starts nothing and has no socket. Nothing is said. Not for those that start
 * programs: run, whatif --confirm. */
void box_command(const struct options *options);
/* Of `capture`: it writes below `logdir`, which is there, and connects to the ports of these addresses, and of the
 * daemon that may show what came. Nothing is said. */
void box_capture(const struct options *options, const char *logdir, const struct capture_address *const *addresses,
                 size_t count);
/* Of `capture` of runs, which it reads and writes, with what lies beside them. Nothing is said. */
void box_capture_runs(const struct options *options, const char *const *runs, size_t count);
/* Of a process that answers one question of `mcp`: reads `roots` and what lies below them, and what the options name;
 * otherwise as a command. Nothing is said: box_question_warn, once and before, says it where no sandbox limits what is
 * read. */
void box_question(const struct options *options, const char *const *roots, size_t root_count);
void box_question_warn(const struct options *options);
