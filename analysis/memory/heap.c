/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/heap.h"

#include "base/sum.h"

/* What is known of a buffer while the trace runs. */
struct state {
    int32_t user_count;    /* of the memory, at the end of a chain */
    uint32_t canonical_at; /* HEAP_NONE: memory of its own */
    uint32_t ancestor_at;  /* a buffer further up its chain, if known_at_cut is the replay's cut_count */
    uint32_t known_at_cut;
    uint32_t hold_at; /* of the root: the hold that is open, or HEAP_NONE */
    uint32_t span_at; /* HEAP_NONE: none yet */
};

struct replay {
    struct heap *heap;
    struct state *states;
    const int64_t *bytes, *unpadded_bytes;
    int64_t size, unpadded_size;
    uint32_t step;
    uint32_t cut_count; /* how often a buffer left its chain for another one */
    struct arena *arena;
};

static bool heap_fail(struct replay *replay, enum heap_failure failure)
{
    replay->heap->failure = failure;
    replay->heap->failure_at = replay->step;
    return false;
}

static uint32_t above(const struct replay *replay, uint32_t at)
{
    const struct state *state = &replay->states[at];
    return state->known_at_cut == replay->cut_count && state->ancestor_at != HEAP_NONE ? state->ancestor_at
                                                                                       : state->canonical_at;
}

/* The buffer at the end of the chain, whose memory it is. What was walked leads straight there from then on (path
 * compression), until some buffer leaves its chain: which of the shortcuts lead past it is not known. */
static uint32_t root_of(struct replay *replay, uint32_t at)
{
    uint32_t root_at = at;
    uint64_t links = 0;
    for (uint32_t next; (next = above(replay, root_at)) != HEAP_NONE; links++)
        root_at = next;
    arena_work(replay->arena, links);
    for (uint32_t next; at != root_at; at = next) {
        next = above(replay, at);
        replay->states[at].ancestor_at = root_at;
        replay->states[at].known_at_cut = replay->cut_count;
    }
    return root_at;
}

/* Is `at`, which is not the root, on the chain of `from_at`? */
static bool is_above(const struct replay *replay, uint32_t at, uint32_t from_at)
{
    uint64_t links = 0;
    while (from_at != at && from_at != HEAP_NONE) {
        from_at = replay->states[from_at].canonical_at;
        links++;
    }
    arena_work(replay->arena, links);
    return from_at == at;
}

static void span_begin(struct replay *replay, uint32_t buffer_at)
{
    struct heap *heap = replay->heap;
    struct state *state = &replay->states[buffer_at];
    if (state->span_at == HEAP_NONE)
        state->span_at = heap->span_count++;
    heap->spans[state->span_at] = (struct heap_span){buffer_at, replay->step, heap->event_count - 1};
}

static bool heap_take(struct replay *replay, uint32_t root_at, uint32_t shown_at)
{
    struct heap *heap = replay->heap;
    if (replay->size > SUM_MAX_BYTES_TOGETHER || replay->unpadded_size > SUM_MAX_BYTES_TOGETHER)
        return heap_fail(replay, HEAP_TOO_LARGE);
    replay->size = sum_add(replay->size, replay->bytes[root_at]);
    replay->unpadded_size = sum_add(replay->unpadded_size, replay->unpadded_bytes[root_at]);
    replay->states[root_at].hold_at = heap->hold_count;
    heap->holds[heap->hold_count++] = (struct heap_hold){shown_at, root_at, replay->step, heap->event_count};
    span_begin(replay, shown_at);
    if (replay->size > heap->peak_bytes) {
        heap->has_peak = true;
        heap->peak_bytes = replay->size;
        heap->peak_unpadded_bytes = replay->unpadded_size;
        heap->peak_at = replay->step;
    }
    return true;
}

