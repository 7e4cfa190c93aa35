/* SPDX-License-Identifier: Apache-2.0
 * graph.c: the view "graph": the call graph, trimmed as pprof trims it for a
 * picture: without light nodes, then the nodes of highest score, then without light
 * edges and those that another path makes needless. */
#include "views/device_memory/edges.h"
#include "views/device_memory/frames_write.h"
#include "views/device_memory/views.h"

#include <math.h>
#include <stdlib.h>

/* Edges are made, and nodes scored, among so many of the heaviest. */
enum { NODES_DEFAULT = 80, NODES_MAX = 1000, LABELS_MAX = 4, SCORED_MAX = 2000, EDGES_MAX = 20000 };

struct graph {
    struct model model;
    struct edges edges;
    bool *kept;      /* of each frame; NULL: all */
    uint32_t *nodes; /* frames, in order of score */
    uint32_t node_count;
    bool *is_dropped; /* of each edge */
    int64_t node_cutoff, edge_cutoff;
    uint32_t all_node_count, all_edge_count, dropped_edge_count;
    double *in, *out;          /* entropies of each frame */
    int64_t *in_sum, *out_sum; /* what they relate to */
    uint32_t *in_count, *out_count;
};

struct scored {
    uint32_t frame;
    double score;
    int64_t total;
    struct str name;
};

struct incoming {
    uint32_t edge;
    int64_t size;
};

static bool holds_anything(const struct edges_node *node) { return node->self != 0 || node->total != 0; }

/* pprof: the sum of all self values. */
static int64_t sum_of_selves(const struct graph *graph)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < graph->model.frames->table.count; i++)
        sum = pprof_add(sum, graph->edges.nodes[i].self);
    return sum;
}

static int64_t cutoff(int64_t sum, double fraction)
{
    double cutoff = (double)sum * fraction; /* sums go to the ends of the range */
    return cutoff > -9.2e18 && cutoff < 9.2e18 ? pprof_size((int64_t)cutoff) : INT64_MAX;
}

/* ---- scores ---- */

static double share_entropy(int64_t value, int64_t whole)
{
    double share = whole != 0 ? (double)pprof_size(value) / (double)whole : 0;
    return share > 0 ? -share * log2(share) : 0;
}

static void count_edges(struct graph *graph)
{
    const struct edges *edges = &graph->edges;
    size_t count = graph->model.frames->table.count;
    struct arena *arena = graph->model.arena;
    graph->in = arena_array(arena, double, count);
    graph->out = arena_array(arena, double, count);
    graph->in_sum = arena_array(arena, int64_t, count);
    graph->out_sum = arena_array(arena, int64_t, count);
    graph->in_count = arena_array(arena, uint32_t, count);
    graph->out_count = arena_array(arena, uint32_t, count);
    for (size_t i = 0; i < count; i++)
        graph->out_sum[i] = edges->nodes[i].self;
    for (uint32_t i = 0; i < edges->table.count; i++) {
        const struct edges_edge *edge = &edges->items[i];
        if (graph->is_dropped[i])
            continue;
        graph->in_count[edge->to]++;
        graph->out_count[edge->from]++;
        graph->in_sum[edge->to] = pprof_add(graph->in_sum[edge->to], edge->value > 0 ? edge->value : 0);
        graph->out_sum[edge->from] = pprof_add(graph->out_sum[edge->from], edge->value > 0 ? edge->value : 0);
    }
    for (uint32_t i = 0; i < edges->table.count; i++) {
        const struct edges_edge *edge = &edges->items[i];
        if (graph->is_dropped[i])
            continue;
        graph->in[edge->to] += share_entropy(edge->value, graph->in_sum[edge->to]);
        graph->out[edge->from] += share_entropy(edge->value, graph->out_sum[edge->from]);
    }
}

