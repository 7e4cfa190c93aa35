/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/shape_layout.h"

#include "hlo.fields.h"
#include "wire/wire.h"

static bool tile_read(struct wire tile, struct shape_layout *out)
{
    uint64_t value;
    uint32_t *rank = &out->tile_ranks[out->tile_count];
    if (out->tile_count == SHAPE_TILE_MAX)
        return false;
    *rank = 0;
    while (wire_next(&tile))
        if (tile.number == TILE_PROTO_DIMENSIONS)
            for (size_t at = 0; wire_packed(&tile, &at, &value);) {
                int64_t dimension = (int64_t)value;
                if (*rank == SHAPE_RANK_MAX || (dimension <= 0 && dimension != INT64_MIN))
                    return false;
                out->tiles[out->tile_count][(*rank)++] = dimension;
            }
    out->tile_count++;
    return true;
}

/* The dimension that is first in memory is last in the file. */
static bool order_read(const int64_t *minor_to_major, uint32_t count, uint32_t rank, struct shape_layout *out)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < rank; i++)
        out->physical[i] = (uint8_t)i;
    if (count != rank)
        return count == 0;
    for (uint32_t i = 0; i < count; i++) {
        if (minor_to_major[i] < 0 || minor_to_major[i] >= rank || (seen & 1U << minor_to_major[i]) != 0)
            return false;
        seen |= 1U << minor_to_major[i];
        out->physical[rank - 1 - i] = (uint8_t)minor_to_major[i];
    }
    return true;
}

bool shape_layout_read(struct str shape, struct shape_layout *out)
{
    struct shape_array array;
    int64_t minor_to_major[SHAPE_RANK_MAX];
    uint32_t count = 0;
    bool is_fine = true;
    out->tile_count = 0;
    if (!shape_array_read(shape, &array))
        return false;
    out->element_bits = 8 * (int64_t)shape_type_bytes(array.type);
    struct err err = ERR_INIT;
    for (struct wire wire = wire_open(shape, 0, &err); wire_next(&wire);) {
        if (wire.number != SHAPE_PROTO_LAYOUT)
            continue;
        uint64_t value;
        for (struct wire layout = wire_message(&wire); wire_next(&layout);)
            switch (layout.number) {
            case LAYOUT_PROTO_MINOR_TO_MAJOR:
                for (size_t at = 0; wire_packed(&layout, &at, &value); count++)
                    if (count < SHAPE_RANK_MAX)
                        minor_to_major[count] = (int64_t)value;
                break;
            case LAYOUT_PROTO_TILES: is_fine = tile_read(wire_message(&layout), out) && is_fine; break;
            case LAYOUT_PROTO_ELEMENT_SIZE_IN_BITS:
                if (wire_int(&layout) > 0 && wire_int(&layout) <= 128)
                    out->element_bits = wire_int(&layout);
                break;
            }
    }
    return order_read(minor_to_major, count, array.rank, out) && is_fine;
}

/* A tile cuts the last dimensions into wholes of its size: their number comes before the tile's own dimensions. */
enum { DIMENSION_MAX = SHAPE_RANK_MAX * (SHAPE_TILE_MAX + 1) };

static uint32_t tile_lay(const int64_t *tile, uint32_t tile_rank, int64_t *dimensions, uint32_t rank)
{
    int64_t merged[SHAPE_RANK_MAX];
    uint32_t width = 0, first = rank > tile_rank ? rank - tile_rank : 0,
             skipped = tile_rank > rank ? tile_rank - rank : 0;
    int64_t product = 1;
    for (uint32_t i = skipped; i < tile_rank; i++) { /* combined ones are one dimension with the next */
        if (__builtin_mul_overflow(product, dimensions[first + i - skipped], &product))
            return 0;
        if (tile[i] == INT64_MIN && i + 1 < tile_rank)
            continue;
        dimensions[first + width] = product;
        merged[width++] = tile[i] == INT64_MIN ? 1 : tile[i];
        product = 1;
    }
    for (uint32_t i = 0; i < width; i++) {
        int64_t whole = dimensions[first + i];
        dimensions[first + i] = whole / merged[i] + (whole % merged[i] != 0);
        dimensions[first + width + i] = merged[i];
    }
    return first + 2 * width;
}

int64_t shape_padded_bytes(const struct shape_array *array, const struct shape_layout *layout)
{
    int64_t dimensions[DIMENSION_MAX], bits = layout->element_bits;
    uint32_t rank = array->rank;
    for (uint32_t i = 0; i < rank; i++)
        if ((dimensions[i] = array->dimensions[layout->physical[i]]) < 0)
            return SHAPE_UNKNOWN_SIZE;
    if (rank == 0 && layout->tile_count > 0) /* a scalar takes a whole tile */
        while (rank < layout->tile_ranks[0] && layout->tiles[0][rank] != INT64_MIN)
            dimensions[rank++] = 1;
    for (uint32_t i = 0; i < layout->tile_count && rank > 0; i++)
        if ((rank = tile_lay(layout->tiles[i], layout->tile_ranks[i], dimensions, rank)) == 0)
            return SHAPE_UNKNOWN_SIZE;
    for (uint32_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(bits, dimensions[i], &bits))
            return SHAPE_UNKNOWN_SIZE;
    return bits / 8 + (bits % 8 != 0);
}
