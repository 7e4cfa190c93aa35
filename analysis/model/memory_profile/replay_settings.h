/* SPDX-License-Identifier: Apache-2.0
 * replay_settings.h: a change of the allocator's settings, as a person writes it.
 *
 *   expandable_segments      or …=False
 *   max_split_size=64MiB
 *   gc_threshold=0.6         acts where a memory fraction is set, too
 *   roundup=4                or [256:1,512:2,>:8], by the size in MiB
 *   memory_fraction=0.9      of the device's capacity */
#pragma once

#include "base/err.h"
#include "memory/allocator/caching_settings.h"

struct arena;

struct replay_settings_change {
    struct caching_settings settings; /* as they are so far */
    const char *call, *words;         /* what sets it, to be written where the program starts; what it does */
};

/* Changes change->settings. False with an `argument` report that says how it is written. */
bool replay_settings_apply(struct replay_settings_change *change, const char *text, int64_t capacity_bytes,
                           struct arena *arena, struct err *err);
