/* SPDX-License-Identifier: Apache-2.0
 * tee.h: what a child prints, passed on byte for byte and kept in a log as well.
 *
 * Where our stream is a terminal the child gets one (a pty that changes no byte and has the same size), so that colours
 * and progress bars stay; else a pipe. It is not the child's controlling terminal: that, its stdin and the keys stay
 * ours. stdout and stderr that are the same file here are one stream for the child, too, so that their order is kept.
 * When ours can no longer be written, the child's is closed, so that it learns of it as it would without us. Each
 * stream is copied by a thread of its own. */
#pragma once

#include "base/err.h"
#include "server/run/run_log.h"

#include <stdbool.h>

struct tee;

/* Before anything is opened: the numbers 0 to 2 that are closed are not given to others; for the child they stay
 * closed. */
void tee_reserve(void);
/* The streams are made; nothing runs yet. NULL with `io`. */
struct tee *tee_new(struct run_log *log, struct err *err);
/* In the child, before it becomes the command: 1 and 2 are its ends. Only calls that are safe there. */
void tee_enter(const struct tee *tee);
/* In the parent, once the child is there: copying begins. */
bool tee_start(struct tee *tee);
/* Our terminal has another size. */
void tee_resize(struct tee *tee);
/* Where stderr is a terminal: a line of ours, of letters of ASCII, below what the child has printed there; NULL takes
 * it away. It is drawn while the cursor is at the beginning of a line, cut to the terminal's width, and gone before
 * the child's next byte is shown. Any thread. */
void tee_show(struct tee *tee, const char *line);
/* Once the child has ended: what it wrote is passed on; what others still hold open is not waited for. */
void tee_free(struct tee *tee);