static double score_of(const struct graph *graph, uint32_t frame)
{
    const struct edges_node *node = &graph->edges.nodes[frame];
    double in = graph->in_count[frame] == 0 ? 1 : graph->in[frame];
    double out = 1;
    if (graph->out_count[frame] > 0)
        out = graph->out[frame] + (node->self > 0 ? share_entropy(node->self, graph->out_sum[frame]) : 0);
    double weight = (in + out) * (double)node->total;
    if (weight > -9.2e18 && weight < 9.2e18)
        weight = (double)(int64_t)weight; /* as pprof; larger ones are whole anyway */
    return weight + (double)node->self;
}

static int heavier_first(const void *left, const void *right)
{
    const struct scored *a = left, *b = right;
    return ORDER(pprof_size(b->total), pprof_size(a->total)) ?: ORDER(a->frame, b->frame);
}

static int better_first(const void *left, const void *right)
{
    const struct scored *a = left, *b = right;
    return ORDER(b->score, a->score) ?: str_compare(a->name, b->name) ?: heavier_first(left, right);
}

/* Puts all nodes that are kept into graph->nodes, by score. */
static void sort_nodes(struct graph *graph)
{
    const struct model *model = &graph->model;
    struct scored *scored = arena_array(model->arena, struct scored, model->frames->table.count);
    count_edges(graph);
    graph->node_count = 0;
    for (uint32_t i = 0; i < model->frames->table.count; i++) {
        if ((graph->kept != NULL && !graph->kept[i]) || !holds_anything(&graph->edges.nodes[i]))
            continue;
        struct str name = frames_full_name(model->frames, i, model->request->scratch);
        scored[graph->node_count++] = (struct scored){
            i, score_of(graph, i), graph->edges.nodes[i].total, {arena_text(model->arena, name), name.length}};
    }
    qsort(scored, graph->node_count, sizeof(*scored), better_first);
    for (uint32_t i = 0; i < graph->node_count; i++)
        graph->nodes[i] = scored[i].frame;
}

/* ---- trimming ---- */

static void graph_make_one(struct graph *graph)
{
    edges_make(&graph->model, graph->kept, NULL, &graph->edges);
    graph->is_dropped = arena_array(graph->model.arena, bool, (size_t)graph->edges.table.count + 1);
}

static void drop_light_edges(struct graph *graph)
{
    graph->dropped_edge_count = 0;
    for (uint32_t i = 0; i < graph->edges.table.count; i++) {
        graph->is_dropped[i] = pprof_size(graph->edges.items[i].value) < graph->edge_cutoff;
        graph->dropped_edge_count += graph->is_dropped[i];
    }
}

/* The nodes from the cutoff on, the `max` heaviest of them, with their edges. */
static void keep_heavy_nodes(struct graph *graph, uint32_t max)
{
    uint32_t count = 0;
    size_t frame_count = graph->model.frames->table.count;
    struct scored *heavy = arena_array(graph->model.arena, struct scored, frame_count);
    for (uint32_t i = 0; i < frame_count; i++) {
        const struct edges_node *node = &graph->edges.nodes[i];
        if (holds_anything(node) && pprof_size(node->total) >= graph->node_cutoff)
            heavy[count++] = (struct scored){.frame = i, .total = node->total};
    }
    qsort(heavy, count, sizeof(*heavy), heavier_first);
    count = count < max ? count : max;
    if (count < graph->all_node_count) {
        graph->kept = arena_array(graph->model.arena, bool, frame_count);
        for (uint32_t i = 0; i < count; i++)
            graph->kept[heavy[i].frame] = true;
    }
    graph_make_one(graph);
}

static int heavier_edge_first(const void *left, const void *right)
{
    const struct incoming *a = left, *b = right;
    return ORDER(b->size, a->size) ?: ORDER(a->edge, b->edge);
}

