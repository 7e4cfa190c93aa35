/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/checkpointed.h"

#include "base/str.h"
#include "plan/value.h"

#define SCOPE STR("checkpoint")

static bool is_divider(char c) { return c == '/' || c == '(' || c == ')'; }

/* Is a part of the op name that word? */
static bool has_scope(struct str name)
{
    for (size_t i = 0; i + SCOPE.length <= name.length; i++) {
        size_t end = i + SCOPE.length;
        if ((i == 0 || is_divider(name.data[i - 1])) && (end == name.length || is_divider(name.data[end])) &&
            memcmp(name.data + i, SCOPE.data, SCOPE.length) == 0)
            return true;
    }
    return false;
}

bool checkpointed_holds(const struct graph *graph, uint32_t at)
{
    enum graph_phase phase = graph_phase(graph, at);
    return phase == GRAPH_RECOMPUTE || (phase == GRAPH_BACKWARD && has_scope(graph_op_name_end(graph, at)));
}

bool checkpointed_reader_note(const struct graph *graph, uint32_t reader_at, struct arena *arena,
                              struct checkpointed_readers *readers)
{
    if (reader_at != HLO_NONE && graph_phase(graph, reader_at) == GRAPH_NAMELESS)
        return true;
    arena_work(arena, reader_at == HLO_NONE ? 0 : graph_op_name_end(graph, reader_at).length / 8);
    bool is_inside = reader_at != HLO_NONE && checkpointed_holds(graph, reader_at);
    readers->are_inside = readers->are_inside || is_inside;
    readers->are_outside = readers->are_outside || !is_inside;
    return !readers->are_outside;
}

/* What is seen of a layer. */
struct seen {
    bool is_inside,
        is_outside;  /* products of its backward pass, or values computed again: of a jax.checkpoint or not */
    bool has_policy; /* what its forward pass makes inside is kept for it */
};

struct checkpointing {
    const struct variant *variant;
    const struct graph *graph;
    const struct regions *regions;
    struct value_walk walk;
    struct seen *seen;
    uint32_t region; /* of the value that is looked at */
};

bool checkpointed_may_be_kept(const struct graph *graph, uint32_t at)
{
    return graph_op(graph, at) == GRAPH_DOT || str_ends(graph_op_name_end(graph, at), STR("/reduce_precision"));
}

/* Without a policy nothing that is inside reads such a value of the forward pass: it makes its own again. */
static bool kept_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct checkpointing *work = context;
    (void)operand;
    if (reader_at == HLO_NONE || work->regions->of[reader_at] != work->region)
        return true;
    arena_work(work->variant->findings->arena, graph_op_name_end(work->graph, reader_at).length / 8);
    work->seen[work->region].has_policy = checkpointed_holds(work->graph, reader_at);
    return !work->seen[work->region].has_policy;
}

static void instruction_see(struct checkpointing *work, uint32_t at)
{
    uint32_t region = work->regions->of[at];
    enum graph_phase phase = graph_phase(work->graph, at);
    struct seen *seen = &work->seen[region];
    if (phase == GRAPH_RECOMPUTE) {
        seen->is_inside = true;
    } else if (phase == GRAPH_BACKWARD && graph_op(work->graph, at) == GRAPH_DOT) {
        arena_work(work->variant->findings->arena, graph_op_name_end(work->graph, at).length / 8);
        bool is_inside = checkpointed_holds(work->graph, at);
        seen->is_inside = seen->is_inside || is_inside;
        seen->is_outside = seen->is_outside || !is_inside;
    } else if (phase == GRAPH_FORWARD && !seen->has_policy && checkpointed_may_be_kept(work->graph, at)) {
        work->region = region;
        value_each_reader(&work->walk, (struct value){at, VALUE_WHOLE}, kept_reader_note, work);
    }
}

static bool has_recompute(const struct graph *graph)
{
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++)
        if (graph_phase(graph, at) == GRAPH_RECOMPUTE)
            return true;
    return false;
}

const uint8_t *checkpointed_layers(const struct variant *variant)
{
    struct variant_findings *findings = variant->findings;
    const struct graph *graph = variant->plan->graph;
    if (findings->is_checkpointed_known)
        return findings->checkpointed;
    findings->is_checkpointed_known = true;
    if (!has_recompute(graph))
        return NULL;
    struct checkpointing work = {.variant = variant, .graph = graph, .regions = regions_by_any(variant)};
    uint32_t region_count = work.regions->count;
    uint8_t *checkpointed = arena_array(findings->arena, uint8_t, (size_t)region_count + 1);
    work.seen = arena_array(findings->arena, struct seen, (size_t)region_count + 1);
    value_walk_init(&work.walk, graph, 32 * (uint64_t)graph->hlo->instruction_count + 4096, findings->arena);
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++)
        if (work.regions->of[at] != HLO_NONE)
            instruction_see(&work, at);
    for (uint32_t i = 0; i < region_count; i++)
        checkpointed[i] = !work.seen[i].is_inside || work.seen[i].is_outside ? CHECKPOINTED_NO
                          : work.seen[i].has_policy                          ? CHECKPOINTED_PARTLY
                                                                             : CHECKPOINTED_ALL;
    return findings->checkpointed = checkpointed;
}
