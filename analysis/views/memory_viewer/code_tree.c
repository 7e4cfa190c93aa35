/* SPDX-License-Identifier: Apache-2.0
 * code_tree.c: see code_tree.h. */
#include "views/memory_viewer/code_tree.h"

#include "base/select.h"
#include "base/sort.h"
#include "base/sum.h"

#include <stdlib.h>

static const uint64_t ID_SEED = 0x636f6465; /* ids are part of page addresses: equal in every run */

/* ---- growing ---- */

static uint32_t name_number(struct code_tree *tree, const struct code_path_piece *piece, enum code_path_kind kind,
                            struct str text)
{
    char key[CODE_PATH_TEXT_MAX + 1];
    key[0] = (char)('a' + (int)kind);
    memcpy(key + 1, text.data, text.length);
    uint32_t number = intern_number(&tree->names, (struct str){key, text.length + 1});
    if (number == tree->name_facts.count) {
        struct str kept = tree->names.items[number];
        CHUNKS_ADD(&tree->name_facts, struct code_tree_name,
                   ((struct code_tree_name){
                       {kept.data + 1, kept.length - 1}, piece->file, piece->function, piece->line, kind}));
    }
    return number;
}

/* The child of that name, which is made if it is not there; MAP_NONE past the limit. */
static uint32_t child_of(struct code_tree *tree, uint32_t parent, uint32_t name)
{
    const uint64_t key[] = {parent, name};
    if (tree->nodes.count >= CODE_TREE_NODES_MAX)
        return table_find(&tree->children, key, 2) == MAP_NONE ? MAP_NONE : table_find(&tree->children, key, 2) + 1;
    uint32_t node = table_number(&tree->children, key) + 1; /* the root is no child */
    if (node == tree->nodes.count) {
        struct str text = tree->names.items[name];
        struct code_tree_node *over = code_tree_node(tree, parent);
        uint64_t id = hash_bytes(text.data, text.length, over->id);
        CHUNKS_ADD(&tree->nodes, struct code_tree_node,
                   ((struct code_tree_node){
                       .id = id, .parent = parent, .depth = over->depth + 1, .name = name, .layer = name}));
    }
    return node;
}

struct walk {
    struct code_tree *tree;
    uint32_t node;
    bool is_cut;
};

static void step_down(struct walk *walk, uint32_t name)
{
    uint32_t child = walk->is_cut ? MAP_NONE : child_of(walk->tree, walk->node, name);
    walk->is_cut |= child == MAP_NONE;
    walk->node = walk->is_cut ? walk->node : child;
}

static void piece_take(void *context, const struct code_path_piece *piece)
{
    struct walk *walk = context;
    struct code_tree *tree = walk->tree;
    step_down(walk, name_number(tree, piece, piece->kind, piece->text));
    if (piece->kind != CODE_PATH_LAYERS || walk->is_cut)
        return;
    uint32_t own = name_number(tree, piece, CODE_PATH_SCOPE, piece->own);
    const uint64_t key[] = {walk->node, own};
    struct code_tree_node *node = code_tree_node(tree, walk->node);
    uint32_t known = (uint32_t)table_count(&tree->layers);
    if (table_number(&tree->layers, key) == known) {
        node->layer = own;
        node->layer_count++;
    }
    if (tree->opens_all || node->id == tree->open)
        step_down(walk, own);
}

