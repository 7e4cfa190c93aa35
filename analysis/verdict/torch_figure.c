/* SPDX-License-Identifier: Apache-2.0
 * torch_figure.c: the figures of a moment of an allocator snapshot, and the view that shows each: see
 * torch_moment.h. */
#include "model/memory_profile/model.h"
#include "verdict/evidence.h"
#include "verdict/torch_moment.h"

int64_t torch_figure_bytes(const struct verdict_facts *facts, enum torch_figure figure)
{
    const struct torch_moment *moment = facts->moment;
    const struct memory_profile_failure *failure = moment->failure;
    const struct memory_profile_failure none = {.requested_bytes = -1,
                                                .device_free_bytes = -1,
                                                .free_bytes = -1,
                                                .reserved_bytes = -1,
                                                .largest_hole_bytes = -1,
                                                .missing_bytes = -1};
    const struct memory_profile_failure *of = failure != NULL ? failure : &none;
    const int64_t figures[TORCH_FIGURES] = {
        [TORCH_REQUESTED] = of->requested_bytes, [TORCH_DEVICE_FREE] = of->device_free_bytes,
        [TORCH_FREE] = of->free_bytes,           [TORCH_RESERVED] = of->reserved_bytes,
        [TORCH_HOLE] = of->largest_hole_bytes,   [TORCH_MISSING] = of->missing_bytes,
        [TORCH_IN_USE] = moment->in_use_bytes,   [TORCH_LARGEST] = moment->sums[torch_moment_largest(moment)].bytes,
    };
    return figures[figure] < 0 ? -1 : figures[figure];
}

/* The address map has all of them: segments, what is free in them, the request and where it could have been put. */
static struct verdict_evidence map_of(const struct verdict_facts *facts, const char *column, const char *sentence,
                                      int64_t bytes)
{
    struct verdict_evidence evidence = torch_moment_evidence(facts, CATEGORY_COUNT, bytes);
    evidence.view = "addresses";
    evidence.column = column;
    evidence.filter = NULL;
    evidence.sentence = sentence;
    evidence.sum_bytes = bytes;
    evidence.rest_bytes = 0;
    evidence.rest = NULL;
    return evidence;
}

static struct verdict_evidence missing_evidence(const struct verdict_facts *facts)
{
    const struct memory_profile_failure *failure = facts->moment->failure;
    return evidence_difference(arena_format(facts->arena, "%s asked for − %s free in segments − %s free on the device.",
                                            facts_size(facts, failure->requested_bytes),
                                            facts_size(facts, failure->free_bytes),
                                            facts_size(facts, failure->device_free_bytes)));
}

struct verdict_evidence torch_figure_evidence(const struct verdict_facts *facts, enum torch_figure figure)
{
    const struct torch_moment *moment = facts->moment;
    const int64_t bytes = torch_figure_bytes(facts, figure);
    switch (figure) {
    case TORCH_REQUESTED:
        return map_of(facts, "requested", "The request of the snapshot that failed, rounded as the allocator does.",
                      bytes);
    case TORCH_DEVICE_FREE:
        return map_of(facts, "device_free", "Free memory of the device, as CUDA reported it when the request failed.",
                      bytes);
    case TORCH_HOLE:
        return map_of(facts, "largest_hole", "The largest hole that the request could have been put into.", bytes);
    case TORCH_FREE:
        return map_of(facts, "free", "What was free in the segments of the snapshot when the request failed.", bytes);
    case TORCH_RESERVED:
        return map_of(facts, "reserved", "The segments of the snapshot when the request failed.", bytes);
    case TORCH_MISSING: return missing_evidence(facts);
    case TORCH_LARGEST: return torch_moment_evidence(facts, torch_moment_largest(moment), bytes);
    case TORCH_IN_USE:
    case TORCH_FIGURES: break;
    }
    return torch_moment_evidence(facts, CATEGORY_COUNT, bytes);
}
