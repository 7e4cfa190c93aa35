/* SPDX-License-Identifier: Apache-2.0
 * addresses.c: the view "addresses": what lies where in a pool at a moment, to
 * scale. What was there before the trace and is never freed has no address: a hole
 * may be such memory, `unknown_bytes` says how much of it there is. */
#include "tool/memory_profile/address_blocks.h"

#include <errno.h>
#include <stdlib.h>

enum { WIDTH_MAX = 8192 };

struct address_map {
    const struct tool_request *request;
    const struct memory_profile *profile;
    const struct memory_profile_pool *pool;
    struct memory_profile_moment moment;
    struct memory_profile_address_blocks blocks;
    uint64_t low, high; /* asked for */
};

static bool address_read(const struct tool_request *request, const char *name, uint64_t default_value, uint64_t *out,
                         struct err *err)
{
    const char *text = tool_param_text(request, name);
    char *end;
    *out = default_value;
    if (text == NULL || text[0] == '\0')
        return true;
    errno = 0;
    *out = strtoull(text, &end, 0);
    if (*end != '\0' || errno != 0 || text[0] < '0' || text[0] > '9')
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: \"%.40s\" is not an address", name, text);
    return true;
}

/* ---- output ---- */

/* A block, a hole, or neighbours that are together narrower than a pixel. */
struct piece {
    uint64_t address, size, used;
    uint32_t count, event;
    bool is_hole;
};

static void piece_write(struct json *json, const struct address_map *map, const struct piece *piece)
{
    const struct memory_profile *profile = map->profile;
    bool is_single = !piece->is_hole && piece->count == 1;
    const struct memory_what *what = is_single ? &profile->events.whats[profile->what[piece->event]] : NULL;
    const char *kind = piece->is_hole                                  ? "hole"
                       : piece->count > 1                              ? "mixed"
                       : memory_profile_is_free(profile, piece->event) ? "before_window"
                                                                       : "allocation";
    const struct str nothing = {"", 0};
    json_object_begin(json);
    memory_profile_views_address(json, "address", piece->address, true);
    json_key_uint(json, "offset_bytes", piece->address - map->low);
    json_key_uint(json, "size_bytes", piece->size);
    json_key_text(json, "kind", kind);
    json_key_uint(json, "count", piece->count);
    json_key_uint(json, "used_bytes", piece->used);
    json_key_known(json, "event", is_single ? (int64_t)(piece->event - map->pool->first) : -1);
    memory_profile_views_text(json, "op", is_single ? memory_profile_text(profile, what->op) : nothing);
    memory_profile_views_text(json, "dtype", is_single ? memory_profile_views_data_type(profile, what) : nothing);
    memory_profile_views_text(json, "shape", is_single ? memory_profile_text(profile, what->shape) : nothing);
    json_key_known(json, "step", is_single ? profile->step[piece->event] : -1);
    json_object_end(json);
}

struct joining {
    const struct address_map *map;
    struct json *json;
    struct piece held; /* count 0 and no hole: nothing is held */
    uint64_t pixel;
};

static void held_write(struct joining *joining)
{
    if (joining->held.size > 0 && (joining->held.count > 0 || joining->held.is_hole))
        piece_write(joining->json, joining->map, &joining->held);
    joining->held = (struct piece){.count = 0};
}

/* Pieces come by address without gaps. */
static void piece_add(struct joining *joining, const struct piece *piece)
{
    struct piece *held = &joining->held;
    bool has_held = held->count > 0 || held->is_hole;
    if (has_held && piece->size < joining->pixel && held->size < joining->pixel) {
        held->event = held->count == 0 ? piece->event : held->event;
        held->size += piece->size;
        held->used += piece->used;
        held->count += piece->count;
        held->is_hole &= piece->is_hole;
        if (held->count == 1 && held->used < held->size)
            held->count = 2; /* an allocation and a hole: mixed */
        return;
    }
    if (has_held)
        held_write(joining);
    *held = *piece;
}

/* Walks the blocks in the asked range, and what lies between them. */
static void blocks_write(struct json *json, const struct address_map *map, int64_t width)
{
    uint64_t largest_hole = 0, largest_at = 0, at = map->low;
    uint32_t hole_count = 0, block_count = 0;
    struct joining joining = {map, json, {.count = 0}, (map->high - map->low) / (uint64_t)width};
    json_key_array(json, "blocks");
    for (uint32_t i = 0; i <= map->blocks.count; i++) {
        struct memory_profile_block block =
            i < map->blocks.count ? map->blocks.items[i] : (struct memory_profile_block){map->high, 0, 0};
        uint64_t end = block.address + block.size < block.address ? UINT64_MAX : block.address + block.size;
        uint64_t begin = block.address < at ? at : block.address > map->high ? map->high : block.address;
        end = end > map->high ? map->high : end;
        if (begin > at) {
            bool is_inside = at > map->low || i > 0; /* what lies before all blocks is no hole between them */
            piece_add(&joining, &(struct piece){at, begin - at, 0, 0, 0, true});
            if (is_inside && i < map->blocks.count && begin - at > largest_hole) {
                largest_hole = begin - at;
                largest_at = at;
            }
            hole_count++;
            at = begin;
        }
        if (end > at) {
            piece_add(&joining, &(struct piece){at, end - at, end - at, 1, block.event, false});
            block_count++;
            at = end;
        }
    }
    held_write(&joining);
    json_array_end(json);
    json_key_uint(json, "block_count", block_count);
    json_key_uint(json, "hole_count", hole_count);
    json_key(json, "largest_hole");
    if (largest_hole == 0) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    memory_profile_views_address(json, "address", largest_at, true);
    json_key_uint(json, "size_bytes", largest_hole);
    json_object_end(json);
}

bool memory_profile_addresses(const struct tool_request *request, struct json *json, struct err *err)
{
    struct address_map map = {
        .request = request, .profile = request->model, .pool = memory_profile_views_pool(request, err)};
    int64_t width;
    if (map.pool == NULL || !memory_profile_views_moment(request, map.pool, &map.moment, err) ||
        !tool_param_number(request, "width", 1, WIDTH_MAX, 1024, &width, err))
        return false;
    memory_profile_address_blocks_find(map.pool, &map.moment, request->arena, &map.blocks);
    bool has_addresses = map.blocks.first < map.blocks.last;
    uint64_t first = has_addresses ? map.blocks.first : 0, last = has_addresses ? map.blocks.last : 0;
    if (!address_read(request, "low", first, &map.low, err) || !address_read(request, "high", last, &map.high, err))
        return false;
    if (map.high < map.low)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "low is behind high");
    json_object_begin(json);
    memory_profile_views_memory(json, map.pool);
    json_key_int(json, "time_ps", map.moment.time_ps);
    json_key_known(json, "event", (int64_t)map.moment.count - 1);
    json_key(json, "reason");
    memory_profile_views_reason(json, has_addresses ? NULL : "no_addresses",
                                "The events of this memory tell no addresses.");
    memory_profile_views_address(json, "low", map.low, has_addresses);
    memory_profile_views_address(json, "high", map.high, has_addresses);
    json_key_uint(json, "span_bytes", map.high - map.low);
    memory_profile_views_address(json, "first", first, has_addresses);
    memory_profile_views_address(json, "last", last, has_addresses);
    json_key_uint(json, "known_bytes", map.blocks.known_bytes);
    json_key_int(json, "unknown_bytes", map.blocks.unknown_bytes);
    blocks_write(json, &map, width);
    json_object_end(json);
    return true;
}
