/* SPDX-License-Identifier: Apache-2.0
 * wire.h: a cursor over the protobuf encoding of bytes that are in memory.
 *
 * It knows no schema, allocates nothing and does not recurse: a sub-message is
 * a span to be opened with a cursor of its own. wire_next is false at the end
 * and after any error, so a loop just ends; who cares looks at `err` afterwards.
 *
 *     struct wire wire = wire_open(span, offset, err);
 *     while (wire_next(&wire))
 *         switch (wire.number) { case NAME: name = wire_text(&wire); … }
 *
 * All of it is in line, and nothing here takes the cursor's address but what is in line too: in a loop as above it
 * stays in registers, and what nobody reads of a field is not even stored.
 *
 * Offsets in errors are those of the file: `base_offset` of the first byte plus
 * the position. Accessors for the wrong wire type give 0 or nothing: as in
 * protobuf, such a field counts as unknown. */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "wire/number.h"

/* No field is handed out as a group: none of our formats has one, so a group is an unknown field, and is skipped. */
enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_GROUP = 3,
    WIRE_GROUP_END = 4,
    WIRE_FIXED32 = 5
};
/* Groups in groups: as protobuf's own limit. */
enum { WIRE_GROUP_DEPTH_MAX = 100 };

struct wire {
    const uint8_t *at, *end;
    const uint8_t *begin;
    uint64_t base_offset; /* of `begin` in the file */
    struct err *err;
    /* the field that wire_next met */
    uint32_t number;
    enum wire_type type;
    uint64_t value;   /* varint or fixed */
    struct str bytes; /* of a length-delimited field */
};

/* What can be wrong with a field. */
enum wire_fault {
    WIRE_TAG_CUT,
    WIRE_FIELD_OUT_OF_RANGE,
    WIRE_NUMBER_CUT,
    WIRE_FIXED_CUT,
    WIRE_LENGTH_CUT,
    WIRE_LENGTH_PAST_END,
    WIRE_NO_SUCH_TYPE,
    WIRE_GROUP_OPEN,
    WIRE_PACKED_CUT,
};
/* Reports it. */
void wire_fault_report(struct err *err, enum wire_fault fault, uint64_t offset) __attribute__((cold, noinline));
/* A number of any size; .after NULL: it is cut or longer than ten bytes. */
struct number wire_long_varint(const uint8_t *at, const uint8_t *end);

/* Where the group `number` ends whose first field is at `at`; NULL: it is not closed, or something in it is broken. */
const uint8_t *wire_group_after(const uint8_t *at, const uint8_t *end, uint32_t number) __attribute__((cold, noinline));

/* Reads one varint at *at before `end`: false if it is cut or longer than ten bytes. */
static inline bool wire_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    const uint8_t *p = *at;
    if (p != end && *p < 0x80) { /* nearly all tags and most lengths */
        *value = *p;
        *at = p + 1;
        return true;
    }
    if (end - p >= 2 && p[1] < 0x80) { /* lengths, and small ids */
        *value = (uint64_t)(p[0] & 0x7F) | (uint64_t)p[1] << 7;
        *at = p + 2;
        return true;
    }
    struct number number = wire_long_varint(p, end);
    if (number.after == NULL)
        return false;
    *value = number.value;
    *at = number.after;
    return true;
}

static inline struct wire wire_open(struct str span, uint64_t base_offset, struct err *err)
{
    const uint8_t *begin = (const uint8_t *)(span.length > 0 ? span.data : ""); /* never NULL + 0 */
    return (struct wire){
        .at = begin, .end = begin + span.length, .begin = begin, .base_offset = base_offset, .err = err};
}

/* Always inline: otherwise the cursor would have an address, and every field would store the whole cursor. */
__attribute__((always_inline)) static inline bool wire_fail(struct wire *wire, enum wire_fault fault)
{
    wire_fault_report(wire->err, fault, wire->base_offset + (uint64_t)(wire->at - wire->begin));
    wire->at = wire->end;
    return false;
}

