/* SPDX-License-Identifier: Apache-2.0
 * torch_chains.c: what is in use after an event is what was before it, and its size. Where that does not hold of one
 * event, but of those on both sides of it, one of its two numbers is odd. */
#include "read/torch/torch_reading.h"

struct chain {
    struct memory_events *out;
    struct torch_chains *found;
    struct arena *arena;
    uint32_t looked_count;
    uint32_t *next; /* event of the same device; UINT32_MAX: there is none */
};

static bool has_flag(const struct chain *chain, uint32_t at, enum memory_flag flag)
{
    return (COLUMN_AT(&chain->out->flags, uint8_t, at) & flag) != 0;
}

static int64_t change_of(const struct chain *chain, uint32_t at)
{
    int64_t bytes = COLUMN_AT(&chain->out->size_bytes, int64_t, at);
    return has_flag(chain, at, MEMORY_FREED) ? -bytes : bytes;
}

static int64_t in_use_of(const struct chain *chain, uint32_t at)
{
    return COLUMN_AT(&chain->out->in_use_bytes, int64_t, at);
}

static void in_use_set(struct chain *chain, uint32_t at, int64_t bytes)
{
    COLUMN_AT(&chain->out->in_use_bytes, int64_t, at) = bytes;
    COLUMN_AT(&chain->out->flags, uint8_t, at) |= MEMORY_HAS_IN_USE;
}

static void change_set(struct chain *chain, uint32_t at, int64_t change)
{
    uint8_t *flags = &COLUMN_AT(&chain->out->flags, uint8_t, at);
    COLUMN_AT(&chain->out->size_bytes, int64_t, at) = change < 0 ? -change : change;
    *flags = (uint8_t)((*flags & ~MEMORY_FREED) | MEMORY_HAS_SIZE | (change < 0 ? MEMORY_FREED : 0));
}

/* What was in use before the event, as it says itself; -1: it does not. */
static int64_t before_of(const struct chain *chain, uint32_t at)
{
    bool is_told = at != UINT32_MAX && has_flag(chain, at, MEMORY_HAS_SIZE) && has_flag(chain, at, MEMORY_HAS_IN_USE);
    int64_t bytes = is_told ? in_use_of(chain, at) - change_of(chain, at) : -1;
    return bytes < 0 ? -1 : bytes;
}

/* The size that the free of the allocation tells; -1: none. */
static int64_t freed_of(const struct chain *chain, uint32_t at)
{
    if (!has_flag(chain, at, MEMORY_HAS_ADDRESS))
        return -1;
    uint64_t address = COLUMN_AT(&chain->out->address, uint64_t, at);
    for (uint32_t i = chain->next[at]; i != UINT32_MAX; i = chain->next[i]) {
        arena_work(chain->arena, 1);
        if (COLUMN_AT(&chain->out->address, uint64_t, i) == address && has_flag(chain, i, MEMORY_HAS_ADDRESS))
            return has_flag(chain, i, MEMORY_FREED) ? COLUMN_AT(&chain->out->size_bytes, int64_t, i) : -1;
    }
    return -1;
}

/* An allocation of more than is in use after it: its free may tell the size. */
static void first_size_settle(struct chain *chain, uint32_t at)
{
    int64_t freed = freed_of(chain, at);
    if (freed >= 0 && freed <= in_use_of(chain, at))
        change_set(chain, at, freed);
    else
        COLUMN_AT(&chain->out->flags, uint8_t, at) &= (uint8_t)~MEMORY_HAS_SIZE;
    chain->found->size_count++;
}

