/* SPDX-License-Identifier: Apache-2.0
 * torch_segments.c: see torch_segments.h. */
#include "verdict/torch_segments.h"

#include "read/torch/torch_snapshot.h"
#include "verdict/evidence.h"
#include "verdict/torch_moment.h"

/* What is free in segments is looked into where it is more than this part of them. */
enum { LOOKED_AT_PART = 20 };

/* Is it worth a replay? Of a request that failed whether it would not have; else where much is free. */
static bool is_asked(const struct torch_moment *moment)
{
    const struct torch_segments *segments = &moment->segments;
    const struct memory_profile_pool *pool = moment->pool;
    if (moment->is_expandable || moment->is_end || !pool->torch.is_known)
        return false;
    if (moment->failure != NULL)
        return moment->failure == &pool->failures[pool->failure_count - 1] &&
               (moment->failure->kind == PROFILE_FAILURE_FRAGMENTATION ||
                moment->failure->kind == PROFILE_FAILURE_ELSEWHERE || moment->failure->kind == PROFILE_FAILURE_PIECES);
    return segments->beside_bytes > segments->peak_bytes / LOOKED_AT_PART;
}

static void expandable_judge(struct torch_moment *moment)
{
    struct torch_segments *segments = &moment->segments;
    const struct memory_profile_replay_change *expandable = segments->expandable;
    const int64_t largest_bytes = moment->sums[torch_moment_largest(moment)].bytes;
    if (expandable->failed_at != PROFILE_NONE) {
        segments->is_refused = memory_profile_replay_is_sure(segments->replay, expandable);
        return;
    }
    if (segments->replay->reserved_bytes > expandable->reserved_bytes)
        segments->saves_bytes = segments->replay->reserved_bytes - expandable->reserved_bytes;
    segments->is_placed = moment->failure != NULL && expandable->is_last_placed;
    segments->is_refused = moment->failure != NULL && !expandable->is_last_placed &&
                           memory_profile_replay_is_sure(segments->replay, expandable);
    segments->is_fragmented = moment->failure == NULL && segments->beside_bytes > largest_bytes &&
                              segments->saves_bytes > segments->beside_bytes / 2;
}

/* A program that never ran has no recorded segments: computes them by the allocator's rules for the moment when most
 * memory is in use. */
static void peak_by_rules(const struct verdict_facts *facts, struct torch_moment *moment)
{
    struct torch_segments *segments = &moment->segments;
    const struct memory_profile_pool *pool = moment->pool;
    if (segments->peak_bytes >= moment->in_use_bytes || moment->is_end || moment->failure != NULL ||
        !pool->torch.is_known)
        return;
    segments->replay = memory_profile_replay_of(pool, facts->arena);
    if (segments->replay == NULL || segments->replay->why_not != NULL || !segments->replay->is_unchecked)
        return;
    segments->peak_bytes = segments->replay->reserved_bytes;
    segments->peak_time_ps = moment->time_ps;
}

void torch_segments_find(const struct verdict_facts *facts, struct torch_moment *moment)
{
    struct torch_segments *segments = &moment->segments;
    uint32_t peak = moment->pool->first;
    segments->peak_bytes = memory_profile_taken_bytes(moment->pool, &peak);
    if (segments->peak_bytes >= 0)
        segments->peak_time_ps = moment->pool->profile->time_ps[peak];
    peak_by_rules(facts, moment);
    if (segments->peak_bytes > moment->in_use_bytes)
        segments->beside_bytes = segments->peak_bytes - moment->in_use_bytes;
    if (!is_asked(moment))
        return;
    if (segments->replay == NULL)
        segments->replay = memory_profile_replay_of(moment->pool, facts->arena);
    const struct memory_profile_replay *replay = segments->replay;
    if (replay == NULL || replay->why_not != NULL)
        return;
    struct memory_profile_replay_change *expandable = arena_array(facts->arena, struct memory_profile_replay_change, 1);
    struct caching_settings settings = replay->settings;
    settings.is_expandable = true;
    memory_profile_replay_run(replay, &settings, NULL, false, facts->arena, expandable);
    if (expandable->why_not != NULL)
        return;
    segments->expandable = expandable;
    expandable_judge(moment);
}

bool torch_segments_is_needed(const struct verdict_facts *facts)
{
    return facts->failure == NULL && facts->total_bytes < 0 && facts->moment != NULL &&
           facts->moment->failure == NULL && facts->moment->segments.peak_bytes >= facts->moment->in_use_bytes;
}

const char *torch_segments_sentence(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    return arena_format(
        facts->arena,
        "That is what PyTorch's segments take; %s of it are in use%s. What the process holds outside of its "
        "allocator (CUDA context, libraries) is not recorded.",
        facts_size_beside(facts, moment->in_use_bytes, moment->segments.peak_bytes),
        moment->is_end ? "" : " at the peak");
}

struct verdict_evidence torch_segments_evidence(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    const struct torch_snapshot *snapshot = moment->pool->profile->events.snapshot;
    if (!moment->pool->torch.is_known || snapshot->segment_count == 0)
        return evidence_difference("The largest sum of segments that the file tells.");
    struct verdict_evidence evidence = torch_figure_evidence(facts, TORCH_RESERVED);
    evidence.sentence = "The segments of the snapshot when they were largest.";
    evidence.sum_bytes = moment->segments.peak_bytes;
    evidence.time_ps = moment->segments.peak_time_ps;
    return evidence;
}

struct verdict_evidence torch_segments_beside(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    return evidence_difference(arena_format(facts->arena, "%s of segments when they were largest − %s in use%s.",
                                            facts_size_beside(facts, moment->segments.peak_bytes, moment->in_use_bytes),
                                            facts_size_beside(facts, moment->in_use_bytes, moment->segments.peak_bytes),
                                            moment->is_end ? "" : " at the peak"));
}

enum verdict_confidence torch_segments_confidence(const struct torch_segments *segments)
{
    return memory_profile_replay_is_sure(segments->replay, segments->expandable) ? VERDICT_EXACT : VERDICT_MODEL;
}
