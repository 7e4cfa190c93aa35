/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory_profile/end.h"

#include "base/size_text.h"
#include "model/finding.h"
#include "read/torch/torch_snapshot.h"

static bool is_alone(const struct memory_profile_pool *pool)
{
    const struct torch_snapshot *snapshot = pool->profile->events.snapshot;
    return snapshot != NULL && snapshot->is_end_alone;
}

bool memory_profile_end_of(const struct memory_profile_pool *pool, struct memory_profile_end *end)
{
    const struct torch_snapshot *snapshot = pool->profile->events.snapshot;
    *end = (struct memory_profile_end){.block_count = 0};
    if (!is_alone(pool))
        return false;
    end->in_use_bytes = memory_profile_in_use_bytes(pool->profile, pool->first);
    for (size_t i = 0; i < snapshot->segment_count; i++) {
        const struct torch_segment *segment = &snapshot->segments[i];
        if (segment->device != pool->device)
            continue;
        end->segment_count++;
        end->reserved_bytes += segment->total_bytes;
        for (uint32_t b = 0; b < segment->block_count; b++) {
            const struct torch_block *block = &snapshot->blocks[segment->first_block + b];
            end->active_bytes += block->state == TORCH_ACTIVE ? block->size_bytes : 0;
            end->pending_bytes += block->state == TORCH_PENDING_FREE ? block->size_bytes : 0;
            end->block_count += block->state != TORCH_INACTIVE;
        }
    }
    int64_t inactive = end->reserved_bytes - end->active_bytes - end->pending_bytes;
    end->inactive_bytes = inactive > 0 ? inactive : 0; /* of a damaged file blocks may be larger than their segment */
    return true;
}

void memory_profile_end_uncount(struct memory_profile_pool *pool)
{
    if (!is_alone(pool))
        return;
    pool->deallocation_count = 0;
    pool->pairs.before_window = 0;
}

struct finding *memory_profile_end_finding(const struct memory_profile_pool *pool, struct arena *arena)
{
    struct memory_profile_end end;
    char count[COUNT_TEXT_BYTES];
    if (!memory_profile_end_of(pool, &end))
        return NULL;
    struct finding *finding = finding_begin(arena, "no_history", NULL);
    finding_text(finding, "the snapshot has no history, only what there was at its end: ");
    finding_size(finding, end.reserved_bytes);
    finding_text(finding, " reserved in segments, of these ");
    finding_size(finding, end.active_bytes + end.pending_bytes);
    finding_text(finding, " in %s %s and ", size_text_count(count, end.block_count),
                 end.block_count == 1 ? "block" : "blocks");
    finding_size(finding, end.inactive_bytes);
    finding_text(finding, " free; torch.cuda.memory._record_memory_history() before the steps records what led there");
    return finding_end(finding);
}
