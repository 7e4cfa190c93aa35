/* SPDX-License-Identifier: Apache-2.0
 * failures.c: see failures.h. */
#include "model/memory_profile/failures.h"

#include "base/size_text.h"
#include "memory/allocator/caching_settings.h"
#include "model/finding.h"
#include "model/memory_profile/finding.h"
#include "model/memory_profile/held_blocks.h"

/* Events that are walked for all failures of a pool together: the latest ones are looked into. */
static const uint64_t WALKED_EVENTS = UINT64_C(1) << 25;

static const char *const kinds[] = {
    [PROFILE_FAILURE_FRAGMENTATION] = "fragmentation",
    [PROFILE_FAILURE_ELSEWHERE] = "elsewhere",
    [PROFILE_FAILURE_PIECES] = "pieces",
    [PROFILE_FAILURE_SHORTAGE] = "shortage",
    [PROFILE_FAILURE_LIMIT] = "limit",
    [PROFILE_FAILURE_FITS] = "fits",
    [PROFILE_FAILURE_UNKNOWN] = "unknown",
};

const char *memory_profile_failures_kind(const struct memory_profile_failure *failure) { return kinds[failure->kind]; }

struct memory_profile_moment memory_profile_failures_moment(const struct memory_profile_failure *failure)
{
    return (struct memory_profile_moment){failure->count, failure->time_ps, failure->rare_count};
}

/* ---- what was free ---- */

/* Private pools are of CUDA graphs and of MemPools. */
bool memory_profile_failures_is_usable(const struct memory_profile_failure *failure,
                                       const struct memory_profile_segment *segment)
{
    enum memory_profile_class other =
        failure->requested_bytes <= CACHING_SMALL_BYTES ? PROFILE_CLASS_LARGE : PROFILE_CLASS_SMALL;
    return segment->stream == failure->stream && segment->class != other && segment->pool_id[0] == 0 &&
           segment->pool_id[1] == 0;
}

static enum memory_profile_failure_kind kind_of(const struct memory_profile_failure *failure)
{
    int64_t requested = failure->requested_bytes,
            device = failure->device_free_bytes == MEMORY_UNKNOWN ? 0 : failure->device_free_bytes;
    return failure->largest_hole_bytes >= requested    ? PROFILE_FAILURE_FITS
           : device >= requested                       ? PROFILE_FAILURE_LIMIT
           : failure->usable_free_bytes >= requested   ? PROFILE_FAILURE_FRAGMENTATION
           : failure->free_bytes >= requested          ? PROFILE_FAILURE_ELSEWHERE
           : failure->free_bytes + device >= requested ? PROFILE_FAILURE_PIECES
                                                       : PROFILE_FAILURE_SHORTAGE;
}

static int64_t bytes_of(uint64_t bytes) { return bytes > SUM_MAX_BYTES ? SUM_MAX_BYTES : (int64_t)bytes; }

static void failure_look(const struct memory_profile_pool *pool, struct memory_profile_failure *failure,
                         struct arena *arena)
{
    struct arena *scratch = arena_child(arena);
    const struct memory_profile_moment moment = memory_profile_failures_moment(failure);
    struct memory_profile_held held;
    uint64_t usable_free = 0, largest = 0, largest_any = 0;
    memory_profile_held_find(pool, &moment, scratch, &held);
    for (uint32_t i = 0; i < held.segment_count; i++) {
        const struct memory_profile_segment *segment = &held.segments[i];
        largest_any = segment->largest_hole_bytes > largest_any ? segment->largest_hole_bytes : largest_any;
        if (!memory_profile_failures_is_usable(failure, segment))
            continue;
        usable_free += segment->size_bytes - segment->used_bytes;
        largest = segment->largest_hole_bytes > largest ? segment->largest_hole_bytes : largest;
        failure->is_expandable |= segment->is_expandable;
    }
    if (held.segment_count > 0) {
        failure->reserved_bytes = bytes_of(held.reserved_bytes);
        failure->free_bytes = bytes_of(held.reserved_bytes - held.used_bytes);
        failure->pending_bytes = bytes_of(held.pending_bytes);
        failure->usable_free_bytes = bytes_of(usable_free);
        failure->largest_hole_bytes = bytes_of(largest);
        failure->largest_any_bytes = bytes_of(largest_any);
        failure->kind = kind_of(failure);
        if (failure->kind == PROFILE_FAILURE_SHORTAGE && failure->device_free_bytes != MEMORY_UNKNOWN)
            failure->missing_bytes = failure->requested_bytes - failure->free_bytes - failure->device_free_bytes;
    }
    arena_free(scratch);
}

