/* SPDX-License-Identifier: Apache-2.0
 * trace_groups_number.c: trace_groups_number of trace_groups.h, when all events are known. */
#include "read/trace/trace_groups_nodes.h"

#include <stdlib.h>

/* ---- the graph ---- */

/* Offsets by counting: first[i]…first[i + 1] are the places of i's items. */
static uint32_t *offsets_of(struct arena *arena, uint32_t *counts, size_t count)
{
    uint32_t sum = 0, *first = arena_array(arena, uint32_t, count + 2);
    for (size_t i = 0; i < count; i++) {
        first[i] = sum;
        sum += counts[i];
        counts[i] = first[i];
    }
    first[count] = sum;
    return first;
}

static void graph_make(struct trace_groups *groups)
{
    size_t count = groups->parents.count;
    const uint32_t *parents = groups->parents.items;
    arena_work(groups->work, (count + groups->producers.count + groups->consumers.count) * 16);
    trace_pairs_make(groups->producers.items, groups->producers.count, groups->consumers.items, groups->consumers.count,
                     groups->arena, groups->work, &groups->pairs);
    list_free(&groups->producers);
    list_free(&groups->consumers);
    uint32_t *counts = arena_array(groups->arena, uint32_t, count + 1);
    for (size_t i = 0; i < count; i++)
        if (parents[i] != TRACE_NO_NODE)
            counts[parents[i]]++;
    groups->child_first = offsets_of(groups->arena, counts, count);
    groups->children = arena_array(groups->arena, uint32_t, (size_t)groups->child_first[count] + 1);
    for (size_t i = 0; i < count; i++)
        if (parents[i] != TRACE_NO_NODE)
            groups->children[counts[parents[i]]++] = (uint32_t)i;
    memset(counts, 0, count * sizeof(*counts));
    groups->hub_of = arena_array(groups->arena, uint32_t, count + 1);
    memset(groups->hub_of, 0xff, (count + 1) * sizeof(*groups->hub_of));
    for (size_t h = 0; h < groups->pairs.hub_count; h++) {
        for (uint32_t p = groups->pairs.hubs[h].producer_first; p < groups->pairs.hubs[h].producer_end; p++)
            counts[groups->pairs.producers[p]]++;
        for (uint32_t c = groups->pairs.hubs[h].consumer_first; c < groups->pairs.hubs[h].consumer_end; c++)
            groups->hub_of[groups->pairs.consumers[c]] = (uint32_t)h;
    }
    groups->hub_first = offsets_of(groups->arena, counts, count);
    groups->hub_links = arena_array(groups->arena, uint32_t, (size_t)groups->hub_first[count] + 1);
    for (size_t h = 0; h < groups->pairs.hub_count; h++)
        for (uint32_t p = groups->pairs.hubs[h].producer_first; p < groups->pairs.hubs[h].producer_end; p++)
            groups->hub_links[counts[groups->pairs.producers[p]]++] = (uint32_t)h;
    groups->seen = arena_array(groups->arena, uint32_t, count + 1);
    groups->group_of = arena_raw(groups->arena, (count + 1) * sizeof(*groups->group_of));
    memset(groups->group_of, 0xff, (count + 1) * sizeof(*groups->group_of));
}

static void visit_node(struct trace_groups *groups, struct list *queue, uint32_t node)
{
    if (node == TRACE_NO_NODE || groups->seen[node] == groups->stamp)
        return;
    groups->seen[node] = groups->stamp;
    *(uint32_t *)list_add(queue, groups->work, sizeof(node)) = node;
}

/* Has the root an ancestor that is a root of the same level? `level_of` holds the level of each root's node. */
static bool has_equal_ancestor(struct trace_groups *groups, const struct root *root, const int64_t *level_of,
                               struct list *queue)
{
    const uint32_t *parents = groups->parents.items;
    groups->stamp++;
    queue->count = 0;
    visit_node(groups, queue, root->node);
    for (size_t at = 0; at < queue->count; at++) {
        uint32_t node = ((uint32_t *)queue->items)[at];
        if (at > 0 && level_of[node] == root->level)
            return true;
        arena_work(groups->work, 8);
        visit_node(groups, queue, parents[node]);
        if (groups->hub_of[node] == TRACE_NO_NODE)
            continue;
        const struct trace_hub *hub = &groups->pairs.hubs[groups->hub_of[node]];
        arena_work(groups->work, hub->producer_end - hub->producer_first);
        for (uint32_t p = hub->producer_first; p < hub->producer_end; p++)
            visit_node(groups, queue, groups->pairs.producers[p]);
    }
    return false;
}

/* Assigns `number` to `from` and its descendants; stops at nodes that have one. */
static void spread(struct trace_groups *groups, uint32_t from, int64_t number, struct list *queue)
{
    groups->stamp++;
    queue->count = 0;
    visit_node(groups, queue, from);
    for (size_t at = 0; at < queue->count; at++) {
        uint32_t node = ((uint32_t *)queue->items)[at];
        if (groups->group_of[node] >= 0)
            continue;
        groups->group_of[node] = number;
        for (uint32_t i = groups->child_first[node]; i < groups->child_first[node + 1]; i++)
            visit_node(groups, queue, groups->children[i]);
        for (uint32_t i = groups->hub_first[node]; i < groups->hub_first[node + 1]; i++) {
            const struct trace_hub *hub = &groups->pairs.hubs[groups->hub_links[i]];
            arena_work(groups->work, hub->consumer_end - hub->consumer_first);
            for (uint32_t c = hub->consumer_first; c < hub->consumer_end; c++)
                visit_node(groups, queue, groups->pairs.consumers[c]);
        }
    }
}

