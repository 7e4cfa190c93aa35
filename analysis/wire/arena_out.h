/* SPDX-License-Identifier: Apache-2.0
 * arena_out.h: bytes that grow in an arena, for the functions of wire_write.h.
 *
 * Those write into `buf`, which never grows by itself: whoever writes asks for room first, for as much as may come, and
 * room for too little shows as a failed buf. An arena that runs out jumps to its trap; nothing else is held. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

struct arena_out {
    struct arena *pages; /* a child that holds the bytes alone */
    struct buf buf;
};

void arena_out_open(struct arena_out *out, struct arena *arena);
/* Room for `size` bytes more. */
void arena_out_room(struct arena_out *out, size_t size);
/* What was written: good until more is. */
static inline struct str arena_out_bytes(const struct arena_out *out)
{
    return (struct str){out->buf.data, out->buf.length};
}
