/* SPDX-License-Identifier: Apache-2.0
 * code_tree.h: what takes memory in a space as a tree by the user's code (plan/code_path.h), of which the largest
 * nodes below one of them are shown.
 *
 * Of every node: total = what is its own + its children that are shown + the rest, which is not.
 * Cost: linear in the rows and their paths; at most CODE_TREE_NODES_MAX nodes, what is beyond counts higher up. */
#pragma once

#include "base/chunks.h"
#include "base/intern.h"
#include "base/table.h"
#include "plan/code_path.h"
#include "views/memory_viewer/columns.h"

enum { CODE_TREE_NODES_MAX = 1 << 19 };

enum code_tree_metric { CODE_TREE_BYTES, CODE_TREE_BYTE_STEPS, CODE_TREE_PADDING, CODE_TREE_METRIC_COUNT };

struct code_tree_name {
    struct str text, file, function;
    int64_t line;
    enum code_path_kind kind;
};

struct code_tree_node {
    uint64_t id;
    uint32_t parent, depth, name, layer; /* parent: before its children; layer: name of its only layer so far */
    uint32_t layer_count;                /* of a folded one */
    bool is_inside;                      /* below the root, and no child that was paged past */
    int64_t total, own, rest;
    uint32_t count, rest_count; /* buffers */
    uint32_t shown;             /* place among those that are shown, plus 1 */
};

struct code_tree {
    struct memory_viewer_columns_rows context; /* first, so that it serves the columns of the filter */
    /* what is asked */
    const struct plan *plan;
    const struct plan_space *space;
    struct arena *arena;
    struct filter filter;
    size_t way, metric;
    uint64_t at, open; /* ids; 0: the root, none */
    bool opens_all, is_all;
    int64_t nodes_max, offset;
    uint32_t step;
    /* what there is */
    struct intern names;      /* of a node: a byte of the kind, then the text */
    struct chunks name_facts; /* struct code_tree_name, by the same numbers */
    struct chunks nodes;      /* struct code_tree_node */
    struct table children;    /* parent and name to a node */
    struct table layers;      /* folded nodes and what they represent */
    uint32_t *node_of_row;    /* MAP_NONE: not counted */
    uint32_t *place_of_row;   /* the same whenever the row lives; MAP_NONE: the filter leaves it out */
    uint64_t cut_count;       /* rows that are shown higher than their code is */
    int64_t total;            /* without the filter */
    uint32_t count;
    /* what is shown */
    uint32_t root;
    uint32_t *shown, shown_count; /* parents before their children, larger siblings first; the root first */
    uint32_t child_count, inside_count;
    int64_t left_out_below; /* nodes that hold more are all shown; 0: every one is */
};

/* Makes all of what is asked. False with `notfound` if `at` names nothing. */
bool code_tree_make(struct code_tree *tree, struct err *err);
/* For each node that is shown the category that holds most of its bytes; CATEGORY_COUNT: it holds nothing. */
const uint8_t *code_tree_categories(const struct code_tree *tree);
/* For each node that is shown what the peak falls by without all that is below it, whenever it lives. */
const struct marginal_saving *code_tree_savings(const struct code_tree *tree);

static inline struct code_tree_node *code_tree_node(const struct code_tree *tree, uint32_t at)
{
    return chunks_at(&tree->nodes, at);
}
static inline const struct code_tree_name *code_tree_name(const struct code_tree *tree, uint32_t at)
{
    return chunks_at(&tree->name_facts, at);
}
