/* SPDX-License-Identifier: Apache-2.0
 * aws_process.h: the command of a profile's credential_process, by which AWS's programs carry single sign-on, roles and
 * codes. No shell runs it, it has no terminal, and it ends when its time or room is over.
 *
 * A process in its box (server/sandbox) starts no programs: for it a small one, forked before the box, runs the one
 * command that the profile had then. It takes no word from the box. Source:
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { AWS_PROCESS_LIMIT_MS = 60000, AWS_PROCESS_OUTPUT_MAX_BYTES = 64 * 1024 };

/* Before any thread is started and before the box: once in a process that will ask. */
void aws_process_prepare(void);

/* What `command` prints (stdout), appended to `output`; by the process of aws_process_prepare where there is one, and
 * then its command. False with `err`: it cannot be started, fails (with the last line of its stderr), prints too much
 * or takes longer than AWS_PROCESS_LIMIT_MS. One call at a time. */
bool aws_process_ask(const char *command, struct buf *output, struct err *err);

/* The same here and now, within `limit_ms`. */
bool aws_process_run(const char *command, int64_t limit_ms, struct buf *output, struct err *err);

/* The command and its arguments, ending with NULL, as a shell separates and quotes them ('…', "…", \) and without all
 * else that one does. NULL: there is none, or a quote without its end. One free() for all. */
char **aws_process_split(const char *command);
