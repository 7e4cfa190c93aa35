/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/arena_out.h"

enum { FIRST_BYTES = 1 << 16 };

void arena_out_open(struct arena_out *out, struct arena *arena)
{
    *out = (struct arena_out){arena_child(arena), BUF_INIT};
    arena_out_room(out, FIRST_BYTES);
}

void arena_out_room(struct arena_out *out, size_t size)
{
    struct buf *buf = &out->buf;
    if (buf->capacity - buf->length >= size && buf->data != NULL)
        return;
    size_t capacity = buf->length + size > buf->capacity * 2 ? buf->length + size : buf->capacity * 2;
    buf->data = arena_resize(out->pages, capacity);
    buf->capacity = buf->limit_bytes = capacity;
}