/* ---- all of them ---- */

/* The one list of the file that the pool's events are from; several that no device names are one pool. */
static void torch_set(struct memory_profile_pool *pool, struct arena *arena)
{
    const struct memory_events *events = &pool->profile->events;
    uint32_t found = PROFILE_NONE, count = 0;
    for (uint32_t i = 0; i < events->pool_count; i++)
        if (str_equal(events->pools[i].name, pool->name)) {
            found = i;
            count++;
        }
    pool->torch.kept = memory_profile_held_blocks_kept(pool, arena, &pool->torch.kept_count);
    if (count != 1)
        return;
    pool->torch.is_known = true;
    pool->torch.events = events->snapshot->events + events->snapshot->pool_events[found];
    pool->torch.event_count = events->snapshot->pool_events[found + 1] - events->snapshot->pool_events[found];
}

static void failures_gather(struct memory_profile_pool *pool, struct arena *arena)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < pool->torch.event_count; i++)
        count += pool->torch.events[i].action == TORCH_OOM;
    pool->failures = arena_array(arena, struct memory_profile_failure, (size_t)count + 1);
    for (uint32_t i = 0; i < pool->torch.event_count; i++) {
        const struct torch_event *event = &pool->torch.events[i];
        if (event->action != TORCH_OOM)
            continue;
        pool->failures[pool->failure_count++] = (struct memory_profile_failure){
            .time_ps = event->offset_ps,
            .count = event->event_at,
            .rare_count = i,
            .stack = event->stack,
            .stream = event->stream,
            .requested_bytes = event->size_bytes,
            .device_free_bytes = event->device_free_bytes,
            .active_bytes = memory_profile_in_use_after(pool, event->event_at),
            .reserved_bytes = MEMORY_UNKNOWN,
            .free_bytes = MEMORY_UNKNOWN,
            .pending_bytes = MEMORY_UNKNOWN,
            .usable_free_bytes = MEMORY_UNKNOWN,
            .largest_hole_bytes = MEMORY_UNKNOWN,
            .largest_any_bytes = MEMORY_UNKNOWN,
            .missing_bytes = MEMORY_UNKNOWN,
            .kind = PROFILE_FAILURE_UNKNOWN,
        };
    }
}

void memory_profile_failures_make(struct memory_profile *profile, struct arena *arena)
{
    for (uint32_t p = 0; p < profile->pool_count && profile->events.snapshot != NULL; p++) {
        struct memory_profile_pool *pool = &profile->pools[p];
        torch_set(pool, arena);
        failures_gather(pool, arena);
        uint64_t cost = (uint64_t)pool->count + pool->torch.event_count + 1024, most = WALKED_EVENTS / cost + 1;
        for (uint32_t i = pool->failure_count; i-- > 0 && most-- > 0;)
            failure_look(pool, &pool->failures[i], arena);
    }
}

const struct memory_profile_failure *memory_profile_failures_at(const struct memory_profile_pool *pool, int64_t time_ps)
{
    for (uint32_t i = pool->failure_count; i-- > 0;)
        if (pool->failures[i].time_ps == time_ps)
            return &pool->failures[i];
    return NULL;
}

/* ---- the sentences ---- */