/* More edges than anybody could draw: the lightest go. */
static void keep_heavy_edges(struct graph *graph)
{
    const struct edges *edges = &graph->edges;
    struct incoming *heavy = arena_array(graph->model.arena, struct incoming, (size_t)edges->table.count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < edges->table.count; i++)
        if (!graph->is_dropped[i])
            heavy[count++] = (struct incoming){i, pprof_size(edges->items[i].value)};
    if (count <= EDGES_MAX)
        return;
    qsort(heavy, count, sizeof(*heavy), heavier_edge_first);
    for (uint32_t i = EDGES_MAX; i < count; i++)
        graph->is_dropped[heavy[i].edge] = true;
    graph->dropped_edge_count += count - EDGES_MAX;
}

/* The first nodes by score; each counts as one and one for each of its labels, up to four. */
static void keep_best_nodes(struct graph *graph, uint32_t nodes_max)
{
    uint32_t count = 0, room = 0;
    drop_light_edges(graph);
    sort_nodes(graph);
    while (count < graph->node_count && room < nodes_max) {
        uint64_t sets = graph->edges.nodes[graph->nodes[count++]].label_sets;
        room++;
        for (int labels = 0; sets != 0 && labels < LABELS_MAX; labels++, room++)
            sets &= sets - 1;
    }
    if (graph->node_count <= nodes_max || count == graph->node_count) {
        memset(graph->is_dropped, 0, graph->edges.table.count);
        return;
    }
    bool *kept = arena_array(graph->model.arena, bool, graph->model.frames->table.count);
    for (uint32_t i = 0; i < count; i++)
        kept[graph->nodes[i]] = true;
    graph->kept = kept;
    graph_make_one(graph);
}

/* Can `to` be reached from `from` without this edge? */
static bool is_redundant(const struct graph *graph, uint32_t edge_at, uint32_t *queue, bool *seen)
{
    const struct edges *edges = &graph->edges;
    uint32_t from = edges->items[edge_at].from, begin = 0, end = 0;
    memset(seen, 0, graph->model.frames->table.count);
    queue[end++] = edges->items[edge_at].to;
    seen[edges->items[edge_at].to] = true;
    while (begin < end) {
        uint32_t node = queue[begin++];
        arena_work(graph->model.arena, edges->table.count);
        for (uint32_t i = 0; i < edges->table.count; i++) {
            const struct edges_edge *edge = &edges->items[i];
            if (graph->is_dropped[i] || edge->to != node || i == edge_at || seen[edge->from])
                continue;
            if (edge->from == from)
                return true;
            seen[edge->from] = true;
            queue[end++] = edge->from;
        }
    }
    return false;
}

static int lighter_first(const void *left, const void *right)
{
    const struct incoming *a = left, *b = right;
    return ORDER(a->size, b->size) ?: ORDER(b->edge, a->edge);
}

/* Goes from the last node on, the lightest edges first, up to the first edge without a left-out frame behind it. */
static void drop_redundant_edges(struct graph *graph)
{
    const struct edges *edges = &graph->edges;
    struct arena *arena = graph->model.arena;
    struct incoming *incoming = arena_array(arena, struct incoming, (size_t)edges->table.count + 1);
    uint32_t *queue = arena_array(arena, uint32_t, graph->model.frames->table.count);
    bool *seen = arena_array(arena, bool, graph->model.frames->table.count);
    for (uint32_t at = graph->node_count; at-- > 0;) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < edges->table.count; i++)
            if (!graph->is_dropped[i] && edges->items[i].to == graph->nodes[at])
                incoming[count++] = (struct incoming){i, pprof_size(edges->items[i].value)};
        qsort(incoming, count, sizeof(*incoming), lighter_first);
        for (uint32_t i = 0; i < count && edges->items[incoming[i].edge].is_residual; i++)
            if (is_redundant(graph, incoming[i].edge, queue, seen))
                graph->is_dropped[incoming[i].edge] = true;
    }
}

