/* SPDX-License-Identifier: Apache-2.0
 * wire_write.h: the protobuf encoding, written field by field. It knows no schema; failures stay in the buf. */
#pragma once

#include "base/buf.h"

#include <stdint.h>

void wire_write_varint(struct buf *out, uint64_t value);
/* 0 is what a field is without being written. */
void wire_write_number(struct buf *out, uint32_t field, uint64_t value);
void wire_write_bytes(struct buf *out, uint32_t field, struct str bytes);

/* Begins a field that holds others; its length is put in front by wire_write_end, which is given the result. */
size_t wire_write_begin(struct buf *out, uint32_t field);
void wire_write_end(struct buf *out, size_t begin);
