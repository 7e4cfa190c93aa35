/* SPDX-License-Identifier: Apache-2.0
 * peer_progress.h: how far the other side of a TCP connection has come with what it is sent. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* `taken_bytes`: what it has taken so far; `is_waiting`: there is more to take. False, and 0, of what is no TCP
 * connection. */
bool peer_progress_read(int descriptor, uint64_t *taken_bytes, bool *is_waiting);
