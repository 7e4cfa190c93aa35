/* SPDX-License-Identifier: Apache-2.0
 * blocks.c: see blocks.h. The views "timeline", of which it is a part, and "block": one that no event speaks of. */
#include "views/memory_profile/blocks.h"

#include "base/select.h"
#include "base/sort.h"
#include "read/torch/torch_snapshot.h"

/* One that is there in the window. */
struct drawn_block {
    double area;    /* bytes by picoseconds in the window */
    uint32_t event; /* that allocates it, or frees what was live before; PROFILE_NONE: it has no event */
    uint32_t kept;  /* then the snapshot's block */
};

struct drawn_blocks {
    const struct memory_profile_drawn *drawn;
    const struct memory_profile_bands *bands;
    struct arena *arena;
    struct drawn_block *items; /* room for twice `limit` */
    uint32_t count, limit, all_count;
    const struct drawn_block *worst; /* of `limit` larger ones that are known; NULL: there are not as many */
};

static int larger_first(const void *left, const void *right, void *context)
{
    const struct drawn_block *a = left, *b = right;
    (void)context;
    return ORDER(b->area, a->area) ?: ORDER(a->event, b->event) ?: ORDER(a->kept, b->kept);
}

/* Which events, counted from the pool's first, it begins at and ends at: -1: before them all; UINT32_MAX: never. */
static void life_of(const struct memory_profile_pool *pool, const struct drawn_block *block, int64_t *from, int64_t *to)
{
    const struct memory_profile *profile = pool->profile;
    *from = -1;
    *to = UINT32_MAX;
    if (block->event == PROFILE_NONE)
        return;
    uint32_t partner = profile->partner[block->event];
    if (memory_profile_is_free(profile, block->event)) {
        *to = block->event - pool->first;
        return;
    }
    *from = block->event - pool->first;
    if (partner != PROFILE_NONE)
        *to = partner - pool->first;
}

/* Once there are twice as many as requested, drops the smaller half. */
static void blocks_cut(struct drawn_blocks *blocks)
{
    select_smallest(blocks->arena, blocks->items, blocks->count, sizeof(*blocks->items), blocks->limit, larger_first,
                    NULL);
    blocks->count = blocks->limit;
    blocks->worst = &blocks->items[0];
    for (uint32_t i = 1; i < blocks->count; i++)
        if (larger_first(&blocks->items[i], blocks->worst, NULL) > 0)
            blocks->worst = &blocks->items[i];
}

static void block_take(struct drawn_blocks *blocks, struct drawn_block block, int64_t bytes)
{
    const struct memory_profile_window *window = blocks->drawn->window;
    const struct memory_profile_pool *pool = blocks->drawn->pool;
    int64_t from, to, begin_ps = window->from_ps, end_ps = window->to_ps;
    life_of(pool, &block, &from, &to);
    if (bytes <= 0 || from >= window->end || to < window->first)
        return;
    if (from >= window->first)
        begin_ps = pool->profile->time_ps[pool->first + from];
    if (to < window->end)
        end_ps = pool->profile->time_ps[pool->first + to];
    block.area = (double)bytes * ((double)end_ps - (double)begin_ps + 1);
    blocks->all_count++;
    if (blocks->worst != NULL && larger_first(&block, blocks->worst, NULL) > 0)
        return;
    blocks->items[blocks->count++] = block;
    if (blocks->count == 2 * blocks->limit)
        blocks_cut(blocks);
}

static void blocks_find(struct drawn_blocks *blocks)
{
    const struct memory_profile_pool *pool = blocks->drawn->pool;
    const struct memory_profile *profile = pool->profile;
    arena_work(blocks->arena, pool->count);
    for (uint32_t event = pool->first; event < pool->first + pool->count; event++) {
        uint32_t partner = profile->partner[event];
        /* A free of what an event allocates ends that one's life; an event that is its own partner tells of nothing. */
        if (partner != event && (partner == PROFILE_NONE || !memory_profile_is_free(profile, event)))
            block_take(blocks, (struct drawn_block){.event = event, .kept = PROFILE_NONE}, profile->size_bytes[event]);
    }
    for (uint32_t i = 0; pool->torch.is_known && i < pool->torch.kept_count; i++)
        block_take(blocks, (struct drawn_block){.event = PROFILE_NONE, .kept = pool->torch.kept[i]},
                   profile->events.snapshot->blocks[pool->torch.kept[i]].requested_bytes);
    select_smallest(blocks->arena, blocks->items, blocks->count, sizeof(*blocks->items),
                    blocks->count < blocks->limit ? blocks->count : blocks->limit, larger_first, NULL);
    blocks->count = blocks->count < blocks->limit ? blocks->count : blocks->limit;
    arena_work(blocks->arena, select_work(blocks->count));
    sort_items(blocks->items, blocks->count, sizeof(*blocks->items), larger_first, NULL);
}

