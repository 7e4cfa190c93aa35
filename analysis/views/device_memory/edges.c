/* SPDX-License-Identifier: Apache-2.0 */
#include "views/device_memory/edges.h"

struct same_edge {
    const struct edges *edges;
    uint32_t from, to;
};

static bool is_edge(const void *context, uint64_t at)
{
    const struct same_edge *same = context;
    return same->edges->items[at].from == same->from && same->edges->items[at].to == same->to;
}

static struct edges_edge *edge_of(struct edges *edges, uint32_t from, uint32_t to)
{
    struct same_edge same = {edges, from, to};
    uint64_t hash = hash_number((uint64_t)from << 32 | to, 0);
    bool is_new;
    uint32_t at = map_number(&edges->table, hash, is_edge, &same, &is_new);
    if (!is_new)
        return &edges->items[at];
    edges->items =
        arena_grown(edges->model->arena, edges->items, (size_t)at + 1, &edges->capacity, sizeof(*edges->items));
    edges->items[at] = (struct edges_edge){.from = from, .to = to};
    return &edges->items[at];
}

static void add_edge(struct edges *edges, uint32_t from, uint32_t to, int64_t value, bool is_residual, uint32_t stamp)
{
    struct edges_edge *edge = edge_of(edges, from, to);
    if (edge->seen == stamp)
        return;
    edge->seen = stamp;
    edge->value = pprof_add(edge->value, value);
    edge->is_residual |= is_residual;
}

static void add_sample(struct edges *edges, const struct model_sample *sample, const struct model_walk *walk,
                       const bool *kept, const bool *touching, uint32_t stamp)
{
    int64_t value = model_value(edges->model, sample), count = model_count(edges->model, sample);
    uint32_t parent = MAP_NONE;
    bool is_residual = false;
    for (uint32_t i = 0; i < walk->count; i++) {
        uint32_t frame = walk->frames[i];
        struct edges_node *node = &edges->nodes[frame];
        if (kept != NULL && !kept[frame]) {
            is_residual = true;
            continue;
        }
        if (node->seen != stamp) {
            node->seen = stamp;
            node->total = pprof_add(node->total, value);
            node->count = pprof_add(node->count, count);
        }
        if (parent != MAP_NONE && parent != frame && (touching == NULL || touching[parent] || touching[frame]))
            add_edge(edges, parent, frame, value, is_residual, stamp);
        parent = frame;
        is_residual = false;
    }
    if (parent == MAP_NONE || is_residual)
        return;
    edges->nodes[parent].self = pprof_add(edges->nodes[parent].self, value);
    edges->nodes[parent].label_sets |=
        value != 0 ? UINT64_C(1) << (edges->model->pprof->label_sets[sample->at] & 63) : 0;
}

void edges_make(const struct model *model, const bool *kept, const bool *touching, struct edges *edges)
{
    struct model_walk walk;
    *edges = (struct edges){.model = model};
    map_init(&edges->table, model->arena, 0);
    edges->nodes = arena_array(model->arena, struct edges_node, model->frames->table.count);
    model_walk_init(model, &walk);
    for (uint32_t i = 0; i < model->sample_count; i++) {
        const struct model_sample *sample = &model->samples[i];
        if (model_value(model, sample) == 0)
            continue;
        model_walk_to(model, sample, &walk);
        add_sample(edges, sample, &walk, kept, touching, i + 1);
    }
}
