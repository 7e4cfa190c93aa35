/* SPDX-License-Identifier: Apache-2.0
 * chain.h: one event once. A kill that follows a refusal, a launcher's line about the kill, a chain of messages up
 * through the layers of a program, equal failures of several ranks: one failure, with what followed beneath it. */
#pragma once

#include "base/arena.h"
#include "read/oom/oom.h"

/* Joins `count` failures in the order of the log; returns how many are left. */
size_t oom_chain_join(struct oom_failure *failures, size_t count, struct arena *arena);

/* Those that were taken back go to `given_up`; returns how many are left. */
size_t oom_chain_part(struct oom_failure *failures, size_t count, struct oom_failure *given_up, size_t *given_up_count);

/* Adds a device to those of a failure. */
void oom_chain_device_add(struct oom_failure *failure, const struct oom_words *device, struct arena *arena);
