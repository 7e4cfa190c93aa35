/* SPDX-License-Identifier: Apache-2.0
 * trace_groups.c: see trace_groups.h. */
#include "input/trace_groups.h"

#include "input/trace_pairs.h"

#include <stdlib.h>

/* A growing list in an arena of its own; items are moved when it grows. */
struct list {
    struct arena *own;
    void *items;
    size_t count, capacity;
};

struct open_event {
    int64_t begin_ps, end_ps;
    uint32_t node;
    bool is_used; /* something hangs on its node */
};

struct root {
    uint32_t node;
    int64_t level, timestamp_ns, offset_ps, duration_ps, name_id, step_number, step_id;
    bool has_step_id;
    int64_t begin_ps;
};

struct iteration { /* a run of TensorFlow's executor */
    int64_t step_id, number, timestamp_ns, offset_ps, begin_ps;
    uint32_t node;
};

struct trace_groups {
    struct arena *arena, *work;
    int64_t timestamp_ns; /* of the line */
    struct list parents;  /* uint32_t: node around each node */
    struct list open, producers, consumers, roots, iterations, data_steps;
    int64_t *group_of; /* of each node, from here on once numbered */
    uint32_t *child_first, *children, *seen;
    struct trace_pairs pairs;
    uint32_t *hub_first, *hub_of; /* hubs in which a node produces; the one that it consumes from */
    uint32_t *hub_links;
    uint32_t stamp;
};

static void list_free(struct list *list)
{
    if (list->own != NULL)
        arena_free(list->own);
    list->own = NULL;
}

static void *list_add(struct list *list, struct arena *parent, size_t size)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 256 : list->capacity * 2;
        if (list->own == NULL)
            list->own = arena_child(parent);
        list->items = arena_resize(list->own, capacity * size);
        list->capacity = capacity;
    }
    return (char *)list->items + list->count++ * size;
}

int64_t trace_groups_time(int64_t timestamp_ns, int64_t origin_ns, int64_t offset_ps, bool *is_clamped)
{
    int64_t ns, ps;
    if (!__builtin_sub_overflow(timestamp_ns, origin_ns, &ns) && !__builtin_mul_overflow(ns, INT64_C(1000), &ps) &&
        !__builtin_add_overflow(ps, offset_ps, &ps) && ps > -TRACE_TIME_MOST_PS && ps < TRACE_TIME_MOST_PS)
        return ps;
    *is_clamped = true;
    return (timestamp_ns < origin_ns ? -1 : 1) * TRACE_TIME_MOST_PS;
}

struct trace_groups *trace_groups_new(struct arena *arena, struct arena *work)
{
    struct trace_groups *groups = arena_array(arena, struct trace_groups, 1);
    groups->arena = arena;
    groups->work = work;
    return groups;
}

void trace_groups_line(struct trace_groups *groups, int64_t timestamp_ns)
{
    groups->timestamp_ns = timestamp_ns;
    groups->open.count = 0;
}

static struct open_event *top_of(const struct trace_groups *groups)
{
    return groups->open.count > 0 ? (struct open_event *)groups->open.items + groups->open.count - 1 : NULL;
}

static bool includes(const struct open_event *open, int64_t begin_ps, int64_t end_ps)
{
    return open->begin_ps <= begin_ps && end_ps <= open->end_ps;
}

/* Closes what does not include [begin, end). A node that nothing hung on is forgotten if it was the last. */
static __attribute__((noinline)) void others_close(struct trace_groups *groups, int64_t begin_ps, int64_t end_ps)
{
    struct open_event *top;
    while ((top = top_of(groups)) != NULL && !includes(top, begin_ps, end_ps)) {
        const struct trace_link *last = groups->consumers.count > 0
                                            ? (struct trace_link *)groups->consumers.items + groups->consumers.count - 1
                                            : NULL;
        if (!top->is_used && top->node == groups->parents.count - 1 && last != NULL && last->node == top->node) {
            groups->parents.count--;
            groups->consumers.count--;
        }
        groups->open.count--;
    }
}

