/* SPDX-License-Identifier: Apache-2.0
 * replay_driver.h: what the driver gave to the process as it was recorded, and what it refused.
 *
 * A refusal is known from requests that failed, and from segments that went back right before another one was asked
 * for: other segments went back because the program emptied the cache. */
#pragma once

#include "model/memory_profile/held.h"

struct replay_driver {
    int64_t first_bytes; /* of segments before the first event */
    int64_t peak_bytes;
    int64_t limit_bytes; /* the process could not take more of the device; 0: it was never refused */
};

void replay_driver_find(const struct memory_profile_torch *torch, int64_t first_bytes, struct replay_driver *out);
/* The end of a run of segments that go back, from event `at` on: nothing was asked for or freed between them. `at`:
 * none goes back there. */
uint32_t replay_driver_run_end(const struct memory_profile_torch *torch, uint32_t at);
/* Did the program empty the cache in that run? `before_bytes`: what was held when it began. */
bool replay_driver_is_emptied(const struct memory_profile_torch *torch, const struct replay_driver *driver,
                              uint32_t first, uint32_t end, int64_t before_bytes);
/* How often segments went back right before another one was asked for, or a request failed: PyTorch's retries, and
 * calls of torch.cuda.empty_cache() that nothing tells from them. */
int64_t replay_driver_retry_count(const struct memory_profile_torch *torch);
