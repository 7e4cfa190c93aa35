/* SPDX-License-Identifier: Apache-2.0
 * torch_blocks.c: the blocks of a segment lie one behind the other and fill it. So what one odd number takes away, an
 * address, a size, the segment's sum, a state, its neighbours tell; each is counted as a value that cannot be. */
#include "read/torch/torch_reading.h"

static struct torch_block *block_at(const struct torch_reading *reading, const struct torch_segment *segment,
                                    uint32_t at)
{
    return chunks_at(&reading->blocks, segment->first_block + at);
}

/* Bytes from the block to what follows it; -1: its address, or that of what follows, does not tell. */
static int64_t gap_of(const struct torch_reading *reading, const struct torch_segment *segment, uint32_t at)
{
    const struct torch_block *block = block_at(reading, segment, at);
    bool is_last = at + 1 == segment->block_count;
    uint64_t end =
        is_last ? segment->address + (uint64_t)segment->total_bytes : block_at(reading, segment, at + 1)->address;
    bool is_told = block->address != 0 && end > block->address && (!is_last || segment->total_bytes > 0) &&
                   end - block->address <= (uint64_t)SUM_MAX_BYTES;
    return is_told ? (int64_t)(end - block->address) : -1;
}

static int64_t sum_of(const struct torch_reading *reading, const struct torch_segment *segment)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < segment->block_count; i++) {
        int64_t size = block_at(reading, segment, i)->size_bytes;
        bytes = sum_add(bytes, size > 0 ? size : 0);
    }
    return bytes;
}

/* A size that is not told, or that alone does not reach to the block behind it. */
static void sizes_settle(struct torch_reading *reading, const struct torch_segment *segment)
{
    uint32_t odd_count = 0, odd = 0;
    for (uint32_t i = 0; i < segment->block_count; i++) {
        struct torch_block *block = block_at(reading, segment, i);
        int64_t gap = gap_of(reading, segment, i);
        if (block->size_bytes <= 0 && gap > 0)
            block->size_bytes = gap;
        if (gap > 0 && gap != block->size_bytes) {
            odd_count++;
            odd = i;
        }
    }
    bool is_of_sum = odd + 1 == segment->block_count && segment->total_bytes % TORCH_SEGMENT_UNIT_BYTES != 0;
    if (odd_count == 1 && !is_of_sum && sum_of(reading, segment) != segment->total_bytes) {
        block_at(reading, segment, odd)->size_bytes = gap_of(reading, segment, odd);
        reading->odd_counts[TORCH_KEY_size]++;
    }
    int64_t rest = segment->total_bytes - sum_of(reading, segment);
    for (uint32_t i = 0; i < segment->block_count; i++) {
        struct torch_block *block = block_at(reading, segment, i);
        if (block->size_bytes >= 0)
            continue;
        block->size_bytes = rest > 0 ? rest : 0; /* the only one, as a rule: it is what the others leave */
        rest = 0;
    }
}

/* A segment that begins elsewhere than the first of blocks that all follow each other has an odd address itself. */
static void begin_settle(struct torch_reading *reading, struct torch_segment *segment)
{
    uint64_t first = block_at(reading, segment, 0)->address, at = first;
    if (first == 0 || first == segment->address)
        return;
    bool is_chain = segment->address == 0 || segment->block_count > 1;
    for (uint32_t i = 0; i < segment->block_count && is_chain; i++) {
        const struct torch_block *block = block_at(reading, segment, i);
        is_chain = block->address == at || block->size_bytes <= 0;
        at = block->address + (uint64_t)(block->size_bytes > 0 ? block->size_bytes : 0);
    }
    if (!is_chain)
        return;
    reading->odd_counts[TORCH_KEY_address] += segment->address != 0;
    segment->address = first;
}

/* Before PyTorch 2.1 blocks tell no addresses. One that lies in another block, or outside of the segment, cannot be. */
static void addresses_settle(struct torch_reading *reading, const struct torch_segment *segment)
{
    uint64_t at = segment->address, end = segment->address + (uint64_t)segment->total_bytes;
    for (uint32_t i = 0; i < segment->block_count; i++) {
        struct torch_block *block = block_at(reading, segment, i);
        bool is_odd = block->address != 0 && (block->address < at || (block->address >= end && block->size_bytes > 0));
        reading->odd_counts[TORCH_KEY_address] += is_odd;
        block->address = is_odd || block->address == 0 ? at : block->address;
        at = block->address + (uint64_t)block->size_bytes;
    }
}

/* The segment gives its allocated and its active bytes: so the state of one block without a state is known. */
static void state_settle(struct torch_reading *reading, const struct torch_segment *segment)
{
    int64_t allocated_bytes = 0, active_bytes = 0;
    struct torch_block *unknown = NULL;
    uint32_t unknown_count = 0;
    for (uint32_t i = 0; i < segment->block_count; i++) {
        struct torch_block *block = block_at(reading, segment, i);
        bool is_unknown = block->state == TORCH_STATE_UNKNOWN;
        allocated_bytes = sum_add(allocated_bytes, block->state == TORCH_ACTIVE ? block->size_bytes : 0);
        active_bytes = sum_add(active_bytes, !is_unknown && block->state != TORCH_INACTIVE ? block->size_bytes : 0);
        unknown_count += is_unknown;
        unknown = is_unknown ? block : unknown;
    }
    if (unknown_count == 1 && segment->allocated_bytes - allocated_bytes == unknown->size_bytes)
        unknown->state = TORCH_ACTIVE;
    else if (unknown_count == 1 && segment->active_bytes - active_bytes == unknown->size_bytes)
        unknown->state = TORCH_PENDING_FREE;
}

void torch_blocks_settle(struct torch_reading *reading, struct torch_segment *segment)
{
    if (segment->block_count == 0) {
        segment->total_bytes = segment->total_bytes > 0 ? segment->total_bytes : 0;
        return;
    }
    begin_settle(reading, segment);
    sizes_settle(reading, segment);
    int64_t sum = sum_of(reading, segment);
    reading->odd_counts[TORCH_KEY_total_size] += segment->total_bytes >= 0 && segment->total_bytes != sum;
    segment->total_bytes = sum;
    addresses_settle(reading, segment);
    state_settle(reading, segment);
    for (uint32_t i = 0; i < segment->block_count; i++) {
        struct torch_block *block = block_at(reading, segment, i);
        bool is_used = block->state == TORCH_ACTIVE || block->state == TORCH_PENDING_FREE;
        reading->odd_counts[TORCH_KEY_requested_size] += is_used && block->requested_bytes > block->size_bytes;
        bool is_told = block->requested_bytes >= 0 && block->requested_bytes <= block->size_bytes;
        block->requested_bytes = is_told ? block->requested_bytes : block->size_bytes;
        block->state = block->state == TORCH_STATE_UNKNOWN ? TORCH_INACTIVE : block->state;
    }
}
