/* SPDX-License-Identifier: Apache-2.0
 * shape_layout.h: an array's layout, and what an array takes with the padding that it asks for.
 *
 * Source: layout.cc, ShapeUtil::ByteSizeOf with tiles as the TPU compiler lays them (xla_data.proto, TileProto). */
#pragma once

#include "read/hlo/shape.h"

enum { SHAPE_TILE_MAX = 4 };
struct shape_layout {
    uint8_t physical[SHAPE_RANK_MAX];              /* the dimension whose elements lie farthest apart first */
    int64_t tiles[SHAPE_TILE_MAX][SHAPE_RANK_MAX]; /* INT64_MIN: combined with the next */
    uint32_t tile_ranks[SHAPE_TILE_MAX], tile_count;
    int64_t element_bits; /* as stored */
};

/* The layout of an array; without one the last dimension is the nearest. False where it cannot be used: tuples, damage,
 * more tiles than SHAPE_TILE_MAX, an order that is none. */
bool shape_layout_read(struct str shape, struct shape_layout *out);
/* Bytes of the array with these dimensions in that layout, padding included; SHAPE_UNKNOWN_SIZE past 64 bits. */
int64_t shape_padded_bytes(const struct shape_array *array, const struct shape_layout *layout);