static void code_tree_grow(struct code_tree *tree)
{
    struct arena *arena = tree->arena;
    intern_init(&tree->names, arena);
    chunks_init(&tree->name_facts, arena, sizeof(struct code_tree_name));
    chunks_init(&tree->nodes, arena, sizeof(struct code_tree_node));
    table_init(&tree->children, arena, 2);
    table_init(&tree->layers, arena, 2);
    tree->node_of_row = arena_array(arena, uint32_t, (size_t)tree->space->row_count + 1);
    tree->place_of_row = arena_array(arena, uint32_t, (size_t)tree->space->row_count + 1);
    const struct code_path_piece all = {.kind = CODE_PATH_GROUP, .line = -1};
    name_number(tree, &all, CODE_PATH_GROUP, STR("all"));
    CHUNKS_ADD(&tree->nodes, struct code_tree_node, ((struct code_tree_node){.id = ID_SEED, .parent = MAP_NONE}));
    for (uint32_t i = 0; i < tree->space->row_count; i++) {
        struct walk walk = {.tree = tree};
        arena_work(arena, code_path_work(tree->plan, &tree->space->rows[i]));
        code_path_walk(tree->plan, &tree->space->rows[i], (enum code_path_way)tree->way, piece_take, &walk);
        tree->node_of_row[i] = walk.node;
        tree->cut_count += walk.is_cut;
    }
}

/* ---- sums ---- */

static int64_t times(int64_t bytes, uint32_t steps)
{
    int64_t product;
    return __builtin_mul_overflow(bytes, (int64_t)steps, &product) ? INT64_MAX : product;
}

/* What lives to the end is alive in every step; a program without steps has one. */
static uint32_t steps_alive(const struct plan_space *space, const struct plan_row *row)
{
    uint32_t all = space->step_count > 0 ? space->step_count : 1;
    if (row->is_indefinite)
        return all;
    uint32_t dies = row->dies < all ? row->dies : all;
    return dies > row->born ? dies - row->born : 0;
}

static int64_t value_of(const struct code_tree *tree, const struct plan_row *row)
{
    switch (tree->metric) {
    case CODE_TREE_BYTE_STEPS: return times(row->bytes, steps_alive(tree->space, row));
    case CODE_TREE_PADDING: return views_padding(row);
    default: return row->bytes;
    }
}

static void sum(struct code_tree *tree)
{
    for (uint32_t i = 0; i < tree->space->row_count; i++) {
        const struct plan_row *row = &tree->space->rows[i];
        struct code_tree_node *node = code_tree_node(tree, tree->node_of_row[i]);
        int64_t value = value_of(tree, row);
        bool is_meant = tree->is_all || tree->metric == CODE_TREE_BYTE_STEPS || plan_row_is_alive(row, tree->step);
        if (is_meant) {
            tree->count++;
            tree->total = sum_add(tree->total, value);
        }
        bool is_kept = filter_matches(&tree->filter, i);
        tree->place_of_row[i] = is_kept ? tree->node_of_row[i] : MAP_NONE;
        if (!is_meant || !is_kept) {
            tree->node_of_row[i] = MAP_NONE;
            continue;
        }
        node->count++;
        node->own = sum_add(node->own, value);
        node->total = sum_add(node->total, value);
    }
    for (uint32_t i = (uint32_t)tree->nodes.count; i-- > 1;) { /* children come behind their parents */
        const struct code_tree_node *node = code_tree_node(tree, i);
        struct code_tree_node *parent = code_tree_node(tree, node->parent);
        parent->total = sum_add(parent->total, node->total);
        parent->count += node->count;
    }
}

/* ---- what is shown ---- */

struct item {
    int64_t total;
    uint32_t node;
};

static int by_total(const void *left, const void *right, void *context)
{
    const struct item *a = left, *b = right;
    (void)context;
    return ORDER(b->total, a->total) ?: ORDER(a->node, b->node);
}

/* The children of the root, largest first, from `offset` on; those before count as its rest. */
static void children_page(struct code_tree *tree)
{
    struct item *items = arena_array(tree->arena, struct item, tree->nodes.count);
    for (uint32_t i = tree->root + 1; i < tree->nodes.count; i++)
        if (code_tree_node(tree, i)->parent == tree->root && code_tree_node(tree, i)->count > 0)
            items[tree->child_count++] = (struct item){code_tree_node(tree, i)->total, i};
    arena_work(tree->arena, select_work(tree->child_count));
    sort_items(items, tree->child_count, sizeof(*items), by_total, NULL);
    code_tree_node(tree, tree->root)->is_inside = true;
    for (uint32_t i = tree->offset < tree->child_count ? (uint32_t)tree->offset : tree->child_count;
         i < tree->child_count; i++)
        code_tree_node(tree, items[i].node)->is_inside = true;
}

