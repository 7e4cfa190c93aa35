/* SPDX-License-Identifier: Apache-2.0
 * encoded.h: messages in the protobuf encoding, field by field. */
#pragma once

#include "base/buf.h"

#include <stdint.h>

static inline void put_varint(struct buf *out, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        buf_char(out, (char)((value & 127) | 128));
    buf_char(out, (char)value);
}

static inline void put_number(struct buf *out, unsigned field, uint64_t value)
{
    put_varint(out, field << 3);
    put_varint(out, value);
}

static inline void put_bytes(struct buf *out, unsigned field, const void *data, size_t length)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, length);
    buf_add(out, data, length);
}

/* The message is freed. */
static inline void put_message(struct buf *out, unsigned field, struct buf *message)
{
    put_bytes(out, field, message->data, message->length);
    buf_free(message);
}
