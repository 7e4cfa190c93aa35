/* SPDX-License-Identifier: Apache-2.0 */
#include "views/device_memory/tree.h"

#include "base/select.h"

#include <assert.h>
#include <stdlib.h>

/* Nodes are counted by the first three binary digits of their sizes and by their
 * depths, so that a limit can be chosen before anything is kept. */
enum { STEPS = 4, BUCKET_COUNT = 64 * STEPS, DEPTH_COUNT = 512 };

/* What is kept: larger buckets whole, of one bucket the nodes nearest to the root.
 * A parent is in no smaller bucket than its child, so it is kept with it. */
struct limit {
    uint32_t bucket, depth; /* of this bucket, nodes above this depth */
    uint64_t room;          /* and the first so many at it */
};

struct tree_growing {
    const struct model *model;
    struct tree_node *open; /* the path to the stack at hand; the root is the first */
    uint32_t open_count;
    uint64_t counts[BUCKET_COUNT][DEPTH_COUNT]; /* by depth; the last has all that are deeper */
    struct limit limit;
    struct tree_node *kept; /* NULL while only counting; children before their parents */
    uint32_t kept_count;
    uint64_t left_out_count;
};

static int by_frames(const void *left, const void *right)
{
    const struct tree_stack *a = left, *b = right;
    uint32_t shorter = a->length < b->length ? a->length : b->length;
    for (uint32_t i = 0; i < shorter; i++)
        if (a->frames[i] != b->frames[i])
            return a->frames[i] < b->frames[i] ? -1 : 1;
    return ORDER(a->length, b->length) ?: ORDER(a->sample, b->sample);
}

static uint32_t bucket_of(int64_t size)
{
    if (size < STEPS)
        return (uint32_t)size;
    uint32_t digits = 63 - (uint32_t)__builtin_clzll((uint64_t)size);
    return digits * STEPS + (uint32_t)((uint64_t)size >> (digits - 2) & 3);
}

/* The smallest size of a bucket. */
static int64_t bucket_min(uint32_t bucket)
{
    if (bucket < 2 * STEPS)
        return bucket;
    if (bucket >= 63 * STEPS)
        return INT64_MAX;
    return (int64_t)(4 + bucket % STEPS) << (bucket / STEPS - 2);
}

static uint32_t depth_of(const struct tree_node *node)
{
    return node->depth < DEPTH_COUNT ? node->depth : DEPTH_COUNT - 1;
}

static bool fits(struct limit *limit, const struct tree_node *node)
{
    uint32_t bucket = bucket_of(node->size), depth = depth_of(node);
    if (node->depth == 0 || node->size == 0 || bucket != limit->bucket || depth != limit->depth)
        return node->depth == 0 ||
               (node->size > 0 && (bucket > limit->bucket || (bucket == limit->bucket && depth < limit->depth)));
    bool has_room = limit->room > 0;
    limit->room -= has_room;
    return has_room;
}

/* What a stack adds to each node from its leaf to the root. */
static struct tree_node figures_of(const struct tree_growing *growing, const struct tree_stack *stack)
{
    const struct model *model = growing->model;
    const struct model_sample *sample = &model->samples[stack->sample];
    int64_t value = model_value(model, sample);
    bool is_base = model_is_base(model, sample);
    return (struct tree_node){.total = value,
                              .count = model_count(model, sample),
                              .before = is_base ? pprof_negated(value) : 0,
                              .after = is_base ? 0 : value,
                              .size = pprof_size(value)};
}

static void add_figures(struct tree_node *node, const struct tree_node *figures)
{
    node->total = pprof_add(node->total, figures->total);
    node->count = pprof_add(node->count, figures->count);
    node->before = pprof_add(node->before, figures->before);
    node->after = pprof_add(node->after, figures->after);
    node->size = pprof_add(node->size, figures->size);
}

