/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/regions_loops.h"

/* What a loop's body, by computation, does in each round. */
struct round {
    uint32_t region; /* of the layer that was seen first; HLO_NONE: none was */
    bool has_several, has_forward, has_backward, is_cleared;
};

/* The body of the next loop around the one with that body, or HLO_NONE. */
static uint32_t body_around(const struct graph *graph, uint32_t body)
{
    return graph_loop_body_around(graph, graph->caller_of[body]);
}

static void round_join(struct round *round, const struct round *inner)
{
    round->has_several |= inner->has_several ||
                          (round->region != HLO_NONE && inner->region != HLO_NONE && round->region != inner->region);
    round->region = round->region == HLO_NONE ? inner->region : round->region;
    round->has_forward |= inner->has_forward;
    round->has_backward |= inner->has_backward;
}

/* By what is computed in products: fusions that compute a gradient repeat what is small of the forward pass. */
static void rounds_read(const struct graph *graph, const struct regions *of, struct round *rounds)
{
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
        enum graph_phase phase = graph_phase(graph, at);
        uint32_t body = graph_op(graph, at) == GRAPH_DOT ? graph_loop_body_around(graph, at) : HLO_NONE;
        if (body == HLO_NONE)
            continue;
        const struct round one = {
            .region = of->of[at],
            .has_forward = phase == GRAPH_FORWARD,
            .has_backward = phase == GRAPH_BACKWARD || phase == GRAPH_RECOMPUTE,
        };
        round_join(&rounds[body], &one);
    }
}

static bool rounds_choose(const struct graph *graph, struct round *rounds)
{
    bool is_any = false;
    uint32_t count = graph->hlo->computation_count, outer;
    for (uint32_t body = 0; body < count; body++) /* callers come after what they call */
        if ((outer = body_around(graph, body)) != HLO_NONE && outer > body)
            round_join(&rounds[outer], &rounds[body]);
    for (uint32_t body = count; body-- > 0;) {
        struct round *round = &rounds[body];
        outer = body_around(graph, body);
        round->is_cleared = (outer != HLO_NONE && outer > body && rounds[outer].is_cleared) ||
                            (round->has_several && round->has_forward != round->has_backward);
        is_any |= round->is_cleared;
    }
    return is_any;
}

bool regions_loops_clear(const struct graph *graph, const struct regions *of, struct arena *arena, struct regions *out)
{
    uint32_t count = graph->hlo->instruction_count;
    struct round *rounds = arena_array(arena, struct round, (size_t)graph->hlo->computation_count + 1);
    for (uint32_t i = 0; i < graph->hlo->computation_count; i++)
        rounds[i].region = HLO_NONE;
    rounds_read(graph, of, rounds);
    if (of->count < 2 || !rounds_choose(graph, rounds))
        return false;
    *out = (struct regions){arena_raw(arena, ((size_t)count + 1) * sizeof(*out->of)), of->items, of->count};
    for (uint32_t at = 0; at < count; at++) {
        uint32_t body = of->of[at] == HLO_NONE ? HLO_NONE : graph_loop_body_around(graph, at);
        out->of[at] = body != HLO_NONE && rounds[body].is_cleared ? HLO_NONE : of->of[at];
    }
    return true;
}