/* Chooses the largest nodes below the root; a parent is no smaller than its child and comes before it. */
static void code_tree_choose(struct code_tree *tree)
{
    uint32_t count = 0, need;
    struct item *items = arena_array(tree->arena, struct item, tree->nodes.count);
    children_page(tree);
    for (uint32_t i = tree->root + 1; i < tree->nodes.count; i++) {
        struct code_tree_node *node = code_tree_node(tree, i);
        if (node->parent >= tree->root && node->parent != tree->root)
            node->is_inside = code_tree_node(tree, node->parent)->is_inside;
        if (node->is_inside && node->total > 0)
            items[count++] = (struct item){node->total, i};
    }
    tree->inside_count = count;
    need = count < tree->nodes_max ? count : (uint32_t)tree->nodes_max;
    select_smallest(tree->arena, items, count, sizeof(*items), need, by_total, NULL);
    arena_work(tree->arena, select_work(need));
    sort_items(items, need, sizeof(*items), by_total, NULL);
    code_tree_node(tree, tree->root)->shown = 1;
    for (uint32_t i = 0; i < need; i++)
        code_tree_node(tree, items[i].node)->shown = 1;
    tree->left_out_below = need < count && need > 0 ? items[need - 1].total : 0;
    tree->shown = arena_array(tree->arena, uint32_t, (size_t)need + 1);
    tree->shown_count = need + 1;
    for (uint32_t i = tree->root + 1; i < tree->nodes.count; i++) { /* the rest of those that are shown */
        const struct code_tree_node *node = code_tree_node(tree, i);
        struct code_tree_node *parent = code_tree_node(tree, node->parent);
        if (node->parent < tree->root || node->shown || !parent->shown)
            continue;
        parent->rest = sum_add(parent->rest, node->total);
        parent->rest_count += node->count;
    }
}

struct sibling {
    int64_t total;
    uint32_t parent, node;
};

static int by_parent(const void *left, const void *right)
{
    const struct sibling *a = left, *b = right;
    return ORDER(a->parent, b->parent) ?: ORDER(b->total, a->total) ?: ORDER(a->node, b->node);
}

/* Parents before their children, larger siblings first. */
static void code_tree_order(struct code_tree *tree)
{
    struct arena *arena = tree->arena;
    struct sibling *items = arena_array(arena, struct sibling, tree->shown_count);
    uint32_t *first = arena_array(arena, uint32_t, tree->nodes.count),
             *stack = arena_array(arena, uint32_t, tree->shown_count);
    uint32_t count = 0, pending = 0;
    for (uint32_t i = tree->root + 1; i < tree->nodes.count; i++)
        if (code_tree_node(tree, i)->shown)
            items[count++] = (struct sibling){code_tree_node(tree, i)->total, code_tree_node(tree, i)->parent, i};
    arena_work(arena, select_work(count));
    qsort(items, count, sizeof(*items), by_parent);
    for (uint32_t i = count; i-- > 0;)
        first[items[i].parent] = i + 1;
    tree->shown_count = 0;
    stack[pending++] = tree->root;
    while (pending > 0) {
        uint32_t at = stack[--pending], end = first[at];
        tree->shown[tree->shown_count++] = at;
        code_tree_node(tree, at)->shown = tree->shown_count;
        if (end == 0)
            continue;
        while (end <= count && items[end - 1].parent == at)
            end++;
        while (--end >= first[at])
            stack[pending++] = items[end - 1].node;
    }
}