static void close_node(struct tree_growing *growing)
{
    struct tree_node *node = &growing->open[--growing->open_count];
    if (node->depth > 0)
        add_figures(node - 1, node);
    if (growing->kept == NULL)
        growing->counts[bucket_of(node->size)][depth_of(node)]++;
    else if (fits(&growing->limit, node))
        growing->kept[growing->kept_count++] = *node;
    else
        growing->left_out_count++;
}

/* The nodes below depth `from` are of this stack alone, and so all of one size. True when none of them is opened: they
 * are counted, or too small to be kept. Most nodes of most trees are such. */
static bool is_skipped(struct tree_growing *growing, const struct tree_stack *stack, uint32_t from,
                       const struct tree_node *figures)
{
    uint32_t bucket = bucket_of(figures->size);
    if (from == stack->length || (growing->kept != NULL && figures->size > 0 && bucket >= growing->limit.bucket))
        return false;
    if (growing->kept != NULL)
        growing->left_out_count += stack->length - from;
    for (uint32_t depth = from + 1; growing->kept == NULL && depth <= stack->length; depth++)
        growing->counts[bucket][depth < DEPTH_COUNT ? depth : DEPTH_COUNT - 1]++;
    return true;
}

/* `shared`: how deep the stack is one with the one before; `next`, with the one behind. */
static void add_stack(struct tree_growing *growing, const struct tree_stack *stack, uint32_t shared, uint32_t next)
{
    uint32_t own_from = shared > next ? shared : next;
    struct tree_node figures = figures_of(growing, stack);
    bool skips = is_skipped(growing, stack, own_from, &figures);
    while (growing->open_count > shared + 1)
        close_node(growing);
    for (uint32_t at = 0; growing->kept != NULL && at < shared; at++)
        if (stack->folded[at] > growing->open[at + 1].folded_above)
            growing->open[at + 1].folded_above = stack->folded[at];
    for (uint32_t at = shared; at < (skips ? own_from : stack->length); at++)
        growing->open[growing->open_count++] =
            (struct tree_node){.frame = stack->frames[at], .depth = at + 1, .folded_above = stack->folded[at]};
    struct tree_node *last = &growing->open[growing->open_count - 1];
    add_figures(last, &figures);
    if (skips)
        return;
    last->self = pprof_add(last->self, figures.total);
    if (stack->folded_below > last->folded_below)
        last->folded_below = stack->folded_below;
}

static uint32_t shared_depth(const struct tree_stack *a, const struct tree_stack *b)
{
    uint32_t shorter = a->length < b->length ? a->length : b->length, depth = 0;
    while (depth < shorter && a->frames[depth] == b->frames[depth])
        depth++;
    return depth;
}

/* Meets every node once, children before parents. `shared[i]`: how deep stack i is one with the one before. */
static void tree_grow(struct tree_growing *growing, const struct tree_stack *stacks, uint32_t stack_count,
                      const uint32_t *shared)
{
    growing->open[0] = (struct tree_node){.frame = TREE_ROOT};
    growing->open_count = 1;
    for (uint32_t i = 0; i < stack_count; i++) {
        arena_work(growing->model->arena, stacks[i].length + 1);
        add_stack(growing, &stacks[i], shared[i], shared[i + 1]);
    }
    while (growing->open_count > 0)
        close_node(growing);
}

/* Without the root, which is always kept and needs no room. */
static struct limit choose_limit(const struct tree_growing *growing, uint32_t nodes_max)
{
    uint64_t room = nodes_max;
    for (uint32_t bucket = BUCKET_COUNT; bucket-- > 1;) {
        for (uint32_t depth = 1; depth < DEPTH_COUNT; depth++) {
            uint64_t count = growing->counts[bucket][depth];
            if (count > room) /* of the deepest some may be each other's parents: none */
                return (struct limit){bucket, depth, depth < DEPTH_COUNT - 1 ? room : 0};
            room -= count;
        }
    }
    return (struct limit){0, 0, 0};
}

