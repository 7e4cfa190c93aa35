/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/thrift.h"

static void varint_write(struct buf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        buf_char(out, (char)(value | 0x80));
    buf_char(out, (char)value);
}

/* The sign goes into the lowest bit, so that small numbers below 0 are short, too. */
static void zigzag_write(struct buf *out, int64_t value)
{
    varint_write(out, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void field_begin(struct thrift *thrift, int id, enum thrift_type type)
{
    int *last_id = &thrift->last_ids[thrift->depth], step = id - *last_id;
    if (step > 0 && step <= 15) {
        buf_char(thrift->out, (char)(step << 4 | (int)type));
    } else {
        buf_char(thrift->out, (char)type);
        zigzag_write(thrift->out, id);
    }
    *last_id = id;
}

static void bytes_write(struct buf *out, struct str text)
{
    varint_write(out, text.length);
    buf_add(out, text.data, text.length);
}

void thrift_int(struct thrift *thrift, int id, enum thrift_type type, int64_t value)
{
    field_begin(thrift, id, type);
    zigzag_write(thrift->out, value);
}

void thrift_bool(struct thrift *thrift, int id, bool value)
{
    field_begin(thrift, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_text(struct thrift *thrift, int id, struct str text)
{
    field_begin(thrift, id, THRIFT_BINARY);
    bytes_write(thrift->out, text);
}

void thrift_item_struct(struct thrift *thrift) { thrift->last_ids[++thrift->depth] = 0; }

void thrift_struct(struct thrift *thrift, int id)
{
    field_begin(thrift, id, THRIFT_STRUCT);
    thrift_item_struct(thrift);
}

void thrift_end(struct thrift *thrift)
{
    buf_char(thrift->out, 0);
    thrift->depth -= thrift->depth > 0;
}

void thrift_list(struct thrift *thrift, int id, enum thrift_type item_type, size_t count)
{
    field_begin(thrift, id, THRIFT_LIST);
    buf_char(thrift->out, (char)((count < 15 ? (int)count : 15) << 4 | (int)item_type));
    if (count >= 15)
        varint_write(thrift->out, count);
}

void thrift_item_int(struct thrift *thrift, int64_t value) { zigzag_write(thrift->out, value); }

void thrift_item_text(struct thrift *thrift, struct str text) { bytes_write(thrift->out, text); }