/* The innermost open event that includes [begin, end]; those that do not are closed. */
static inline struct open_event *nearest(struct trace_groups *groups, int64_t begin_ps, int64_t end_ps)
{
    struct open_event *top = top_of(groups);
    if (top == NULL || includes(top, begin_ps, end_ps))
        return top;
    others_close(groups, begin_ps, end_ps);
    return top_of(groups);
}

static void link_add(struct trace_groups *groups, struct list *links, const struct trace_event *event,
                     enum trace_stat type, enum trace_stat id, uint32_t node)
{
    struct trace_link *link = list_add(links, groups->work, sizeof *link);
    *link = (struct trace_link){(uint64_t)trace_line_number(event, type, 0), (uint64_t)trace_line_number(event, id, 0),
                                node};
}

static void root_add(struct trace_groups *groups, const struct trace_event *event, int64_t level, uint32_t node)
{
    struct root *root = list_add(&groups->roots, groups->work, sizeof *root);
    *root = (struct root){.node = node,
                          .level = level,
                          .timestamp_ns = groups->timestamp_ns,
                          .offset_ps = event->offset_ps,
                          .duration_ps = event->duration_ps,
                          .name_id = event->metadata_id,
                          .step_number = trace_line_number(event, TRACE_STAT_STEP_NUMBER, -1),
                          .has_step_id = trace_line_has(event, TRACE_STAT_STEP_ID),
                          .step_id = trace_line_number(event, TRACE_STAT_STEP_ID, 0)};
}

static void class_take(struct trace_groups *groups, const struct trace_event *event, uint32_t node)
{
    if (event->class == TRACE_EXECUTOR && trace_line_has(event, TRACE_STAT_STEP_ID) &&
        trace_line_has(event, TRACE_STAT_ITERATION)) {
        struct iteration *iteration = list_add(&groups->iterations, groups->work, sizeof *iteration);
        *iteration = (struct iteration){trace_line_number(event, TRACE_STAT_STEP_ID, 0),
                                        trace_line_number(event, TRACE_STAT_ITERATION, 0),
                                        groups->timestamp_ns,
                                        event->offset_ps,
                                        0,
                                        node};
    }
    if (event->class == TRACE_DATA_FUNCTION && trace_line_has(event, TRACE_STAT_STEP_ID))
        *(int64_t *)list_add(&groups->data_steps, groups->work, sizeof(int64_t)) =
            trace_line_number(event, TRACE_STAT_STEP_ID, 0);
}

uint32_t trace_groups_event(struct trace_groups *groups, const struct trace_event *event)
{
    bool is_memory = trace_class_is_memory(event->class);
    int64_t end_ps;
    if (!trace_groups_asks(event))
        return TRACE_NO_NODE;
    if (__builtin_add_overflow(event->offset_ps, event->duration_ps, &end_ps))
        end_ps = INT64_MAX;
    if (is_memory && (event->stats & TRACE_LINKS) == 0) { /* nearly all that ask */
        struct open_event *open = nearest(groups, event->offset_ps, end_ps);
        if (open == NULL)
            return TRACE_NO_NODE;
        open->is_used = true;
        return open->node;
    }
    int64_t level = trace_line_number(event, TRACE_STAT_ROOT_LEVEL, 0);
    bool is_async = trace_line_number(event, TRACE_STAT_ASYNC, 0) != 0;
    bool is_consumer = trace_line_has(event, TRACE_STAT_CONSUMER_TYPE) && trace_line_has(event, TRACE_STAT_CONSUMER_ID);
    bool is_producer = trace_line_has(event, TRACE_STAT_PRODUCER_TYPE) && trace_line_has(event, TRACE_STAT_PRODUCER_ID);
    if (event->class == TRACE_CONTEXT && level == 0)
        level = 1;
    struct open_event *around = is_async ? NULL : nearest(groups, event->offset_ps, end_ps);
    uint32_t node = around != NULL ? around->node : TRACE_NO_NODE;
    if (around != NULL && (is_memory || is_producer || level != 0 || is_consumer))
        around->is_used = true;
    if (level != 0 || is_consumer || event->class == TRACE_EXECUTOR) {
        arena_work(groups->work, 64);
        *(uint32_t *)list_add(&groups->parents, groups->work, sizeof(uint32_t)) = node;
        node = (uint32_t)groups->parents.count - 1;
        if (is_consumer)
            link_add(groups, &groups->consumers, event, TRACE_STAT_CONSUMER_TYPE, TRACE_STAT_CONSUMER_ID, node);
        if (level != 0)
            root_add(groups, event, level, node);
        class_take(groups, event, node);
        if (!is_async) {
            struct open_event *open = list_add(&groups->open, groups->work, sizeof *open);
            *open = (struct open_event){event->offset_ps, end_ps, node,
                                        is_memory || is_producer || level != 0 || event->class == TRACE_EXECUTOR};
        }
    } else {
        class_take(groups, event, node);
    }
    if (is_producer && node != TRACE_NO_NODE)
        link_add(groups, &groups->producers, event, TRACE_STAT_PRODUCER_TYPE, TRACE_STAT_PRODUCER_ID, node);
    return node;
}

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
    memset(counts, 0, count * sizeof *counts);
    groups->hub_of = arena_array(groups->arena, uint32_t, count + 1);
    memset(groups->hub_of, 0xff, (count + 1) * sizeof *groups->hub_of);
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
    groups->group_of = arena_raw(groups->arena, (count + 1) * sizeof *groups->group_of);
    memset(groups->group_of, 0xff, (count + 1) * sizeof *groups->group_of);
}

