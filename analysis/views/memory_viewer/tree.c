/* SPDX-License-Identifier: Apache-2.0
 * tree.c: the view "tree": what takes memory by the person's code, below any node (at=), at most as large as a page can
 * take. */
#include "base/nearest.h"
#include "views/memory_viewer/code_tree.h"

#include <stdio.h>
#include <stdlib.h>

enum { NODES_DEFAULT = 2000, NODES_MAX = 20000, ID_SIZE = 17 };

static const char *const metric_names[] = {"bytes", "byte_steps", "padding"};

/* The names of an answer, each once. */
struct tree_naming {
    uint32_t *places; /* of each name of the tree, plus 1 */
    uint32_t *names, count;
};

/* ---- output ---- */

static void id_write(struct json *json, const struct code_tree_node *node)
{
    char id[ID_SIZE];
    snprintf(id, sizeof(id), "%016llx", (unsigned long long)node->id);
    json_text(json, id);
}

/* The name of a node; for a folded node with only one layer, that layer. */
static uint32_t shown_name(const struct code_tree_node *node)
{
    return node->layer_count == 1 ? node->layer : node->name;
}

static uint32_t name_place(struct tree_naming *naming, uint32_t name)
{
    if (naming->places[name] == 0) {
        naming->names[naming->count++] = name;
        naming->places[name] = naming->count;
    }
    return naming->places[name] - 1;
}

enum column { DEPTH, ID, NAME, TEXT, TOTAL, OWN, REST, REST_COUNT, COUNT, LAYERS, CATEGORY, COLUMN_COUNT };

static void cell_write(const struct code_tree *tree, struct tree_naming *naming, const struct code_tree_node *node,
                       enum column column, struct json *json)
{
    switch (column) {
    case DEPTH: json_uint(json, node->depth - code_tree_node(tree, tree->root)->depth); break;
    case ID: id_write(json, node); break;
    case NAME: json_uint(json, name_place(naming, shown_name(node))); break;
    case TEXT: json_uint(json, name_place(naming, node->name)); break;
    case TOTAL: json_int(json, node->total); break;
    case OWN: json_int(json, node->own); break;
    case REST: json_int(json, node->rest); break;
    case REST_COUNT: json_uint(json, node->rest_count); break;
    case COUNT: json_uint(json, node->count); break;
    case LAYERS: json_uint(json, node->layer_count); break;
    default: break;
    }
}

static void savings_write(const struct code_tree *tree, struct json *json)
{
    const struct marginal_saving *savings = code_tree_savings(tree);
    json_key_array(json, "saves");
    for (uint32_t i = 0; i < tree->shown_count; i++)
        json_int(json, savings[i].bytes);
    json_array_end(json);
    json_key_array(json, "next_peak_step");
    for (uint32_t i = 0; i < tree->shown_count; i++)
        savings[i].next_peak_step == PLAN_NONE ? json_null(json) : json_uint(json, savings[i].next_peak_step);
    json_array_end(json);
}

static void nodes_write(const struct code_tree *tree, struct tree_naming *naming, struct json *json)
{
    static const char *const names[COLUMN_COUNT] = {"depth", "id",         "name",  "key",    "total",   "self",
                                                    "rest",  "rest_count", "count", "layers", "category"};
    const uint8_t *categories = code_tree_categories(tree);
    naming->places = arena_array(tree->arena, uint32_t, tree->name_facts.count);
    naming->names = arena_array(tree->arena, uint32_t, tree->name_facts.count);
    json_key_object(json, "nodes");
    for (int column = 0; column < CATEGORY; column++) {
        json_key_array(json, names[column]);
        for (uint32_t i = 0; i < tree->shown_count; i++)
            cell_write(tree, naming, code_tree_node(tree, tree->shown[i]), (enum column)column, json);
        json_array_end(json);
    }
    savings_write(tree, json);
    json_key_array(json, names[CATEGORY]);
    for (uint32_t i = 0; i < tree->shown_count; i++)
        json_int(json, categories[i] == CATEGORY_COUNT ? -1 : categories[i]);
    json_array_end(json);
    json_object_end(json);
}

static void name_write(const struct code_tree_name *name, struct json *json)
{
    json_key_string(json, "text", name->text);
    json_key_text(json, "kind", code_path_kind_name(name->kind));
    json_key_string_if_any(json, "file", name->file);
    json_key_string_if_any(json, "function", name->function);
    json_key_known(json, "line", name->line);
}

