/* SPDX-License-Identifier: Apache-2.0
 * tree.c: see tree.h. */
#include "tool/device_memory/tree.h"

#include "base/select.h"

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

struct growing {
    const struct study *study;
    struct tree_node *open; /* the path to the stack at hand; the root is the first */
    uint32_t open_count;
    uint64_t counts[BUCKET_COUNT][DEPTH_COUNT]; /* by depth; the last has all that are deeper */
    struct limit limit;
    struct tree_node *kept;  /* NULL while only counting; children before their parents */
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
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return (a->sample > b->sample) - (a->sample < b->sample);
}

static uint32_t bucket_of(int64_t size)
{
    if (size < STEPS)
        return (uint32_t)size;
    uint32_t digits = 63 - (uint32_t)__builtin_clzll((uint64_t)size);
    return digits * STEPS + (uint32_t)((uint64_t)size >> (digits - 2) & 3);
}

/* The smallest size of a bucket. */
static int64_t bucket_least(uint32_t bucket)
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
        return node->depth == 0 || (node->size > 0 && (bucket > limit->bucket || (bucket == limit->bucket && depth < limit->depth)));
    bool has_room = limit->room > 0;
    limit->room -= has_room;
    return has_room;
}

static void close_node(struct growing *growing)
{
    struct tree_node *node = &growing->open[--growing->open_count], *parent = node - 1;
    if (node->depth > 0) {
        parent->total = pprof_add(parent->total, node->total);
        parent->count = pprof_add(parent->count, node->count);
        parent->before = pprof_add(parent->before, node->before);
        parent->after = pprof_add(parent->after, node->after);
        parent->size = pprof_add(parent->size, node->size);
    }
    if (growing->kept == NULL)
        growing->counts[bucket_of(node->size)][depth_of(node)]++;
    else if (fits(&growing->limit, node))
        growing->kept[growing->kept_count++] = *node;
    else
        growing->left_out_count++;
}

static void add_leaf(struct growing *growing, const struct tree_stack *stack)
{
    const struct study *study = growing->study;
    const struct study_sample *sample = &study->samples[stack->sample];
    struct tree_node *node = &growing->open[growing->open_count - 1];
    int64_t value = study_value(study, sample);
    node->self = pprof_add(node->self, value);
    node->total = pprof_add(node->total, value);
    node->count = pprof_add(node->count, study_count(study, sample));
    node->size = pprof_add(node->size, pprof_size(value));
    if (study_is_base(study, sample))
        node->before = pprof_add(node->before, pprof_negated(value));
    else
        node->after = pprof_add(node->after, value);
    if (stack->folded_below > node->folded_below)
        node->folded_below = stack->folded_below;
}

/* Meets every node once, children before parents. */
static void grow(struct growing *growing, const struct tree_stack *stacks, uint32_t stack_count)
{
    growing->open[0] = (struct tree_node){.frame = TREE_ROOT};
    growing->open_count = 1;
    for (uint32_t i = 0; i < stack_count; i++) {
        const struct tree_stack *stack = &stacks[i];
        uint32_t common = 0;
        arena_work(growing->study->arena, stack->length + 1);
        while (common < stack->length && common + 1 < growing->open_count && growing->open[common + 1].frame == stack->frames[common])
            common++;
        while (growing->open_count > common + 1)
            close_node(growing);
        for (uint32_t at = 0; at < common; at++)
            if (stack->folded[at] > growing->open[at + 1].folded_above)
                growing->open[at + 1].folded_above = stack->folded[at];
        for (uint32_t at = common; at < stack->length; at++)
            growing->open[growing->open_count++] =
                (struct tree_node){.frame = stack->frames[at], .depth = at + 1, .folded_above = stack->folded[at]};
        add_leaf(growing, stack);
    }
    while (growing->open_count > 0)
        close_node(growing);
}

/* Without the root, which is always kept and needs no room. */
static struct limit choose_limit(const struct growing *growing, uint32_t nodes_most)
{
    uint64_t room = nodes_most;
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
static uint64_t count_kept(const struct growing *growing, const struct limit *limit)
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
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? 1 : -1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Puts the kept nodes, which are in the order of their closing, into that of the tree. */
static void order_nodes(const struct growing *growing, uint32_t depth_most, struct tree *tree)
{
    struct arena *arena = growing->study->arena;
    uint32_t count = growing->kept_count, pending = 0;
    struct child *children = arena_array(arena, struct child, (size_t)count + 1);
    uint32_t *first = arena_array(arena, uint32_t, (size_t)count + 1);
    uint32_t *stack = arena_array(arena, uint32_t, (size_t)count + 1);
    uint32_t *path = arena_array(arena, uint32_t, (size_t)depth_most + 2);
    for (uint32_t i = 0; i < count; i++) { /* from the last closed, the root, on: parents come first */
        const struct tree_node *node = &growing->kept[count - 1 - i];
        path[node->depth] = i;
        children[i] = (struct child){node->depth > 0 ? path[node->depth - 1] : UINT32_MAX, i, node->size};
    }
    arena_work(arena, select_work(count));
    qsort(children, count, sizeof *children, by_parent_and_size);
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
}

void tree_make(const struct study *study, struct tree_stack *stacks, uint32_t stack_count, uint32_t nodes_most, struct tree *tree)
{
    struct growing *growing = arena_array(study->arena, struct growing, 1);
    *tree = (struct tree){0};
    for (uint32_t i = 0; i < stack_count; i++)
        tree->depth_most = stacks[i].length > tree->depth_most ? stacks[i].length : tree->depth_most;
    uint64_t frame_count = 0;
    for (uint32_t i = 0; i < stack_count; i++)
        frame_count += stacks[i].length;
    arena_work(study->arena, frame_count + select_work(stack_count));
    qsort(stacks, stack_count, sizeof *stacks, by_frames);
    growing->study = study;
    growing->open = arena_array(study->arena, struct tree_node, (size_t)tree->depth_most + 2);
    grow(growing, stacks, stack_count);
    growing->limit = choose_limit(growing, nodes_most);
    uint64_t node_count = count_kept(growing, &growing->limit);
    tree->left_out_below = growing->limit.bucket > 0 ? bucket_least(growing->limit.bucket + 1) : 0;
    growing->kept = arena_array(study->arena, struct tree_node, node_count + 1);
    grow(growing, stacks, stack_count);
    order_nodes(growing, tree->depth_most, tree);
    tree->left_out_count = growing->left_out_count;
}
