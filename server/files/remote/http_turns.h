/* SPDX-License-Identifier: Apache-2.0
 * http_turns.h: whose turn it is to ask a server: how many requests are under way, who waits for a server that wants
 * to be left alone, how long a request waits before it is tried again.
 * Threads: any number. Waits end when nobody waits for the thread's work any more, and when all is stopped. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Waits until one more request may begin that is for the server of this number (any hash of its name). False when it is
 * not to begin any more. Each true one is ended by http_turns_end. */
bool http_turns_begin(uint64_t server, unsigned in_flight_max);
void http_turns_end(void);

/* No request to this server begins for that long, at most a minute. */
void http_turns_pause(uint64_t server, int64_t wait_ms);

/* How long to wait after try number `tried` (1: the first) failed. The limit doubles from 200 ms to 10 s; `chance` (any
 * number) picks a wait between half of it and all of it. */
int64_t http_turns_delay_ms(unsigned tried, uint64_t chance);
/* False as above. */
bool http_turns_wait(int64_t wait_ms);

void http_turns_stop(void);
bool http_turns_are_over(void);