/* ---- roots ---- */

static int by_level(const void *left, const void *right)
{
    const struct root *a = left, *b = right;
    return ORDER(b->level, a->level) ?: ORDER(a->begin_ps, b->begin_ps) ?: ORDER(a->node, b->node);
}

static int by_iteration(const void *left, const void *right)
{
    const struct iteration *a = left, *b = right;
    return ORDER(a->step_id, b->step_id) ?: ORDER(a->number, b->number) ?: ORDER(a->begin_ps, b->begin_ps)
           ?: ORDER(a->node, b->node);
}

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return ORDER(*a, *b);
}

static bool is_data_step(const struct trace_groups *groups, int64_t step_id)
{
    return groups->data_steps.count > 0 &&
           bsearch(&step_id, groups->data_steps.items, groups->data_steps.count, sizeof(step_id), by_number) != NULL;
}

static void parent_set(struct trace_groups *groups, uint32_t node, uint32_t parent)
{
    uint32_t *parents = groups->parents.items;
    if (parents[node] == TRACE_NO_NODE && node != parent)
        parents[node] = parent;
}

/* Loops of TensorFlow: a step whose executor ran in more than one iteration. The
 * first run of each iteration becomes a root, and the only kind of root. */
static bool loop_roots(struct trace_groups *groups, int64_t origin_ns)
{
    struct iteration *runs = groups->iterations.items;
    size_t count = groups->iterations.count;
    bool is_clamped, has_loop = false, is_plain = true;
    for (size_t i = 0; i < count; i++)
        is_plain &= runs[i].number == 0;
    for (size_t i = 0; i < count && !is_plain; i++)
        runs[i].begin_ps = trace_groups_time(runs[i].timestamp_ns, origin_ns, runs[i].offset_ps, &is_clamped);
    if (is_plain) /* the executor never ran a second iteration */
        return false;
    qsort(runs, count, sizeof(*runs), by_iteration);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && runs[end].step_id == runs[i].step_id;)
            end++;
        bool is_loop = runs[i].number != 0 || runs[end - 1].number != 0;
        if (!is_loop || is_data_step(groups, runs[i].step_id))
            continue;
        if (!has_loop)
            groups->roots.count = 0;
        has_loop = true;
        for (size_t j = i, first = i; j < end; j++) {
            if (j > i && runs[j].number == runs[first].number) {
                parent_set(groups, runs[j].node, runs[first].node);
                continue;
            }
            first = j;
            struct root *root = list_add(&groups->roots, groups->work, sizeof(*root));
            *root = (struct root){.node = runs[j].node,
                                  .level = 1,
                                  .timestamp_ns = runs[j].timestamp_ns,
                                  .offset_ps = runs[j].offset_ps,
                                  .name_id = -1,
                                  .step_number = -1};
        }
    }
    return has_loop;
}

void trace_groups_number(struct trace_groups *groups, bool is_grouped, int64_t origin_ns, struct arena *arena,
                         struct trace_step **steps, size_t *step_count)
{
    bool is_clamped = false;
    struct list queue = {NULL, NULL, 0, 0};
    *step_count = 0;
    if (groups->data_steps.count > 0)
        qsort(groups->data_steps.items, groups->data_steps.count, sizeof(int64_t), by_number);
    bool has_loops = !is_grouped && loop_roots(groups, origin_ns);
    struct root *roots = groups->roots.items;
    *steps = arena_array(arena, struct trace_step, groups->roots.count + 1);
    graph_make(groups);
    int64_t *level_of = arena_array(groups->arena, int64_t, groups->parents.count + 1);
    for (size_t i = 0; i < groups->roots.count; i++) {
        roots[i].begin_ps = trace_groups_time(roots[i].timestamp_ns, origin_ns, roots[i].offset_ps, &is_clamped);
        level_of[roots[i].node] = roots[i].level;
    }
    if (groups->roots.count > 0)
        qsort(roots, groups->roots.count, sizeof(*roots), by_level);
    for (size_t i = 0; i < groups->roots.count && !is_grouped; i++) {
        if (!has_loops &&
            ((roots[i].has_step_id && is_data_step(groups, roots[i].step_id)) || groups->group_of[roots[i].node] >= 0 ||
             has_equal_ancestor(groups, &roots[i], level_of, &queue)))
            continue;
        int64_t end_ps = trace_groups_time(roots[i].timestamp_ns, origin_ns, roots[i].offset_ps, &is_clamped);
        if (__builtin_add_overflow(end_ps, roots[i].duration_ps > 0 ? roots[i].duration_ps : 0, &end_ps) ||
            end_ps > TRACE_TIME_MAX_PS)
            end_ps = roots[i].begin_ps;
        (*steps)[*step_count] = (struct trace_step){(int64_t)*step_count, roots[i].name_id, roots[i].step_number,
                                                    roots[i].begin_ps, end_ps};
        spread(groups, roots[i].node, (int64_t)(*step_count)++, &queue);
    }
    list_free(&queue);
}
