/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/wire_write.h"

#include "wire/wire.h"

#include <string.h>

enum { MAX_VARINT_BYTES = 10 };

static size_t encode(uint64_t value, uint8_t out[MAX_VARINT_BYTES])
{
    size_t length = 0;
    for (; value >= 0x80; value >>= 7)
        out[length++] = (uint8_t)(value | 0x80);
    out[length++] = (uint8_t)value;
    return length;
}

void wire_write_varint(struct buf *out, uint64_t value)
{
    uint8_t bytes[MAX_VARINT_BYTES];
    buf_add(out, bytes, encode(value, bytes));
}

void wire_write_number(struct buf *out, uint32_t field, uint64_t value)
{
    if (value == 0)
        return;
    wire_write_varint(out, (uint64_t)field << 3 | WIRE_VARINT);
    wire_write_varint(out, value);
}

void wire_write_bytes(struct buf *out, uint32_t field, struct str bytes)
{
    wire_write_varint(out, (uint64_t)field << 3 | WIRE_BYTES);
    wire_write_varint(out, bytes.length);
    buf_add(out, bytes.data, bytes.length);
}

size_t wire_write_begin(struct buf *out, uint32_t field)
{
    wire_write_varint(out, (uint64_t)field << 3 | WIRE_BYTES);
    return out->length;
}

void wire_write_end(struct buf *out, size_t begin)
{
    uint8_t length[MAX_VARINT_BYTES];
    size_t size = out->length - begin, extra = encode(size, length);
    if (buf_reserve(out, extra) == NULL)
        return;
    memmove(out->data + begin + extra, out->data + begin, size);
    memcpy(out->data + begin, length, extra);
    out->length += extra;
}