/* The first event of a device. */
static void first_settle(struct chain *chain, uint32_t at)
{
    int64_t behind = before_of(chain, chain->next[at]);
    bool has_both = has_flag(chain, at, MEMORY_HAS_SIZE) && has_flag(chain, at, MEMORY_HAS_IN_USE);
    uint32_t second = chain->next[at];
    bool goes_on = behind >= 0 && before_of(chain, chain->next[second]) == in_use_of(chain, second);
    if (has_both && before_of(chain, at) < 0 && behind == in_use_of(chain, at)) {
        first_size_settle(chain, at);
        return;
    }
    bool is_odd = has_both && (before_of(chain, at) < 0 || (goes_on && behind != in_use_of(chain, at)));
    if ((is_odd || !has_flag(chain, at, MEMORY_HAS_IN_USE)) && behind >= 0)
        in_use_set(chain, at, behind);
    else if (is_odd)
        COLUMN_AT(&chain->out->flags, uint8_t, at) &= (uint8_t)~MEMORY_HAS_IN_USE;
    chain->found->total_count += is_odd;
}

/* It changes nothing here. */
static void foreign_settle(struct chain *chain, uint32_t at, int64_t in_use_bytes)
{
    in_use_set(chain, at, in_use_bytes);
    COLUMN_AT(&chain->out->size_bytes, int64_t, at) = 0;
    COLUMN_AT(&chain->out->flags, uint8_t, at) &= (uint8_t)~MEMORY_HAS_ADDRESS;
    chain->found->foreign_count++;
}

/* What the event tells is not what the one before it and its size give. */
static void break_settle(struct chain *chain, uint32_t at, int64_t before)
{
    int64_t change = change_of(chain, at), told = in_use_of(chain, at) - before;
    int64_t behind = before_of(chain, chain->next[at]);
    if (before + change >= 0 && behind == before + change) {
        in_use_set(chain, at, before + change);
        chain->found->total_count++;
    } else if (behind == before && change != 0 && behind != in_use_of(chain, at)) {
        foreign_settle(chain, at, before);
    } else if (told != 0 && behind == in_use_of(chain, at)) {
        bool is_other_sign = change == 0 || (told < 0) != (change < 0);
        bool is_odd =
            is_other_sign || (told > 0 && chain->looked_count++ < TORCH_MAX_LOST && freed_of(chain, at) == told);
        if (is_odd)
            change_set(chain, at, told);
        chain->found->size_count += is_odd;
    }
}

static void event_settle(struct chain *chain, uint32_t last, uint32_t at)
{
    if (!has_flag(chain, last, MEMORY_HAS_IN_USE))
        return;
    int64_t before = in_use_of(chain, last), change = change_of(chain, at);
    if (!has_flag(chain, at, MEMORY_HAS_SIZE))
        change_set(chain, at, in_use_of(chain, at) - before); /* it is counted */
    else if (!has_flag(chain, at, MEMORY_HAS_IN_USE) && before + change >= 0)
        in_use_set(chain, at, before + change);
    else if (has_flag(chain, at, MEMORY_HAS_IN_USE) && in_use_of(chain, at) - before != change)
        break_settle(chain, at, before);
}

void torch_chains_settle(struct memory_events *out, struct arena *scratch, struct torch_chains *found)
{
    struct chain chain = {
        .out = out, .found = found, .arena = scratch, .next = arena_array(scratch, uint32_t, out->count + 1)};
    uint32_t *last = arena_array(scratch, uint32_t, out->pool_count + 1);
    for (size_t pool = 0; pool < out->pool_count; pool++)
        last[pool] = UINT32_MAX;
    for (uint32_t i = (uint32_t)out->count; i-- > 0;) {
        uint32_t *behind = &last[COLUMN_AT(&out->pool, uint16_t, i)];
        chain.next[i] = *behind;
        *behind = i;
    }
    for (size_t pool = 0; pool < out->pool_count; pool++)
        last[pool] = UINT32_MAX;
    for (uint32_t i = 0; i < out->count; i++) {
        uint32_t *before = &last[COLUMN_AT(&out->pool, uint16_t, i)];
        if (*before == UINT32_MAX)
            first_settle(&chain, i);
        else
            event_settle(&chain, *before, i);
        *before = i;
    }
}