static bool root_find(struct code_tree *tree, struct err *err)
{
    while (tree->at != 0 && tree->root < tree->nodes.count && code_tree_node(tree, tree->root)->id != tree->at)
        tree->root++;
    return tree->root < tree->nodes.count ||
           err_set(err, ERR_notfound, ERR_NO_OFFSET, "at: this program has no such place in its code");
}

bool code_tree_make(struct code_tree *tree, struct err *err)
{
    code_tree_grow(tree);
    if (!root_find(tree, err))
        return false;
    sum(tree);
    code_tree_choose(tree);
    code_tree_order(tree);
    return true;
}

/* ---- categories ---- */

const uint8_t *code_tree_categories(const struct code_tree *tree)
{
    int64_t(*sums)[CATEGORY_COUNT] = arena_alloc(tree->arena, tree->shown_count, sizeof(*sums));
    uint8_t *largest = arena_array(tree->arena, uint8_t, tree->shown_count);
    for (uint32_t i = 0; i < tree->space->row_count; i++) {
        const struct plan_row *row = &tree->space->rows[i];
        for (uint32_t at = tree->node_of_row[i]; at != MAP_NONE && at >= tree->root;
             at = code_tree_node(tree, at)->parent) {
            const struct code_tree_node *node = code_tree_node(tree, at);
            arena_work(tree->arena, 1);
            if (!node->shown)
                continue;
            int64_t *place = &sums[node->shown - 1][row->choice.category];
            *place = sum_add(*place, value_of(tree, row));
        }
    }
    for (uint32_t i = 0; i < tree->shown_count; i++) {
        largest[i] = CATEGORY_COUNT;
        for (uint8_t category = 0; category < CATEGORY_COUNT; category++)
            if (sums[i][category] > (largest[i] == CATEGORY_COUNT ? 0 : sums[i][largest[i]]))
                largest[i] = category;
    }
    return largest;
}

/* ---- savings ---- */

/* Calls back for each shown node that has the row below or in it. */
static void over_each(const struct code_tree *tree, uint32_t row, void (*visit)(void *context, uint32_t shown),
                      void *context)
{
    for (uint32_t at = tree->place_of_row[row]; at != MAP_NONE && at >= tree->root;
         at = code_tree_node(tree, at)->parent) {
        arena_work(tree->arena, 1);
        if (code_tree_node(tree, at)->shown)
            visit(context, code_tree_node(tree, at)->shown - 1);
    }
}

/* Rows by the shown nodes that they go with: those of node i end at ends[i], where those of the next begin. */
struct code_tree_gathering {
    uint32_t *ends, *rows, row;
};

static void row_count(void *context, uint32_t shown) { ((struct code_tree_gathering *)context)->ends[shown]++; }

static void row_put(void *context, uint32_t shown)
{
    struct code_tree_gathering *gathering = context;
    gathering->rows[gathering->ends[shown]++] = gathering->row;
}

const struct marginal_saving *code_tree_savings(const struct code_tree *tree)
{
    struct marginal_saving *savings = arena_array(tree->arena, struct marginal_saving, tree->shown_count);
    struct code_tree_gathering gathering = {.ends = arena_array(tree->arena, uint32_t, tree->shown_count)};
    struct marginal *marginal = memory_viewer_columns_marginal(&tree->context);
    uint64_t count = 0;
    for (uint32_t i = 0; i < tree->space->row_count; i++)
        over_each(tree, i, row_count, &gathering);
    for (uint32_t i = 0; i < tree->shown_count; i++) {
        uint32_t own = gathering.ends[i];
        gathering.ends[i] = (uint32_t)count;
        count += own;
    }
    gathering.rows = arena_array(tree->arena, uint32_t, count + 1);
    for (; gathering.row < tree->space->row_count; gathering.row++)
        over_each(tree, gathering.row, row_put, &gathering);
    for (uint32_t i = 0, first = 0; i < tree->shown_count; first = gathering.ends[i++])
        savings[i] = marginal_of_rows(marginal, gathering.rows + first, NULL, gathering.ends[i] - first);
    return savings;
}
