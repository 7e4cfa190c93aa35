/* SPDX-License-Identifier: Apache-2.0
 * replay_check.c: see replay.h. */
#include "model/memory_profile/replay.h"

struct check {
    struct replay_walk walk;
    struct memory_profile_replay *out;
    struct chunks expected; /* struct caching_change: what the next request asks of the driver */
    size_t expected_at;     /* those before have been given out */
};

static uint64_t place_as_recorded(void *context, int64_t size_bytes, bool is_expandable)
{
    struct check *check = context;
    for (size_t i = check->expected_at; i < check->expected.count; i++) {
        const struct caching_change *change = &CHUNKS_AT(&check->expected, struct caching_change, i);
        bool is_it = is_expandable ? change->step == CACHING_SEGMENT_MAP
                                   : change->step == CACHING_SEGMENT_ALLOC && change->size_bytes == size_bytes;
        if (!is_it)
            continue;
        check->expected_at = is_expandable ? i : i + 1;
        return change->address;
    }
    return replay_walk_address(&check->walk, size_bytes, is_expandable);
}

static void replay_differs(struct check *check, uint32_t at, int64_t recorded_bytes, int64_t made_bytes)
{
    if (!check->out->is_exact)
        return;
    check->out->is_exact = false;
    check->out->differs_at = at;
    check->out->recorded_bytes = recorded_bytes;
    check->out->made_bytes = made_bytes;
}

/* What was recorded since the request before, and what the rules made of this one. */
static void request_compare(struct check *check, uint32_t at)
{
    struct caching *caching = &check->walk.caching;
    int64_t recorded_bytes = 0, made_bytes = 0;
    bool is_equal = caching->change_count == check->expected.count;
    for (size_t i = 0; i < check->expected.count; i++) {
        const struct caching_change *recorded = &CHUNKS_AT(&check->expected, struct caching_change, i);
        recorded_bytes += caching_change_bytes(recorded);
        is_equal = is_equal && recorded->step == caching->changes[i].step &&
                   recorded->size_bytes == caching->changes[i].size_bytes &&
                   recorded->address == caching->changes[i].address;
    }
    for (size_t i = 0; i < caching->change_count; i++) {
        made_bytes += caching_change_bytes(&caching->changes[i]);
        check->out->made_count += caching_change_bytes(&caching->changes[i]) > 0;
    }
    if (!is_equal)
        replay_differs(check, at, recorded_bytes, made_bytes);
    caching->change_count = check->expected.count = check->expected_at = 0;
}

/* Pages go back where all that is free does: the rules say which. */
static void pages_compare(struct check *check, const struct torch_event *events, uint32_t count, uint32_t at)
{
    struct caching *caching = &check->walk.caching;
    int64_t recorded_bytes = 0, made_bytes = 0;
    caching->change_count = 0;
    caching_release(caching);
    for (uint32_t i = 0; i < count; i++)
        recorded_bytes -= events[i].size_bytes;
    for (size_t i = 0; i < caching->change_count; i++)
        made_bytes += caching_change_bytes(&caching->changes[i]);
    if (recorded_bytes != made_bytes || caching->change_count != count)
        replay_differs(check, at, recorded_bytes, made_bytes);
    caching->change_count = 0;
}

static void run_follow(struct check *check, const struct torch_event *events, uint32_t count, uint32_t at)
{
    struct caching *caching = &check->walk.caching;
    bool has_pages = false;
    for (uint32_t i = 0; i < count; i++)
        has_pages |= events[i].action == TORCH_SEGMENT_UNMAP;
    if (has_pages) {
        pages_compare(check, events, count, at);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!caching_release_one(caching, events[i].address, events[i].size_bytes))
            replay_differs(check, at, -events[i].size_bytes, 0);
    caching->change_count = 0;
}

/* By the rules there is no room for it either. */
static void failure_check(struct check *check, const struct torch_event *event, uint32_t at)
{
    struct caching *caching = &check->walk.caching;
    caching->device_bytes = caching->reserved.bytes > 0 ? caching->reserved.bytes : 1;
    uint32_t block = replay_walk_try(&check->walk, event, event->size_bytes);
    caching->device_bytes = 0;
    if (block != CACHING_NONE)
        replay_differs(check, at, event->size_bytes, 0);
    caching->change_count = 0;
}

static void between_check(struct check *check, uint32_t at)
{
    const struct memory_profile_torch *torch = &check->walk.ground->pool->torch;
    while (check->walk.torch_at < torch->event_count && torch->events[check->walk.torch_at].event_at <= at) {
        const struct torch_event *event = &torch->events[check->walk.torch_at];
        uint32_t end = replay_driver_run_end(torch, check->walk.torch_at);
        if (end > check->walk.torch_at) {
            run_follow(check, event, end - check->walk.torch_at, at);
            check->walk.torch_at = end;
            continue;
        }
        if (torch_snapshot_driver_sign(event) > 0) {
            enum caching_step step = event->action == TORCH_SEGMENT_ALLOC ? CACHING_SEGMENT_ALLOC : CACHING_SEGMENT_MAP;
            CHUNKS_ADD(&check->expected, struct caching_change,
                       ((struct caching_change){step, event->address, event->size_bytes}));
            check->out->segment_count++;
        } else if (event->action == TORCH_FREE_REQUESTED) {
            replay_walk_ask_free(&check->walk, event->address);
        } else if (event->action == TORCH_OOM && check->out->is_exact) {
            failure_check(check, event, at);
        }
        check->walk.torch_at++;
    }
}

static void check_run(struct check *check)
{
    const struct memory_profile_pool *pool = check->walk.ground->pool;
    const struct memory_profile *profile = pool->profile;
    for (uint32_t at = 0; at < pool->count; at++) {
        uint32_t event = pool->first + at;
        between_check(check, at);
        if (memory_profile_is_free(profile, event)) {
            replay_walk_free(&check->walk, profile->address[event]);
            continue;
        }
        uint32_t block = replay_walk_request(&check->walk, at);
        if (block == CACHING_NONE)
            continue;
        check->out->moved_count +=
            caching_blocks_at(&check->walk.caching.blocks, block)->address != profile->address[event];
        if (check->expected.count > 0 || check->walk.caching.change_count > 0)
            request_compare(check, at);
    }
    between_check(check, pool->count);
    if (check->expected.count > 0)
        request_compare(check, pool->count); /* for what was it? no request tells */
}

void replay_check_make(const struct replay_ground *ground, struct arena *arena, struct memory_profile_replay *out)
{
    struct check check = {.out = out};
    replay_walk_begin(&check.walk, ground, &out->settings, (struct replay_start){.is_upwards = false}, arena);
    chunks_init(&check.expected, arena, sizeof(struct caching_change));
    check.walk.caching.place = place_as_recorded;
    check.walk.caching.context = &check;
    out->is_whole = ground->driver.first_bytes == 0 && check.walk.caching.requested.bytes == 0;
    out->is_exact = true;
    check_run(&check);
    out->requested_bytes = check.walk.caching.requested.peak_bytes;
    out->allocated_bytes = check.walk.caching.allocated.peak_bytes;
    out->made_reserved_bytes = check.walk.caching.reserved.peak_bytes;
}
