/* SPDX-License-Identifier: Apache-2.0
 * memory_pieces.h: a plane's lines read in pieces side by side, and joined as if one reader had read them.
 *
 * One line may hold nearly all events, so it is cut inside, where an event seems to start. Whether one does is known
 * when the piece before ends there; if one ends elsewhere, or the pieces together pass a limit that each of them
 * keeps, or too little memory is left to join them, all is read again in one go. So a wrong guess costs time and
 * nothing else. */
#pragma once

#include "read/trace/memory_reading.h"

/* Further lines are counted, in line_overflow_count, and left out. */
enum { MEMORY_LINES_MAX = 1 << 20 };

/* All lines of the reading's plane; `workers` may be NULL. The reading's scratch may be another one then. */
void memory_pieces_read(struct memory_reading *reading, const struct workers *workers);
