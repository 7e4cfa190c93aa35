/* SPDX-License-Identifier: Apache-2.0
 * pieces.c: see pieces.h. */
#include "views/memory_profile/pieces.h"
#include "views/memory_profile/views.h"

static void piece_write(const struct memory_profile_pieces *pieces, const struct memory_profile_piece *piece)
{
    const struct memory_profile *profile = pieces->pool->profile;
    struct json *json = pieces->json;
    bool is_single = !piece->is_hole && piece->count == 1;
    bool has_event = is_single && piece->block.event != PROFILE_NONE;
    const struct memory_what *what =
        is_single ? memory_profile_what_at(profile, piece->block.event, piece->block.kept) : NULL;
    const char *kind = piece->is_wall                                                    ? "outside"
                       : piece->is_hole                                                  ? "hole"
                       : piece->count > 1                                                ? "mixed"
                       : piece->block.is_pending                                         ? "pending_free"
                       : memory_profile_address_blocks_is_before(profile, &piece->block) ? "before_window"
                                                                                         : "allocation";
    const struct str nothing = {"", 0};
    json_object_begin(json);
    memory_profile_views_address(json, "address", piece->address, true);
    json_key_uint(json, "offset_bytes", piece->address - pieces->base);
    json_key_uint(json, "size_bytes", piece->size);
    json_key_text(json, "kind", kind);
    json_key_uint(json, "count", piece->count);
    json_key_uint(json, "used_bytes", piece->used);
    json_key_known(json, "event", has_event ? (int64_t)(piece->block.event - pieces->pool->first) : -1);
    json_key_known(json, "block", is_single && !has_event ? (int64_t)piece->block.kept : -1);
    memory_profile_views_text(json, "op", is_single ? memory_profile_text(profile, what->op) : nothing);
    memory_profile_views_text(json, "dtype", is_single ? memory_profile_what_data_type(profile, what) : nothing);
    memory_profile_views_text(json, "shape", is_single ? memory_profile_text(profile, what->shape) : nothing);
    memory_profile_views_text(json, "category", is_single ? memory_profile_what_category(profile, what) : nothing);
    json_key_known(json, "step", has_event ? profile->step[piece->block.event] : -1);
    json_object_end(json);
}

static void held_write(struct memory_profile_pieces *pieces)
{
    if (pieces->held.size > 0 && (pieces->held.count > 0 || pieces->held.is_hole))
        piece_write(pieces, &pieces->held);
    pieces->held = (struct memory_profile_piece){.count = 0};
}

void memory_profile_pieces_add(struct memory_profile_pieces *pieces, const struct memory_profile_piece *piece)
{
    struct memory_profile_piece *held = &pieces->held;
    bool has_held = held->count > 0 || held->is_hole;
    if (has_held && piece->size < pieces->pixel && held->size < pieces->pixel) {
        held->block = held->count == 0 ? piece->block : held->block;
        held->size += piece->size;
        held->used += piece->used;
        held->count += piece->count;
        held->is_hole &= piece->is_hole;
        held->is_wall &= piece->is_wall;
        if (held->count == 1 && held->used < held->size)
            held->count = 2; /* an allocation and a hole: mixed */
        return;
    }
    if (has_held)
        held_write(pieces);
    *held = *piece;
}

void memory_profile_pieces_add_hole(struct memory_profile_pieces *pieces, uint64_t begin, uint64_t end)
{
    memory_profile_pieces_add(pieces,
                              &(struct memory_profile_piece){.address = begin, .size = end - begin, .is_hole = true});
}

void memory_profile_pieces_add_block(struct memory_profile_pieces *pieces, const struct memory_profile_block *block,
                                     uint64_t begin, uint64_t end)
{
    memory_profile_pieces_add(pieces, &(struct memory_profile_piece){.address = begin,
                                                                     .size = end - begin,
                                                                     .used = block->is_wall ? 0 : end - begin,
                                                                     .count = !block->is_wall,
                                                                     .block = *block,
                                                                     .is_hole = block->is_wall,
                                                                     .is_wall = block->is_wall});
}

void memory_profile_pieces_end(struct memory_profile_pieces *pieces) { held_write(pieces); }
