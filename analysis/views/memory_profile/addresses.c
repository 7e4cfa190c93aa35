/* SPDX-License-Identifier: Apache-2.0
 * addresses.c: the view "addresses": what lies where in a pool at a moment, to
 * scale. What was there before the trace and is never freed has no address: a hole
 * may be such memory, `unknown_bytes` says how much of it there is. */
#include "views/finding_write.h"
#include "views/memory_profile/pieces.h"
#include "views/memory_profile/sentences.h"
#include "views/memory_profile/views.h"

#include <errno.h>
#include <stdlib.h>

enum { WIDTH_MAX = 8192 };

struct address_map {
    const struct tool_request *request;
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

/* Walks the blocks in the asked range, and what lies between them. */
static void blocks_write(struct json *json, const struct address_map *map, int64_t width)
{
    uint64_t largest_hole = 0, largest_at = 0, at = map->low;
    uint32_t hole_count = 0, block_count = 0;
    struct memory_profile_pieces pieces = {
        map->pool, json, map->low, (map->high - map->low) / (uint64_t)width, {.count = 0}};
    json_key_array(json, "blocks");
    for (uint32_t i = 0; i <= map->blocks.count; i++) {
        struct memory_profile_block block =
            i < map->blocks.count
                ? map->blocks.items[i]
                : (struct memory_profile_block){.address = map->high, .event = PROFILE_NONE, .is_wall = true};
        uint64_t end = block.address + block.size < block.address ? UINT64_MAX : block.address + block.size;
        uint64_t begin = block.address < at ? at : block.address > map->high ? map->high : block.address;
        end = end > map->high ? map->high : end;
        if (begin > at) {
            bool is_inside = at > map->low || i > 0; /* what lies before all blocks is no hole between them */
            memory_profile_pieces_add_hole(&pieces, at, begin);
            if (is_inside && i < map->blocks.count && begin - at > largest_hole) {
                largest_hole = begin - at;
                largest_at = at;
            }
            hole_count++;
            at = begin;
        }
        if (end > at) {
            memory_profile_pieces_add_block(&pieces, &block, at, end);
            block_count += !block.is_wall;
            at = end;
        }
    }
    memory_profile_pieces_end(&pieces);
    json_array_end(json);
    json_key_uint(json, "block_count", block_count);
    json_key_uint(json, "hole_count", hole_count);
    const struct memory_profile_sentences_holes holes = {block_count, hole_count, largest_hole,
                                                         map->blocks.unknown_bytes};
    finding_write_sentences(json, "said", memory_profile_sentences_addresses(&holes, map->request->arena));
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
    struct address_map map = {.request = request, .pool = memory_profile_views_pool(request, err)};
    int64_t width;
    if (map.pool == NULL || !memory_profile_views_moment(request, map.pool, &map.moment, err) ||
        !tool_param_number(request, "width", 1, WIDTH_MAX, 1024, &width, err))
        return false;
    memory_profile_address_blocks_find(map.pool, &map.moment, NULL, request->arena, &map.blocks);
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