struct finding *memory_profile_failures_met(const struct memory_profile_failure *failure, struct arena *arena)
{
    struct finding *finding = finding_begin(arena, "failed_request", NULL);
    finding_text(finding, "a request failed: it asked for ");
    finding_size(finding, failure->requested_bytes);
    if (failure->largest_hole_bytes == MEMORY_UNKNOWN) {
        finding_text(finding, "; what was free then is not known");
    } else if (failure->largest_hole_bytes == 0) {
        finding_text(finding, ", and no free piece could take it");
    } else {
        finding_text(finding, ", and the largest free piece that it could take is ");
        finding_size(finding, failure->largest_hole_bytes);
    }
    return finding_end(finding);
}

/* Where less of the segments than this part is free, pieces are not what fills them. */
enum { FREE_PART = 20 };

bool memory_profile_failures_is_full(const struct memory_profile_failure *failure)
{
    return failure->free_bytes < failure->reserved_bytes / FREE_PART;
}

static void say_why(struct finding *finding, const struct memory_profile_failure *failure)
{
    switch (failure->kind) {
    case PROFILE_FAILURE_FRAGMENTATION:
        finding_text(finding, memory_profile_failures_is_full(failure)
                                  ? ": nearly all of PyTorch's memory is in use, and what is free is in pieces"
                                  : ": fragmentation, not shortage");
        break;
    case PROFILE_FAILURE_ELSEWHERE:
        finding_text(finding, ": what is free belongs to other streams, pools or sizes of requests");
        break;
    case PROFILE_FAILURE_PIECES: finding_text(finding, ": enough together, but not in one piece"); break;
    case PROFILE_FAILURE_LIMIT:
        finding_text(finding,
                     ": the device had room that PyTorch was not allowed to take (a memory fraction, or a limit)");
        break;
    case PROFILE_FAILURE_FITS: finding_text(finding, ", which is enough: why it failed is not recorded"); break;
    case PROFILE_FAILURE_SHORTAGE:
        if (failure->missing_bytes != MEMORY_UNKNOWN) {
            finding_text(finding, ": ");
            finding_size(finding, failure->missing_bytes);
            finding_text(finding, " too little even in one piece");
        }
        break;
    case PROFILE_FAILURE_UNKNOWN: break;
    }
}

struct finding *memory_profile_failures_finding(const struct memory_profile_pool *pool, uint32_t at,
                                                struct arena *arena)
{
    char count[COUNT_TEXT_BYTES], number[COUNT_TEXT_BYTES];
    const struct memory_profile_failure *failure = &pool->failures[at];
    struct finding *finding = finding_begin(arena, "failed_request", "holes");
    finding_text(finding, "a request of ");
    finding_size(finding, failure->requested_bytes);
    if (pool->failure_count > 1 && at + 1 == pool->failure_count)
        finding_text(finding, ", the last of %s that failed,", size_text_count(count, pool->failure_count));
    else if (pool->failure_count > 1)
        finding_text(finding, ", number %s of %s that failed,", size_text_count(number, at + 1),
                     size_text_count(count, pool->failure_count));
    finding_text(finding, " failed");
    memory_profile_finding_time(finding, failure->time_ps);
    if (failure->device_free_bytes != MEMORY_UNKNOWN) {
        finding_text(finding, ": the device had ");
        finding_size(finding, failure->device_free_bytes);
        finding_text(finding, " free");
    }
    if (failure->free_bytes != MEMORY_UNKNOWN) {
        finding_text(finding, failure->device_free_bytes != MEMORY_UNKNOWN ? ", PyTorch " : ": PyTorch had ");
        finding_size(finding, failure->free_bytes);
        finding_text(finding, " of its ");
        finding_size(finding, failure->reserved_bytes);
        finding_text(finding,
                     failure->largest_hole_bytes > 0 ? ", the largest hole " : ", no free piece that it could use");
        if (failure->largest_hole_bytes > 0)
            finding_size(finding, failure->largest_hole_bytes);
    }
    say_why(finding, failure);
    finding_param(finding, "memory", pool->name);
    finding_param(finding, "failure", str_of(arena_format(arena, "%u", at)));
    finding_param(finding, "time", str_of(arena_format(arena, "%lld", (long long)failure->time_ps)));
    return finding_end(finding);
}
