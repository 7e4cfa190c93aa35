/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/wire.h"

static __attribute__((noinline)) bool long_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    const uint8_t *p = *at;
    uint64_t result = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (p == end)
            return false;
        uint8_t byte = *p++;
        if (shift < 64)
            result |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *at = p;
            *value = result;
            return true;
        }
    }
    return false;
}

static inline bool varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    const uint8_t *p = *at;
    if (p != end && *p < 0x80) { /* nearly all tags and most lengths */
        *value = *p;
        *at = p + 1;
        return true;
    }
    if (end - p >= 2 && p[1] < 0x80) {
        *value = (uint64_t)(p[0] & 0x7F) | (uint64_t)p[1] << 7;
        *at = p + 2;
        return true;
    }
    return long_varint(at, end, value);
}

bool wire_varint(const uint8_t **at, const uint8_t *end, uint64_t *value) { return varint(at, end, value); }

struct wire wire_open(struct str span, uint64_t base_offset, struct err *err)
{
    static const uint8_t nothing[1] = {0};
    const uint8_t *begin = span.length ? (const uint8_t *)span.data : nothing; /* never NULL + 0 */
    return (struct wire){
        .at = begin, .end = begin + span.length, .begin = begin, .base_offset = base_offset, .err = err};
}

static __attribute__((cold, noinline)) bool fail(struct wire *wire, enum err_code code, const char *text)
{
    err_set(wire->err, code, wire->base_offset + (uint64_t)(wire->at - wire->begin), "%s", text);
    wire->at = wire->end;
    return false;
}

static bool fixed(struct wire *wire, unsigned size)
{
    if ((size_t)(wire->end - wire->at) < size)
        return fail(wire, ERR_truncated, "a fixed-size number runs past the end");
    wire->value = 0;
    for (unsigned i = 0; i < size; i++)
        wire->value |= (uint64_t)wire->at[i] << (8 * i);
    wire->at += size;
    return true;
}

bool wire_next(struct wire *wire)
{
    if (wire->at == wire->end)
        return false;
    uint64_t tag, length;
    if (!varint(&wire->at, wire->end, &tag))
        return fail(wire, ERR_malformed, "a field's tag is cut or too long");
    if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF)
        return fail(wire, ERR_malformed, "a field number is out of range");
    wire->number = (uint32_t)(tag >> 3);
    wire->type = (enum wire_type)(tag & 7);
    switch (tag & 7) {
    case WIRE_VARINT:
        if (!varint(&wire->at, wire->end, &wire->value))
            return fail(wire, ERR_malformed, "a number is cut or too long");
        return true;
    case WIRE_FIXED64: return fixed(wire, 8);
    case WIRE_FIXED32: return fixed(wire, 4);
    case WIRE_BYTES:
        if (!varint(&wire->at, wire->end, &length))
            return fail(wire, ERR_malformed, "a length is cut or too long");
        if (length > (uint64_t)(wire->end - wire->at))
            return fail(wire, ERR_truncated, "a length runs past the end");
        wire->bytes = (struct str){(const char *)wire->at, (size_t)length};
        wire->at += length;
        return true;
    default: return fail(wire, ERR_malformed, "a field is of no kind that there is");
    }
}

uint64_t wire_bytes_offset(const struct wire *wire)
{
    if (wire->type != WIRE_BYTES)
        return wire->base_offset;
    return wire->base_offset + (uint64_t)((const uint8_t *)wire->bytes.data - wire->begin);
}

struct wire wire_message(const struct wire *wire)
{
    return wire_open(wire_text(wire), wire_bytes_offset(wire), wire->err);
}

bool wire_packed(struct wire *wire, size_t *at, uint64_t *value)
{
    if (wire->type != WIRE_BYTES) { /* one number, not packed */
        if (*at != 0)
            return false;
        *at = 1;
        *value = wire->value;
        return true;
    }
    if (*at >= wire->bytes.length)
        return false;
    const uint8_t *begin = (const uint8_t *)wire->bytes.data, *p = begin + *at;
    if (!varint(&p, begin + wire->bytes.length, value)) {
        err_set(wire->err, ERR_malformed, wire_bytes_offset(wire) + *at, "a packed number is cut or too long");
        *at = wire->bytes.length;
        return false;
    }
    *at = (size_t)(p - begin);
    return true;
}
