/* SPDX-License-Identifier: Apache-2.0
 * watch_show.h: what the processes of a run have in use, on stderr as it goes: on a terminal one line that follows;
 * else a line a minute, when the peak has risen by a tenth of the device, and when growth is found. */
#pragma once

#include "server/run/tee.h"

#include <stdbool.h>
#include <stdint.h>

/* Of --every; 0: it is no number of seconds from 0.01 to 3600. */
int64_t watch_show_every_ms(const char *every);

struct watch_show;

/* A thread; all signals are blocked in it where they are in the caller. Both arguments outlive it. NULL: there can
 * be none. */
struct watch_show *watch_show_new(const char *run_folder, struct tee *tee, int64_t every_ms);
/* The line is gone then. */
void watch_show_free(struct watch_show *show);

/* Prints, for a run that has ended, the peak, its time and what grew. `began_ns`: start of the run, Unix time. False,
 * and prints nothing, if no process reported anything. */
bool watch_show_say_end(const char *run_folder, int64_t began_ns);
