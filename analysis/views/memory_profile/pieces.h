/* SPDX-License-Identifier: Apache-2.0
 * pieces.h: what lies side by side in a range of addresses, as it is drawn: neighbours that are together narrower than
 * a pixel are one. */
#pragma once

#include "model/memory_profile/address_blocks.h"

/* A block, a hole, a range outside of segments, or several of them. */
struct memory_profile_piece {
    uint64_t address, size, used;
    uint32_t count;
    struct memory_profile_block block; /* the first one */
    bool is_hole, is_wall;             /* a wall is a hole that nothing can be put into */
};

struct memory_profile_pieces {
    const struct memory_profile_pool *pool;
    struct json *json;
    uint64_t base;                    /* address that offsets are counted from */
    uint64_t pixel;                   /* bytes */
    struct memory_profile_piece held; /* count 0 and no hole: nothing is held */
};

/* They come by address without gaps; an object of each is written once it is known that it is whole. */
void memory_profile_pieces_add(struct memory_profile_pieces *pieces, const struct memory_profile_piece *piece);
void memory_profile_pieces_add_block(struct memory_profile_pieces *pieces, const struct memory_profile_block *block,
                                     uint64_t begin, uint64_t end);
void memory_profile_pieces_add_hole(struct memory_profile_pieces *pieces, uint64_t begin, uint64_t end);
/* Behind the last one. */
void memory_profile_pieces_end(struct memory_profile_pieces *pieces);
