/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote_ahead.h"

#include <stddef.h>

/* Who leaves out no more than this still reads forwards: the walk over the headers of a trace does. */
enum { GAP_MAX = 64 };

static struct remote_ahead_stream *stream_of(struct remote_ahead *ahead, uint64_t index)
{
    struct remote_ahead_stream *nearest = NULL, *oldest = &ahead->streams[0];
    for (size_t at = 0; at < REMOTE_AHEAD_STREAMS; at++) {
        struct remote_ahead_stream *stream = &ahead->streams[at];
        if (stream->used_at < oldest->used_at)
            oldest = stream;
        if (stream->window > 0 && stream->last <= index && index <= stream->end + GAP_MAX &&
            (!nearest || nearest->last < stream->last))
            nearest = stream;
    }
    if (nearest)
        return nearest;
    *oldest = (struct remote_ahead_stream){.last = index, .end = index};
    return oldest;
}

struct remote_ahead_range remote_ahead_note(struct remote_ahead *ahead, uint64_t index)
{
    struct remote_ahead_stream *stream = stream_of(ahead, index);
    stream->used_at = ++ahead->clock;
    stream->last = index;
    if (index + stream->window / 2 < stream->end)
        return (struct remote_ahead_range){0};
    uint64_t from = index > stream->end ? index : stream->end; /* what was jumped over is not asked for */
    stream->window = stream->window == 0 ? 1 : stream->window * 4;
    if (stream->window > REMOTE_AHEAD_MAX)
        stream->window = REMOTE_AHEAD_MAX;
    stream->end = from + stream->window;
    return (struct remote_ahead_range){from, stream->window};
}