/* How many nodes a limit keeps at most, beside the root. */
static uint64_t count_kept(const struct tree_growing *growing, const struct limit *limit)
{
    uint64_t count = limit->room;
    for (uint32_t bucket = limit->bucket; bucket < BUCKET_COUNT; bucket++)
        for (uint32_t depth = 1; depth < (bucket == limit->bucket ? limit->depth : DEPTH_COUNT); depth++)
            count += growing->counts[bucket][depth];
    return count;
}

/* ---- the order of siblings ---- */

struct child {
    uint32_t parent, node;
    int64_t size;
};

static int by_parent_and_size(const void *left, const void *right)
{
    const struct child *a = left, *b = right;
    return ORDER(a->parent, b->parent) ?: ORDER(b->size, a->size) ?: ORDER(a->node, b->node);
}

/* Puts the kept nodes, which are in the order of their closing, into that of the tree. */
static void order_nodes(const struct tree_growing *growing, uint32_t depth_max, struct tree *tree)
{
    struct arena *arena = growing->model->arena;
    uint32_t count = growing->kept_count, pending = 0;
    struct child *children = arena_array(arena, struct child, (size_t)count + 1);
    uint32_t *first = arena_array(arena, uint32_t, (size_t)count + 1);
    uint32_t *stack = arena_array(arena, uint32_t, (size_t)count + 1);
    uint32_t *path = arena_array(arena, uint32_t, (size_t)depth_max + 2);
    for (uint32_t i = 0; i < count; i++) { /* from the last closed, the root, on: parents come first */
        const struct tree_node *node = &growing->kept[count - 1 - i];
        path[node->depth] = i;
        children[i] = (struct child){node->depth > 0 ? path[node->depth - 1] : UINT32_MAX, i, node->size};
    }
    arena_work(arena, select_work(count));
    qsort(children, count, sizeof(*children), by_parent_and_size);
    for (uint32_t i = count; i-- > 0;)
        if (children[i].parent != UINT32_MAX)
            first[children[i].parent] = i + 1;
    tree->nodes = arena_array(arena, struct tree_node, (size_t)count + 1);
    stack[pending++] = 0;
    while (pending > 0) {
        uint32_t at = stack[--pending], end = first[at];
        tree->nodes[tree->count++] = growing->kept[count - 1 - at];
        if (end == 0)
            continue;
        while (end <= count && children[end - 1].parent == at)
            end++;
        while (--end >= first[at])
            stack[pending++] = children[end - 1].node;
    }
    assert(tree->count == count); /* every kept node has a kept parent */
}

void tree_make(const struct model *model, struct tree_stack *stacks, uint32_t stack_count, uint32_t nodes_max,
               struct tree *tree)
{
    struct tree_growing *growing = arena_array(model->arena, struct tree_growing, 1);
    *tree = (struct tree){0};
    for (uint32_t i = 0; i < stack_count; i++)
        tree->depth_max = stacks[i].length > tree->depth_max ? stacks[i].length : tree->depth_max;
    uint64_t frame_count = 0;
    for (uint32_t i = 0; i < stack_count; i++)
        frame_count += stacks[i].length;
    arena_work(model->arena, 2 * frame_count + select_work(stack_count));
    qsort(stacks, stack_count, sizeof(*stacks), by_frames);
    growing->model = model;
    growing->open = arena_array(model->arena, struct tree_node, (size_t)tree->depth_max + 2);
    uint32_t *shared = arena_array(model->arena, uint32_t, (size_t)stack_count + 1);
    for (uint32_t i = 1; i < stack_count; i++)
        shared[i] = shared_depth(&stacks[i - 1], &stacks[i]);
    tree_grow(growing, stacks, stack_count, shared);
    growing->limit = choose_limit(growing, nodes_max);
    uint64_t node_count = count_kept(growing, &growing->limit);
    tree->left_out_below = growing->limit.bucket > 0 ? bucket_min(growing->limit.bucket + 1) : 0;
    growing->kept = arena_array(model->arena, struct tree_node, node_count + 1);
    tree_grow(growing, stacks, stack_count, shared);
    order_nodes(growing, tree->depth_max, tree);
    tree->left_out_count = growing->left_out_count;
}
