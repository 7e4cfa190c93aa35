/* SPDX-License-Identifier: Apache-2.0
 * replay_streams.h: of which stream and private pool each request is: events do not say the latter, and allocations are
 * kept without the former, but the segment that they lie in has both.
 *
 * Private pools of segments that are given back before the snapshot's end are not told: they count as the default
 * one. */
#pragma once

#include "model/memory_profile/held.h"

struct replay_stream {
    int64_t stream, pool_id[2];
};

struct replay_streams {
    const struct replay_stream *rows; /* each once */
    const uint32_t *of_event;         /* of each event of the pool, its row; NULL: all are of the first one */
};

/* `held`: what there was before the first event. */
void replay_streams_find(const struct memory_profile_pool *pool, const struct memory_profile_held *held,
                         struct arena *arena, struct replay_streams *out);
/* Of the pool's event `at`, counted from its first. */
static inline const struct replay_stream *replay_streams_of(const struct replay_streams *streams, uint32_t at)
{
    return &streams->rows[streams->of_event == NULL ? 0 : streams->of_event[at]];
}
