/* SPDX-License-Identifier: Apache-2.0
 * other_systems.h: names of Linux for what macOS calls differently or does without; on Linux it holds nothing new.
 * What takes more than a name has a file of its own there: NAME_other.c is compiled in the place of NAME.c. */
#pragma once

#ifdef __APPLE__
#include <fcntl.h>

#define st_mtim st_mtimespec
#define st_ctim st_ctimespec
#define O_PATH (O_RDONLY | O_NONBLOCK) /* there is no opening without reading; a pipe is not waited for */
#define POLLRDHUP 0                    /* POLLHUP says it */
#define MAXRSS_BYTES 1                 /* the unit of ru_maxrss */
/* Conditions wait by the clock of the day alone: setting it makes a wait longer or shorter. */
#define CLOCK_OF_WAITS CLOCK_REALTIME
#define pthread_condattr_setclock(attributes, clock) 0
#else
#define MAXRSS_BYTES 1024
#define CLOCK_OF_WAITS CLOCK_MONOTONIC
#endif