static void path_write(const struct code_tree *tree, struct json *json)
{
    uint32_t path[CODE_PATH_DEPTH_MAX * 2 + 1], count = 0;
    for (uint32_t at = tree->root; at != 0 && count < sizeof(path) / sizeof(path[0]);
         at = code_tree_node(tree, at)->parent)
        path[count++] = at;
    json_key_array(json, "path");
    while (count-- > 0) {
        const struct code_tree_node *node = code_tree_node(tree, path[count]);
        json_object_begin(json);
        json_key(json, "id");
        id_write(json, node);
        name_write(code_tree_name(tree, shown_name(node)), json);
        json_key_string(json, "key", code_tree_name(tree, node->name)->text);
        json_key_uint(json, "layers", node->layer_count);
        json_object_end(json);
    }
    json_array_end(json);
}

static void answer_write(const struct code_tree *tree, struct json *json)
{
    struct tree_naming naming = {.count = 0};
    json_object_begin(json);
    json_key_int(json, "space", tree->space->space);
    json_key_known(json, "step", tree->is_all || tree->metric == CODE_TREE_BYTE_STEPS ? -1 : (int64_t)tree->step);
    json_key_text(json, "by", code_path_way_name((enum code_path_way)tree->way));
    json_key_text(json, "metric", metric_names[tree->metric]);
    json_key_uint(json, "total_count", tree->count);
    json_key_int(json, "total", tree->total);
    json_key_uint(json, "matched_count", code_tree_node(tree, 0)->count);
    json_key_int(json, "matched_total", code_tree_node(tree, 0)->total);
    json_key_uint(json, "child_count", tree->child_count);
    json_key_int(json, "offset", tree->offset);
    json_key_object(json, "left_out");
    json_key_uint(json, "node_count", tree->inside_count - (tree->shown_count - 1));
    json_key_int(json, "below", tree->left_out_below);
    json_object_end(json);
    path_write(tree, json);
    nodes_write(tree, &naming, json);
    json_key_array(json, "names");
    for (uint32_t i = 0; i < naming.count; i++) {
        json_object_begin(json);
        name_write(code_tree_name(tree, naming.names[i]), json);
        json_object_end(json);
    }
    json_array_end(json);
    json_key_array(json, "categories");
    for (int category = 0; category < CATEGORY_COUNT; category++)
        json_text(json, category_name((enum category)category));
    json_array_end(json);
    json_object_end(json);
}

/* ---- parameters ---- */

static bool word_read(const struct tool_request *request, const char *name, const char *what, const char *const *words,
                      size_t count, size_t *chosen, struct err *err)
{
    const char *text = tool_param_text(request, name);
    *chosen = 0;
    return text == NULL || nearest_choose(name, what, str_of(text), words, count, chosen, err);
}

static bool id_read(const struct tool_request *request, const char *name, uint64_t *id, struct err *err)
{
    const char *text = tool_param_text(request, name);
    char *end;
    *id = 0;
    if (text == NULL || *text == '\0')
        return true;
    *id = strtoull(text, &end, 16);
    return (*end == '\0' && strlen(text) == ID_SIZE - 1) ||
           err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: \"%.40s\" is no id of a node", name, text);
}

static bool tree_read(struct code_tree *tree, const struct tool_request *request, struct err *err)
{
    const char *const ways[] = {code_path_way_name(CODE_PATH_BY_SCOPE), code_path_way_name(CODE_PATH_BY_STACK)};
    const char *filter = tool_param_text(request, "filter"), *open = tool_param_text(request, "open");
    tree->plan = request->model;
    tree->arena = request->arena;
    tree->space = views_space(request, err);
    tree->context = memory_viewer_columns_of(request, tree->space);
    tree->opens_all = open != NULL && strcmp(open, "all") == 0;
    return tree->space != NULL && views_step(request, tree->space, true, &tree->step, &tree->is_all, err) &&
           word_read(request, "by", "way", ways, CODE_PATH_WAY_COUNT, &tree->way, err) &&
           word_read(request, "metric", "metric", metric_names, CODE_TREE_METRIC_COUNT, &tree->metric, err) &&
           tool_param_number(request, "nodes", 1, NODES_MAX, NODES_DEFAULT, &tree->nodes_max, err) &&
           tool_param_number(request, "offset", 0, INT32_MAX, 0, &tree->offset, err) &&
           id_read(request, "at", &tree->at, err) && (tree->opens_all || id_read(request, "open", &tree->open, err)) &&
           filter_read(filter != NULL ? filter : "", memory_viewer_columns, &tree->context, request->arena,
                       &tree->filter, err);
}

bool memory_viewer_tree(const struct tool_request *request, struct json *json, struct err *err)
{
    struct code_tree *tree = arena_array(request->arena, struct code_tree, 1);
    if (!tree_read(tree, request, err) || !code_tree_make(tree, err))
        return false;
    answer_write(tree, json);
    tool_note(request, "code_cut", tree->cut_count,
              "buffers whose code is nested too deeply, or is one of too many places: they count where it was cut");
    return true;
}