static void visit_node(struct trace_groups *groups, struct list *queue, uint32_t node)
{
    if (node == TRACE_NO_NODE || groups->seen[node] == groups->stamp)
        return;
    groups->seen[node] = groups->stamp;
    *(uint32_t *)list_add(queue, groups->work, sizeof node) = node;
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

/* Hands `number` down from `from`; stops at nodes that have one. */
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
    if (a->level != b->level)
        return a->level > b->level ? -1 : 1;
    if (a->begin_ps != b->begin_ps)
        return a->begin_ps < b->begin_ps ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static int by_iteration(const void *left, const void *right)
{
    const struct iteration *a = left, *b = right;
    if (a->step_id != b->step_id)
        return a->step_id < b->step_id ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    if (a->begin_ps != b->begin_ps)
        return a->begin_ps < b->begin_ps ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static bool is_data_step(const struct trace_groups *groups, int64_t step_id)
{
    return groups->data_steps.count > 0 &&
           bsearch(&step_id, groups->data_steps.items, groups->data_steps.count, sizeof step_id, by_number) != NULL;
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
    qsort(runs, count, sizeof *runs, by_iteration);
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
            struct root *root = list_add(&groups->roots, groups->work, sizeof *root);
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
        qsort(roots, groups->roots.count, sizeof *roots, by_level);
    for (size_t i = 0; i < groups->roots.count && !is_grouped; i++) {
        if (!has_loops &&
            ((roots[i].has_step_id && is_data_step(groups, roots[i].step_id)) || groups->group_of[roots[i].node] >= 0 ||
             has_equal_ancestor(groups, &roots[i], level_of, &queue)))
            continue;
        int64_t end_ps = trace_groups_time(roots[i].timestamp_ns, origin_ns, roots[i].offset_ps, &is_clamped);
        if (__builtin_add_overflow(end_ps, roots[i].duration_ps > 0 ? roots[i].duration_ps : 0, &end_ps) ||
            end_ps > TRACE_TIME_MOST_PS)
            end_ps = roots[i].begin_ps;
        (*steps)[*step_count] = (struct trace_step){(int64_t)*step_count, roots[i].name_id, roots[i].step_number,
                                                    roots[i].begin_ps, end_ps};
        spread(groups, roots[i].node, (int64_t)(*step_count)++, &queue);
    }
    list_free(&queue);
}

void trace_groups_free(struct trace_groups *groups)
{
    struct list *lists[] = {&groups->parents, &groups->open,       &groups->producers, &groups->consumers,
                            &groups->roots,   &groups->iterations, &groups->data_steps};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        list_free(lists[i]);
}

int64_t trace_groups_of(const struct trace_groups *groups, uint32_t node)
{
    return node == TRACE_NO_NODE || groups->group_of == NULL ? -1 : groups->group_of[node];
}