static inline bool wire_fixed(struct wire *wire, unsigned size)
{
    if ((size_t)(wire->end - wire->at) < size)
        return wire_fail(wire, WIRE_FIXED_CUT);
    wire->value = 0;
    for (unsigned i = 0; i < size; i++)
        wire->value |= (uint64_t)wire->at[i] << (8 * i);
    wire->at += size;
    return true;
}

/* On to the next field: false at the end and after any error. */
static inline bool wire_next(struct wire *wire)
{
    uint64_t tag, length;
    for (;;) {
        if (wire->at == wire->end)
            return false;
        if (!wire_varint(&wire->at, wire->end, &tag))
            return wire_fail(wire, WIRE_TAG_CUT);
        if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF)
            return wire_fail(wire, WIRE_FIELD_OUT_OF_RANGE);
        if ((tag & 7) != WIRE_GROUP)
            break;
        const uint8_t *after = wire_group_after(wire->at, wire->end, (uint32_t)(tag >> 3));
        if (after == NULL)
            return wire_fail(wire, WIRE_GROUP_OPEN);
        wire->at = after;
    }
    wire->number = (uint32_t)(tag >> 3);
    wire->type = (enum wire_type)(tag & 7);
    switch (tag & 7) {
    case WIRE_VARINT: return wire_varint(&wire->at, wire->end, &wire->value) || wire_fail(wire, WIRE_NUMBER_CUT);
    case WIRE_FIXED64: return wire_fixed(wire, 8);
    case WIRE_FIXED32: return wire_fixed(wire, 4);
    case WIRE_BYTES:
        if (!wire_varint(&wire->at, wire->end, &length))
            return wire_fail(wire, WIRE_LENGTH_CUT);
        if (length > (uint64_t)(wire->end - wire->at))
            return wire_fail(wire, WIRE_LENGTH_PAST_END);
        wire->bytes = (struct str){(const char *)wire->at, (size_t)length};
        wire->at += length;
        return true;
    default: return wire_fail(wire, WIRE_NO_SUCH_TYPE);
    }
}

/* Offset in the file of the current length-delimited field's first byte. */
static inline uint64_t wire_bytes_offset(const struct wire *wire)
{
    if (wire->type != WIRE_BYTES)
        return wire->base_offset;
    return wire->base_offset + (uint64_t)((const uint8_t *)wire->bytes.data - wire->begin);
}

/* The current field's bytes, empty if it is not length-delimited. */
static inline struct str wire_text(const struct wire *wire)
{
    return wire->type == WIRE_BYTES ? wire->bytes : (struct str){"", 0};
}
/* The current field's number, 0 if it is length-delimited. */
static inline uint64_t wire_uint(const struct wire *wire) { return wire->type == WIRE_BYTES ? 0 : wire->value; }
static inline int64_t wire_int(const struct wire *wire) { return (int64_t)wire_uint(wire); }
static inline bool wire_bool(const struct wire *wire) { return wire_uint(wire) != 0; }

/* A cursor over the current field's bytes; empty if it is not length-delimited. */
static inline struct wire wire_message(const struct wire *wire)
{
    return wire_open(wire_text(wire), wire_bytes_offset(wire), wire->err);
}

/* Walks a repeated number, packed or not: *at is a cursor state that starts at 0.
 *     for (size_t at = 0; wire_packed(&wire, &at, &value);) …
 * A broken run is reported in err and ends. */
static inline bool wire_packed(const struct wire *wire, size_t *at, uint64_t *value)
{
    if (wire->type != WIRE_BYTES) { /* one number, not packed */
        *value = wire->value;
        return (*at)++ == 0;
    }
    if (*at >= wire->bytes.length)
        return false;
    const uint8_t *begin = (const uint8_t *)wire->bytes.data, *p = begin + *at;
    if (!wire_varint(&p, begin + wire->bytes.length, value)) {
        wire_fault_report(wire->err, WIRE_PACKED_CUT, wire_bytes_offset(wire) + *at);
        *at = wire->bytes.length;
        return false;
    }
    *at = (size_t)(p - begin);
    return true;
}