static bool give_back(struct replay *replay, uint32_t root_at)
{
    struct state *state = &replay->states[root_at];
    if (replay->bytes[root_at] > replay->size)
        return heap_fail(replay, HEAP_NEGATIVE);
    replay->size -= replay->bytes[root_at];
    replay->unpadded_size -= replay->unpadded_bytes[root_at];
    if (state->hold_at == HEAP_NONE)
        return true;
    struct heap_hold *hold = &replay->heap->holds[state->hold_at];
    hold->dies = replay->step;
    /* memory that was re-used: the sharer's span ends, the canonical one's has ended before */
    uint32_t span_at = replay->states[hold->buffer_at].span_at;
    if (hold->buffer_at == root_at)
        replay->heap->spans[span_at].limit = replay->step;
    state->hold_at = HEAP_NONE;
    return true;
}

static bool free_event(struct replay *replay, uint32_t buffer_at)
{
    uint32_t root_at = root_of(replay, buffer_at);
    int32_t left = --replay->states[root_at].user_count;
    if (left < 0)
        return heap_fail(replay, HEAP_FREED_TOO_OFTEN);
    if (left == 0 && !give_back(replay, root_at))
        return false;
    struct state *state = &replay->states[buffer_at];
    if (state->span_at != HEAP_NONE && state->canonical_at != HEAP_NONE)
        replay->heap->spans[state->span_at].limit = replay->step;
    return true;
}

static bool share_event(struct replay *replay, uint32_t buffer_at, uint32_t canonical_at)
{
    uint32_t *canonical = &replay->states[buffer_at].canonical_at;
    uint32_t root_at = root_of(replay, canonical_at);
    bool is_cut = *canonical != HEAP_NONE && *canonical != canonical_at;
    if (root_at == buffer_at || (is_cut && is_above(replay, buffer_at, canonical_at)))
        return heap_fail(replay, HEAP_BAD_SHARING);
    replay->cut_count += is_cut;
    *canonical = canonical_at;
    return ++replay->states[root_at].user_count > 1 || heap_take(replay, root_at, buffer_at);
}

static bool event_apply(struct replay *replay, const struct heap_event *event)
{
    if (event->buffer_at == HEAP_NONE) {
        replay->heap->unknown_count++;
        return true;
    }
    switch (event->kind) {
    case HEAP_ALLOC:
        replay->states[root_of(replay, event->buffer_at)].user_count++;
        return heap_take(replay, event->buffer_at, event->buffer_at);
    case HEAP_FREE: return free_event(replay, event->buffer_at);
    case HEAP_SHARE:
        if (event->canonical_at == HEAP_NONE) {
            replay->heap->unknown_count++;
            return true;
        }
        return share_event(replay, event->buffer_at, event->canonical_at);
    case HEAP_UNKNOWN_KIND: break;
    }
    return heap_fail(replay, HEAP_BAD_KIND);
}

void heap_replay(const struct heap_event *events, uint32_t event_count, const int64_t *bytes,
                 const int64_t *unpadded_bytes, uint32_t buffer_count, struct arena *arena, struct heap *out)
{
    *out = (struct heap){.event_count = event_count};
    out->series = arena_array(arena, int64_t, (size_t)event_count + 1);
    out->unpadded_series = arena_array(arena, int64_t, (size_t)event_count + 1);
    out->holds = arena_array(arena, struct heap_hold, (size_t)event_count + 1);
    out->spans = arena_array(arena, struct heap_span, (size_t)event_count + 1);
    struct replay replay = {.heap = out, .bytes = bytes, .unpadded_bytes = unpadded_bytes, .arena = arena};
    replay.states = arena_array(arena, struct state, (size_t)buffer_count + 1);
    for (uint32_t i = 0; i < buffer_count; i++)
        replay.states[i] = (struct state){0, HEAP_NONE, HEAP_NONE, 0, HEAP_NONE, HEAP_NONE};
    for (uint32_t i = 0; i < event_count; i++) {
        out->series[i] = replay.size;
        out->unpadded_series[i] = replay.unpadded_size;
        replay.step = i;
        if (out->failure == HEAP_FINE)
            event_apply(&replay, &events[i]);
    }
    out->series[event_count] = replay.size;
    out->unpadded_series[event_count] = replay.unpadded_size;
    for (uint32_t i = 0; i < out->hold_count; i++)
        out->unfreed_count += out->holds[i].dies == event_count;
}
