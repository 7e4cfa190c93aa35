/* SPDX-License-Identifier: Apache-2.0
 * ticker.h: a thread that does something about once a second until it is stopped. What it waits for then ends, too
 * (wanted.h). */
#pragma once

struct ticker;

/* NULL and errno when no thread can be made. */
struct ticker *ticker_start(void (*work)(void *context), void *context);
/* `work` is under way no more. NULL is none. */
void ticker_stop(struct ticker *ticker);
