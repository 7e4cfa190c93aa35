/* SPDX-License-Identifier: Apache-2.0
 * dimension_rules_tiles.c: what a bitcast says of dimensions where memory is laid in tiles.
 *
 * Tiles cut a dimension into pieces that lie apart: of [16,1024] in tiles of (8,128) memory holds [2,8,8,128], the
 * first and third of them the 16. A bitcast to that shape is such a cut, and none of 16 into 2 and the 8 behind it. */
#include "read/hlo/shape_layout.h"
#include "whatif/dimension_rules.h"

enum { PIECE_MAX = SHAPE_RANK_MAX * (SHAPE_TILE_MAX + 1) };

/* Part of a dimension, by its place in `sizes` of the leaves. */
struct piece {
    uint32_t dimension;
    int64_t size;
};

struct pieces {
    struct piece items[PIECE_MAX];
    uint32_t count;
};

/* Cuts the last pieces into whole tiles, and puts what is inside of a tile behind them. False: some tile is padded. */
static bool tile_cut(struct pieces *pieces, const int64_t *tile, uint32_t rank)
{
    if (rank > pieces->count || pieces->count + rank > PIECE_MAX)
        return false;
    struct piece *tiled = &pieces->items[pieces->count - rank];
    for (uint32_t i = 0; i < rank; i++) {
        if (tile[i] <= 0 || tiled[i].size % tile[i] != 0)
            return false;
        tiled[rank + i] = (struct piece){tiled[i].dimension, tile[i]};
        tiled[i].size /= tile[i];
    }
    pieces->count += rank;
    return true;
}

/* The pieces as they lie in memory, the outermost first, without those of size 1. */
static bool pieces_read(const struct looked_at *look, uint32_t at, uint32_t leaf, struct pieces *out)
{
    struct shape_layout layout;
    const struct leaf *of = &look->leaves->items[leaf];
    if (!shape_layout_read(hlo_instruction_shape(look->graph->hlo, at), &layout))
        return false;
    for (out->count = 0; out->count < of->rank; out->count++) {
        uint32_t dimension = of->first + look->leaves->physical[of->first + out->count];
        out->items[out->count] = (struct piece){dimension, look->leaves->sizes[dimension]};
    }
    for (uint32_t i = 0; i < layout.tile_count; i++)
        if (!tile_cut(out, layout.tiles[i], layout.tile_ranks[i]))
            return false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->count; i++)
        if (out->items[i].size != 1)
            out->items[kept++] = out->items[i];
    out->count = kept;
    return true;
}

static void member_add(uint32_t *members, uint32_t *count, uint32_t dimension)
{
    for (uint32_t i = 0; i < *count; i++)
        if (members[i] == dimension)
            return;
    members[(*count)++] = dimension;
}

/* Dimensions that share a piece are of one product: all that hang together with piece `from`. */
static void pieces_relate(struct looked_at *look, const struct pieces *in, const struct pieces *out, uint32_t from,
                          bool *is_done)
{
    uint32_t left[SHAPE_RANK_MAX], right[SHAPE_RANK_MAX], left_count = 0, right_count = 0;
    bool is_new = true;
    member_add(left, &left_count, in->items[from].dimension);
    while (is_new) {
        is_new = false;
        for (uint32_t i = 0; i < in->count; i++) {
            bool is_of = false;
            for (uint32_t k = 0; k < left_count; k++)
                is_of |= left[k] == in->items[i].dimension;
            for (uint32_t k = 0; k < right_count; k++)
                is_of |= right[k] == out->items[i].dimension;
            if (!is_of || is_done[i])
                continue;
            member_add(left, &left_count, in->items[i].dimension);
            member_add(right, &right_count, out->items[i].dimension);
            is_done[i] = is_new = true;
        }
    }
    if (left_count == 1 && right_count == 1)
        dimensions_join(look->builder, left[0], right[0]);
    else
        dimensions_relate(look->builder, RELATION_PRODUCT, left, left_count, right, right_count);
}

bool dimension_rules_tiles(struct looked_at *look, uint32_t in_leaf, uint32_t out_leaf)
{
    struct pieces in, out;
    bool is_done[PIECE_MAX] = {false};
    if (!pieces_read(look, look->operands[0], in_leaf, &in) || !pieces_read(look, look->at, out_leaf, &out) ||
        in.count != out.count)
        return false;
    for (uint32_t i = 0; i < in.count; i++)
        if (in.items[i].size != out.items[i].size || in.items[i].size <= 0)
            return false;
    for (uint32_t i = 0; i < in.count; i++)
        if (!is_done[i])
            pieces_relate(look, &in, &out, i, is_done);
    return true;
}
