/* SPDX-License-Identifier: Apache-2.0
 * bytes.c: varints, fixed64 and length-delimited fields. */
#include "tests/bench/trace/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, DELIMITED = 2 };

size_t bytes_varint_size(uint64_t value)
{
    size_t size = 1;
    while (value > 127) {
        value >>= 7;
        size++;
    }
    return size;
}

void bytes_raw(struct bytes *out, const void *data, size_t length)
{
    if (length > sizeof(out->data) - out->length) {
        fputs("make-trace: a message is too long\n", stderr);
        exit(1);
    }
    memcpy(out->data + out->length, data, length);
    out->length += length;
}

void bytes_varint(struct bytes *out, uint64_t value)
{
    uint8_t data[10];
    size_t length = 0;
    while (value > 127) {
        data[length++] = (uint8_t)(value | 128);
        value >>= 7;
    }
    data[length++] = (uint8_t)value;
    bytes_raw(out, data, length);
}

static void tag(struct bytes *out, unsigned field, unsigned type) { bytes_varint(out, field << 3 | type); }

void bytes_int(struct bytes *out, unsigned field, int64_t value)
{
    tag(out, field, VARINT);
    bytes_varint(out, (uint64_t)value);
}

void bytes_double(struct bytes *out, unsigned field, double value)
{
    uint64_t bits;
    uint8_t data[8];
    memcpy(&bits, &value, sizeof(bits));
    for (int i = 0; i < 8; i++)
        data[i] = (uint8_t)(bits >> (8 * i));
    tag(out, field, FIXED64);
    bytes_raw(out, data, sizeof(data));
}

void bytes_text(struct bytes *out, unsigned field, const char *text)
{
    tag(out, field, DELIMITED);
    bytes_varint(out, strlen(text));
    bytes_raw(out, text, strlen(text));
}

void bytes_message(struct bytes *out, unsigned field, const struct bytes *inner)
{
    tag(out, field, DELIMITED);
    bytes_varint(out, inner->length);
    bytes_raw(out, inner->data, inner->length);
}
