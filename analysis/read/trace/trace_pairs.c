/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/trace_pairs.h"

#include "base/table.h"

#define NONE MAP_NONE

/* A pair with so many on both sides links everything with everything: it means nothing. */
enum { CROWD = 64 };

/* One side: its links, and the number of the pair of each. */
struct side {
    const struct trace_link *links;
    size_t count;
    uint32_t *pair_of;   /* NONE: the other side has no such pair */
    uint32_t *places_of; /* of each pair: how many links, then where the next one goes */
};

/* Numbers the pairs of the consumers, and returns how many there are. */
static uint32_t pairs_number(struct side *producers, struct side *consumers, struct arena *scratch)
{
    struct table pairs;
    table_init(&pairs, scratch, 2);
    for (size_t c = 0; c < consumers->count; c++)
        consumers->pair_of[c] =
            table_number_near(&pairs, (uint64_t[]){consumers->links[c].type, consumers->links[c].id}, 2, &pairs.last);
    for (size_t p = 0; p < producers->count; p++)
        producers->pair_of[p] = table_find(&pairs, (uint64_t[]){producers->links[p].type, producers->links[p].id}, 2);
    return (uint32_t)table_count(&pairs);
}

static void side_count(struct side *side, uint32_t pair_count, struct arena *scratch)
{
    side->places_of = arena_array(scratch, uint32_t, (size_t)pair_count + 1);
    for (size_t i = 0; i < side->count; i++)
        if (side->pair_of[i] != NONE)
            side->places_of[side->pair_of[i]]++;
}

static uint32_t *side_place(const struct side *side, struct arena *arena)
{
    uint32_t *nodes = arena_raw(arena, (side->count + 1) * sizeof(*nodes));
    for (size_t i = 0; i < side->count; i++)
        if (side->pair_of[i] != NONE && side->places_of[side->pair_of[i]] != NONE)
            nodes[side->places_of[side->pair_of[i]]++] = side->links[i].node;
    return nodes;
}

void trace_pairs_make(const struct trace_link *producers, size_t producer_count, const struct trace_link *consumers,
                      size_t consumer_count, struct arena *arena, struct arena *work, struct trace_pairs *out)
{
    struct arena *scratch = arena_child(work);
    struct side from = {producers, producer_count, arena_raw(scratch, (producer_count + 1) * sizeof(uint32_t)), NULL};
    struct side to = {consumers, consumer_count, arena_raw(scratch, (consumer_count + 1) * sizeof(uint32_t)), NULL};
    uint32_t pair_count = pairs_number(&from, &to, scratch);
    side_count(&from, pair_count, scratch);
    side_count(&to, pair_count, scratch);
    size_t max = producer_count < pair_count ? producer_count : pair_count;
    out->hubs = arena_raw(arena, (max + 1) * sizeof(*out->hubs));
    out->hub_count = 0;
    for (uint32_t pair = 0, p = 0, c = 0; pair < pair_count; pair++) {
        uint32_t p_count = from.places_of[pair], c_count = to.places_of[pair];
        from.places_of[pair] = to.places_of[pair] = NONE;
        if (p_count == 0 || (p_count >= CROWD && c_count >= CROWD))
            continue;
        out->hubs[out->hub_count++] = (struct trace_hub){p, p + p_count, c, c + c_count};
        from.places_of[pair] = p;
        to.places_of[pair] = c;
        p += p_count;
        c += c_count;
    }
    assert(out->hub_count <= max);
    out->producers = side_place(&from, arena);
    out->consumers = side_place(&to, arena);
    arena_free(scratch);
}
