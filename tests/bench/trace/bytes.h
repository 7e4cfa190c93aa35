/* SPDX-License-Identifier: Apache-2.0
 * bytes.h: writes protobuf fields into a fixed place. A message here is a few hundred bytes, so
 * nothing is checked but the size of the place. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { BYTES_MAX = 4096 };

struct bytes {
    uint8_t data[BYTES_MAX];
    size_t length;
};

size_t bytes_varint_size(uint64_t value);
void bytes_raw(struct bytes *out, const void *data, size_t length);
void bytes_varint(struct bytes *out, uint64_t value);
void bytes_int(struct bytes *out, unsigned field, int64_t value);
void bytes_double(struct bytes *out, unsigned field, double value);
void bytes_text(struct bytes *out, unsigned field, const char *text);
void bytes_message(struct bytes *out, unsigned field, const struct bytes *inner);