void memory_profile_blocks_line(struct json *json, const struct memory_profile *profile, uint32_t stack,
                                struct arena *arena)
{
    const struct torch_snapshot *snapshot = profile->events.snapshot;
    if (snapshot == NULL || stack >= snapshot->stack_count)
        return;
    uint32_t frame = torch_snapshot_line_frame(snapshot, stack);
    if (frame < snapshot->frame_count)
        memory_profile_views_text(json, "line", torch_snapshot_frame_words(&snapshot->frames[frame], arena));
}

static void maker_write(struct json *json, const struct memory_profile *profile, const struct memory_what *what,
                        struct arena *arena)
{
    memory_profile_views_text(json, "op", memory_profile_text(profile, what->op));
    memory_profile_blocks_line(json, profile, what->stack, arena);
}

static void category_write(struct json *json, const struct memory_profile *profile, const struct memory_what *what)
{
    memory_profile_views_text(json, "category", memory_profile_what_category(profile, what));
    memory_profile_views_text(json, "confidence", memory_profile_what_confidence(profile, what));
}

static void block_write(struct json *json, const struct drawn_blocks *blocks, const struct drawn_block *block)
{
    const struct memory_profile_pool *pool = blocks->drawn->pool;
    const struct memory_profile *profile = pool->profile;
    int64_t from, to;
    life_of(pool, block, &from, &to);
    bool has_event = block->event != PROFILE_NONE;
    json_object_begin(json);
    json_key_known(json, "event", has_event ? (int64_t)(block->event - pool->first) : -1);
    json_key_known(json, "block", has_event ? -1 : (int64_t)block->kept);
    json_key_known(json, "from_event", from);
    json_key_known(json, "to_event", to == UINT32_MAX ? -1 : to);
    memory_profile_views_bytes(json, "born_ps", from < 0 ? MEMORY_UNKNOWN : profile->time_ps[pool->first + from]);
    memory_profile_views_bytes(json, "freed_ps",
                               to == UINT32_MAX ? MEMORY_UNKNOWN : profile->time_ps[pool->first + to]);
    json_key_int(json, "size_bytes",
                 has_event ? profile->size_bytes[block->event]
                           : profile->events.snapshot->blocks[block->kept].requested_bytes);
    const struct memory_what *what = memory_profile_what_at(profile, block->event, block->kept);
    if (from >= 0 || !has_event) { /* of what was there before, the free tells who frees it */
        maker_write(json, profile, what, blocks->arena);
        memory_profile_views_text(json, "shape", memory_profile_text(profile, what->shape));
        memory_profile_views_text(json, "program", memory_profile_what_program(profile, what));
        memory_profile_views_text(json, "role", memory_profile_what_role(profile, what));
    }
    category_write(json, profile, what);
    json_key_known(json, "band", memory_profile_stacked_place(blocks->bands, block->event, block->kept));
    json_object_end(json);
}

void memory_profile_blocks_write(const struct tool_request *request, const struct memory_profile_drawn *drawn,
                                 const struct memory_profile_bands *bands, uint32_t limit, struct json *json)
{
    struct drawn_blocks blocks = {.drawn = drawn, .bands = bands, .arena = request->arena, .limit = limit};
    if (limit == 0)
        return;
    blocks.items = arena_array(request->arena, struct drawn_block, 2 * (size_t)limit);
    blocks_find(&blocks);
    json_key_array(json, "blocks");
    for (uint32_t i = 0; i < blocks.count; i++)
        block_write(json, &blocks, &blocks.items[i]);
    json_array_end(json);
    json_key_uint(json, "block_count", blocks.all_count);
}

static const char *state_word(enum torch_state state)
{
    return state == TORCH_PENDING_FREE ? "pending_free" : "allocated";
}

bool memory_profile_block(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct memory_profile_pool *pool = memory_profile_views_pool(request, err);
    int64_t id;
    if (pool == NULL || !tool_param_number(request, "id", 0, UINT32_MAX - 1, -1, &id, err))
        return false;
    if (id < 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "id: the number of a block is missing");
    uint32_t at = 0, count = pool->torch.is_known ? pool->torch.kept_count : 0;
    while (at < count && pool->torch.kept[at] != (uint32_t)id)
        at++;
    if (at == count)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET,
                       "this memory has no block %lld that was there before the recording and is there at its end",
                       (long long)id);
    const struct memory_profile *profile = pool->profile;
    const struct torch_block *block = &profile->events.snapshot->blocks[id];
    const struct memory_what *what = memory_profile_what_at(profile, PROFILE_NONE, (uint32_t)id);
    json_object_begin(json);
    memory_profile_views_memory(json, pool);
    json_key_int(json, "block", id);
    json_key_int(json, "size_bytes", block->requested_bytes);
    json_key_int(json, "rounded_bytes", block->size_bytes);
    memory_profile_views_address(json, "address", block->address, true);
    json_key_text(json, "state", state_word(block->state));
    maker_write(json, profile, what, request->arena);
    category_write(json, profile, what);
    memory_profile_views_text(json, "region", memory_profile_text(profile, what->region));
    memory_profile_views_rule(json, profile, what);
    memory_profile_views_stack(json, "stack", profile, what->stack);
    json_object_end(json);
    return true;
}