static void graph_trim(struct graph *graph, bool trims, uint32_t nodes_max, double node_fraction, double edge_fraction)
{
    struct arena *arena = graph->model.arena;
    const bool *none = arena_array(arena, bool, graph->model.frames->table.count);
    edges_make(&graph->model, NULL, none, &graph->edges); /* nodes alone: edges are many */
    int64_t sum = sum_of_selves(graph);
    for (uint32_t i = 0; i < graph->model.frames->table.count; i++)
        graph->all_node_count += holds_anything(&graph->edges.nodes[i]);
    graph->node_cutoff = cutoff(sum, node_fraction);
    graph->edge_cutoff = cutoff(sum, edge_fraction);
    graph->nodes = arena_array(arena, uint32_t, graph->model.frames->table.count);
    keep_heavy_nodes(graph, SCORED_MAX);
    graph->all_edge_count = graph->edges.table.count;
    keep_best_nodes(graph, nodes_max);
    sort_nodes(graph);
    drop_light_edges(graph);
    keep_heavy_edges(graph);
    if (trims)
        drop_redundant_edges(graph);
}

/* ---- output ---- */

static void write_nodes(const struct graph *graph, struct json *json)
{
    const struct model *model = &graph->model;
    json_key_array(json, "nodes");
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct edges_node *node = &graph->edges.nodes[graph->nodes[i]];
        json_object_begin(json);
        json_key(json, "frame");
        frames_write(model->frames, graph->nodes[i], model->request->scratch, json);
        json_key_int(json, "self", node->self);
        json_key_int(json, "total", node->total);
        json_key_int(json, "count", node->count);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_edges(const struct graph *graph, struct json *json)
{
    char id[FRAMES_ID_SIZE];
    json_key_array(json, "edges");
    for (uint32_t i = 0; i < graph->edges.table.count; i++) {
        const struct edges_edge *edge = &graph->edges.items[i];
        if (graph->is_dropped[i])
            continue;
        json_object_begin(json);
        frames_id(graph->model.frames, edge->from, id);
        json_key_text(json, "from", id);
        frames_id(graph->model.frames, edge->to, id);
        json_key_text(json, "to", id);
        json_key_int(json, "value", edge->value);
        json_key_bool(json, "is_residual", edge->is_residual);
        json_object_end(json);
    }
    json_array_end(json);
}

/* A number from 0 to 1. */
static bool read_fraction(const struct tool_request *request, const char *name, double *fraction, struct err *err)
{
    const char *text = tool_param_text(request, name);
    char *end;
    if (text == NULL || text[0] == '\0')
        return true;
    *fraction = strtod(text, &end);
    return (*end == '\0' && *fraction >= 0 && *fraction <= 1) ||
           err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: \"%.40s\" is no number from 0 to 1", name, text);
}

bool device_memory_graph(const struct tool_request *request, struct json *json, struct err *err)
{
    struct graph *graph = arena_array(request->arena, struct graph, 1);
    double node_fraction = 0.005, edge_fraction = 0.001;
    int64_t nodes_max, trims;
    if (!model_open(request, &graph->model, err) ||
        !tool_param_number(request, "nodes", 1, NODES_MAX, NODES_DEFAULT, &nodes_max, err) ||
        !tool_param_number(request, "trim", 0, 1, 1, &trims, err) ||
        !read_fraction(request, "node_fraction", &node_fraction, err) ||
        !read_fraction(request, "edge_fraction", &edge_fraction, err))
        return false;
    graph_trim(graph, trims == 1, trims ? (uint32_t)nodes_max : NODES_MAX, trims ? node_fraction : 0,
               trims ? edge_fraction : 0);
    model_begin(&graph->model, json);
    json_key_uint(json, "node_count", graph->all_node_count);
    json_key_uint(json, "edge_count", graph->all_edge_count);
    json_key_int(json, "node_cutoff", graph->node_cutoff);
    json_key_int(json, "edge_cutoff", graph->edge_cutoff);
    json_key_uint(json, "dropped_node_count", graph->all_node_count - graph->node_count);
    json_key_uint(json, "dropped_edge_count", graph->dropped_edge_count);
    write_nodes(graph, json);
    write_edges(graph, json);
    return model_end(&graph->model, json);
}
