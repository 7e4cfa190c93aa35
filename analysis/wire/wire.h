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
 * Offsets in errors are those of the file: `base_offset` of the first byte plus
 * the position. Accessors for the wrong wire type give 0 or nothing: as in
 * protobuf, such a field counts as unknown. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

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

struct wire wire_open(struct str span, uint64_t base_offset, struct err *err);
bool wire_next(struct wire *wire);
/* Offset in the file of the current length-delimited field's first byte. */
uint64_t wire_bytes_offset(const struct wire *wire);
/* A cursor over the current field's bytes; empty if it is not length-delimited. */
struct wire wire_message(const struct wire *wire);

/* The current field's bytes, empty if it is not length-delimited. */
static inline struct str wire_text(const struct wire *wire)
{
    return wire->type == WIRE_BYTES ? wire->bytes : (struct str){"", 0};
}
/* The current field's number, 0 if it is length-delimited. */
static inline uint64_t wire_uint(const struct wire *wire) { return wire->type == WIRE_BYTES ? 0 : wire->value; }
static inline int64_t wire_int(const struct wire *wire) { return (int64_t)wire_uint(wire); }
static inline bool wire_bool(const struct wire *wire) { return wire_uint(wire) != 0; }

/* Walks a repeated number, packed or not: *at is a cursor state that starts at 0.
 *     for (size_t at = 0; wire_packed(&wire, &at, &value);) …
 * A broken run is reported in err and ends. */
bool wire_packed(struct wire *wire, size_t *at, uint64_t *value);

/* Reads one varint at *at before `end`: false if it is cut or longer than ten bytes. */
bool wire_varint(const uint8_t **at, const uint8_t *end, uint64_t *value);
