/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/call_arguments.h"

#include "plan/category.h"
#include "read/hlo/hlo_sharding.h"
#include "read/hlo/shape.h"
#include "whatif/call.h"
#include "whatif/glob.h"
#include "whatif/split.h"

/* The function's arguments that are written out; of more than that the rest is counted. */
enum { NAMES_MAX = 16, PIECES_MAX = 8 };

/* One of the function's arguments: a tree of arrays. */
struct tree {
    struct str name;
    uint32_t leaf_count, matching_count; /* arrays that a change could be of; of them those that it is of */
    bool is_data;
};

struct trees {
    struct tree items[NAMES_MAX];
    uint32_t count;
    bool is_whole; /* all of the function's arguments have a name and a place */
};

static bool is_data(const struct plan_argument *argument)
{
    return argument->choice.category == CATEGORY_BATCH || argument->choice.category == CATEGORY_INPUT;
}

/* May a change to other types, or a split, be of this array? */
typedef bool leaf_filter(const struct change *change, const struct shape_array *shape);

static bool is_castable(const struct change *change, const struct shape_array *shape)
{
    return shape_type_is_float(shape->type) && shape_type_bytes(shape->type) > shape_type_bytes(change->type);
}

static bool is_splittable(const struct change *change, const struct shape_array *shape)
{
    (void)change;
    return shape->rank > 0;
}

static struct tree *tree_of(struct trees *trees, struct str name)
{
    for (uint32_t i = 0; i < trees->count; i++)
        if (str_equal(trees->items[i].name, name))
            return &trees->items[i];
    if (name.length == 0 || trees->count == NAMES_MAX) {
        trees->is_whole = false;
        return NULL;
    }
    trees->items[trees->count] = (struct tree){.name = name};
    return &trees->items[trees->count++];
}

static void trees_read(const struct variant *variant, const struct change *change, leaf_filter *filter,
                       struct trees *trees)
{
    *trees = (struct trees){.is_whole = true};
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        struct shape_array shape;
        struct tree *tree = tree_of(trees, call_argument(argument->path));
        if (tree == NULL)
            continue;
        tree->is_data = tree->is_data || is_data(argument);
        if (!shape_array_read(argument->shape, &shape) || !filter(change, &shape))
            continue;
        arena_work(variant->arena, glob_work(change->glob, argument->path));
        tree->leaf_count++;
        tree->matching_count += glob_matches(change->glob, argument->path);
    }
}

/* The longest text between the stars of a glob: "mu" of "opt_state*.mu*". */
static struct str longest_piece(struct str glob)
{
    struct str longest = {glob.data, 0};
    for (size_t at = 0; at < glob.length;) {
        size_t end = at;
        while (end < glob.length && glob.data[end] != '*')
            end++;
        if (end - at > longest.length)
            longest = (struct str){glob.data + at, end - at};
        at = end + 1;
    }
    return longest;
}

/* What a leaf's path has to hold, as a condition in Python that takes just what the glob takes; "" where there is none.
 */
static const char *path_condition(const struct variant *variant, const struct change *change, leaf_filter *filter)
{
    struct str piece = longest_piece(change->glob);
    bool is_quoted = memchr(piece.data, '"', piece.length) != NULL || memchr(piece.data, '\\', piece.length) != NULL;
    if (piece.length == 0 || is_quoted)
        return "";
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        struct str name = call_argument(argument->path);
        struct str rest = {argument->path.data + name.length, argument->path.length - name.length};
        struct shape_array shape;
        if (!shape_array_read(argument->shape, &shape) || !filter(change, &shape))
            continue;
        arena_work(variant->arena, glob_work(change->glob, argument->path) + rest.length);
        if (glob_matches(change->glob, argument->path) != str_contains(rest, piece))
            return "";
    }
    return arena_format(variant->arena, "\"%.*s\" in jax.tree_util.keystr(path)", (int)piece.length, piece.data);
}

enum tree_part { TREES_MATCHING, TREES_OTHER };

/* "params, x": those that a change is of, or the others; data first with `data_first`. NULL: none. */
static const char *names_of(const struct variant *variant, const struct trees *trees, enum tree_part part,
                            bool data_first, uint32_t *count)
{
    const char *all = NULL;
    *count = 0;
    for (unsigned pass = 0; pass < (data_first ? 2 : 1); pass++)
        for (uint32_t i = 0; i < trees->count; i++) {
            const struct tree *tree = &trees->items[i];
            if ((tree->matching_count > 0) != (part == TREES_MATCHING) || (data_first && tree->is_data != (pass == 0)))
                continue;
            all = arena_format(variant->arena, "%s%s%.*s", all == NULL ? "" : all, all == NULL ? "" : ", ",
                               (int)tree->name.length, tree->name.data);
            ++*count;
        }
    return all;
}

/* Is the change of a part of some argument alone? */
static bool is_of_part(const struct trees *trees)
{
    for (uint32_t i = 0; i < trees->count; i++)
        if (trees->items[i].matching_count > 0 && trees->items[i].matching_count < trees->items[i].leaf_count)
            return true;
    return false;
}

/* "a, b = jax.tree.map(FUNCTION, (a, b))", or of the leaves that the condition takes. */
static const char *mapped(const struct variant *variant, const struct change *change, leaf_filter *filter,
                          const struct trees *trees, const char *names, uint32_t count, const char *value,
                          const char *test)
{
    const char *open = count > 1 ? "(" : "", *close = count > 1 ? ")" : "";
    const char *condition = is_of_part(trees) ? path_condition(variant, change, filter) : "";
    const char *and = test[0] != '\0' && condition[0] != '\0' ? " and " : "";
    const char *tests = arena_format(variant->arena, "%s%s%s", condition, and, test);
    const char *map =
        condition[0] != '\0' ? "jax.tree_util.tree_map_with_path(lambda path, x:" : "jax.tree.map(lambda x:";
    const char *comment =
        is_of_part(trees) && condition[0] == '\0'
            ? arena_format(variant->arena, "  # of it what matches %.*s", (int)change->glob.length, change->glob.data)
        : !trees->is_whole ? "  # and all other arguments"
                           : "";
    if (tests[0] == '\0')
        return arena_format(variant->arena, "%s = %s %s, %s%s%s)%s", names, map, value, open, names, close, comment);
    return arena_format(variant->arena, "%s = %s %s if %s else x, %s%s%s)%s", names, map, value, tests, open, names,
                        close, comment);
}

/* ---- cast ---- */

static const char *type_of_jax(uint64_t type)
{
    static const char *const names[][2] = {
        {"bf16", "jnp.bfloat16"}, {"f16", "jnp.float16"}, {"s8", "jnp.int8"}, {"f8e4m3fn", "jnp.float8_e4m3fn"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (shape_type_find(str_of(names[i][0])) == type)
            return names[i][1];
    return "dtype";
}

static bool is_of_mu_alone(const struct variant *variant, struct str glob)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        struct str path = variant->plan->arguments[i].path;
        arena_work(variant->arena, glob_work(glob, path));
        if (!glob_matches(glob, path))
            continue;
        count++;
        if (!glob_matches(STR("mu"), path))
            return false;
    }
    return count > 0;
}

/* Is it written piece by piece, as what a scan stacks? */
static bool is_updated(const struct graph *graph, uint32_t at)
{
    for (unsigned depth = 0; depth < 8 && at != HLO_NONE; depth++)
        switch (graph_op(graph, at)) {
        case GRAPH_UPDATE: return true;
        case GRAPH_FUSION:
            at = graph_called(graph, at, 0) == HLO_NONE ? HLO_NONE : graph->root_of[graph_called(graph, at, 0)];
            break;
        case GRAPH_COPY:
        case GRAPH_SAME:
        case GRAPH_ELEMENT: at = graph_operand(graph, at, 0); break;
        default: return false;
        }
    return false;
}

/* A buffer that the compiler fills in the first turn of a loop. */
static bool is_allocated(const struct graph *graph, uint32_t at)
{
    return str_equal(hlo_instruction_opcode(graph->hlo, at), STR("custom-call")) &&
           graph_operand(graph, at, 0) == HLO_NONE;
}

/* Zeros, or another number in all places; also where the compiler fuses or copies them. */
static bool is_filled(const struct graph *graph, uint32_t at)
{
    for (unsigned depth = 0; depth < 8 && at != HLO_NONE; depth++)
        switch (graph_op(graph, at)) {
        case GRAPH_BROADCAST:
        case GRAPH_CONSTANT: return true;
        case GRAPH_FUSION:
            at = graph_called(graph, at, 0) == HLO_NONE ? HLO_NONE : graph->root_of[graph_called(graph, at, 0)];
            break;
        case GRAPH_COPY:
        case GRAPH_SAME: at = graph_operand(graph, at, 0); break;
        default: return is_allocated(graph, at);
        }
    return false;
}

/* The highest rank among the arrays that a loop begins with: what it stacks has a dimension more than what it
 * carries. */
static uint32_t highest_rank(const struct variant *variant, uint32_t at)
{
    const struct leaves *leaves = &variant->dimensions.leaves;
    uint32_t most = 0;
    arena_work(variant->arena, at == HLO_NONE ? 0 : leaves_count(leaves, at));
    for (uint32_t leaf = at == HLO_NONE ? 0 : leaves->first[at]; at != HLO_NONE && leaf < leaves->first[at + 1]; leaf++)
        most = leaves->items[leaf].rank > most ? leaves->items[leaf].rank : most;
    return most;
}

/* Does a loop in the user's code carry numbers that begin as something made inside, such as zeros? Their type has to
 * follow that of what the loop computes, or jax.lax.scan refuses it. */
static bool has_made_carry(const struct variant *variant, const struct change *change)
{
    const struct graph *graph = variant->plan->graph;
    arena_work(variant->arena, graph->hlo->instruction_count);
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
        if (graph_op(graph, at) != GRAPH_WHILE || graph_phase(graph, at) == GRAPH_BACKWARD ||
            !str_ends(graph_op_name_end(graph, at), STR("while")))
            continue;
        uint32_t body = graph_called(graph, at, 0), root = body == HLO_NONE ? HLO_NONE : graph->root_of[body];
        uint32_t begin = graph_operand(graph, at, 0), made;
        struct shape_array shape;
        uint32_t most_rank = highest_rank(variant, begin);
        for (uint32_t nth = 0; begin != HLO_NONE && graph_op(graph, begin) == GRAPH_TUPLE &&
                               (made = graph_operand(graph, begin, nth)) != HLO_NONE;
             nth++) {
            if (is_filled(graph, made) && shape_array_read(hlo_instruction_shape(graph->hlo, made), &shape) &&
                shape.rank > 0 && (!is_allocated(graph, made) || shape.rank < most_rank) &&
                is_castable(change, &shape) && root != HLO_NONE && graph_op(graph, root) == GRAPH_TUPLE &&
                !is_updated(graph, graph_operand(graph, root, nth)))
                return true;
        }
    }
    return false;
}

const char *call_cast(const struct variant *variant, const struct change *change)
{
    struct trees trees;
    uint32_t count;
    const char *type = type_of_jax(change->type);
    if (is_of_mu_alone(variant, change->glob))
        return arena_format(variant->arena, "optax.adamw(…, mu_dtype=%s)", type);
    if (call_is_of_equinox(variant->plan) && str_equal(change->glob, STR("*")))
        return arena_format(variant->arena,
                            "model = jax.tree.map(lambda x: x.astype(%s) if eqx.is_inexact_array(x) else x, model)  "
                            "# and what else of the call is float32",
                            type);
    trees_read(variant, change, is_castable, &trees);
    const char *names = names_of(variant, &trees, TREES_MATCHING, false, &count);
    if (names == NULL)
        return arena_format(variant->arena, "x.astype(%s) where %.*s is computed", type, (int)change->glob.length,
                            change->glob.data);
    const char *text =
        mapped(variant, change, is_castable, &trees, names, count, arena_format(variant->arena, "x.astype(%s)", type),
               "jnp.issubdtype(x.dtype, jnp.floating)");
    bool is_note = shape_type_bytes(change->type) >= 2 && strchr(text, '#') == NULL && has_made_carry(variant, change);
    return is_note
               ? arena_format(variant->arena, "%s  # and what a scan's carry begins with: jnp.zeros(…, %s)", text, type)
               : text;
}

/* ---- batch, sequence ---- */

/* "x[:16, :, :32]", or where it grows "jnp.repeat(x, 2, axis=1)": every dimension of the argument that has another of
 * `sizes`; NULL: none has. */
static const char *resized_text(const struct variant *variant, const struct plan_argument *argument,
                                const int64_t *sizes, struct str name)
{
    struct arena *arena = variant->arena;
    const char *text = arena_text(arena, name), *skipped = "", *slices = "";
    uint32_t dimension;
    bool is_changed = false;
    for (uint32_t nth = 0; argument->instruction_at != HLO_NONE &&
                           (dimension = dimensions_of(&variant->dimensions, argument->instruction_at, nth)) != HLO_NONE;
         nth++) {
        int64_t parts = hlo_sharding_parts(&variant->plan->hlo, argument->instruction_at, argument->number, nth);
        long long before = (long long)variant->sizes[dimension], after = (long long)sizes[dimension];
        if (__builtin_mul_overflow(before, parts, &before) || __builtin_mul_overflow(after, parts, &after))
            continue;
        is_changed = is_changed || before != after;
        if (after > before && (before <= 0 || after % before != 0))
            return arena_format(arena, "jnp.resize(%.*s, …)", (int)name.length, name.data);
        if (after > before)
            text = arena_format(arena, "jnp.repeat(%s, %lld, axis=%u)", text, after / before, nth);
        if (after < before) {
            slices = arena_format(arena, "%s%s:%lld", slices, skipped, after);
            skipped = ", ";
        } else {
            skipped = arena_format(arena, "%s:, ", skipped);
        }
    }
    if (!is_changed)
        return NULL;
    return slices[0] != '\0' ? arena_format(arena, "%s[%s]", text, slices) : text;
}

/* Are all arrays of the function's argument that begins at `first` resized alike, to `text` of "x"? How many they
 * are. */
static uint32_t alike_count(const struct variant *variant, uint32_t first, const int64_t *sizes, const char *text)
{
    struct str name = call_argument(variant->plan->arguments[first].path);
    uint32_t count = 0;
    for (uint32_t i = first; i < variant->plan->argument_count; i++, count++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        if (!str_equal(call_argument(argument->path), name))
            break;
        const char *other = resized_text(variant, argument, sizes, STR("x"));
        if (other == NULL || strcmp(other, text) != 0)
            return 1;
    }
    bool is_from_its_begin = first == 0 || !str_equal(call_argument(variant->plan->arguments[first - 1].path), name);
    return is_from_its_begin ? count : 1;
}

/* "batch['x']" may be assigned to; a field of a dataclass may not, nor an element of a tuple, as "args[0]" is. */
static bool is_assignable(struct str name)
{
    bool is_element = false;
    for (size_t at = 0; at + 1 < name.length; at++)
        is_element = is_element || (name.data[at] == '[' && name.data[at + 1] >= '0' && name.data[at + 1] <= '9');
    return !is_element && memchr(name.data, '.', name.length) == NULL;
}

/* All arguments that the change gives another size: one of them alone would no longer match the others. */
const char *call_resize(const struct variant *variant, const int64_t *sizes)
{
    struct arena *arena = variant->arena;
    uint32_t count = 0;
    const char *names = "", *values = "", *unnamed = "";
    bool is_assigned = true, has_names = !call_is_of_equinox(variant->plan);
    arena_work(arena, variant->plan->argument_count);
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        struct str name = has_names ? variant->plan->arguments[i].path : STR("");
        const char *value = resized_text(variant, &variant->plan->arguments[i], sizes, STR("x"));
        const char *between = names[0] == '\0' ? "" : ", ";
        if (value == NULL)
            continue;
        if (name.length == 0) {
            unnamed = unnamed[0] == '\0' ? value : unnamed;
            continue;
        }
        uint32_t first = i, alike = alike_count(variant, first, sizes, value);
        i += alike - 1;
        if (++count > PIECES_MAX)
            continue;
        if (alike > 1) {
            name = call_argument(name);
            value = arena_format(arena, "jax.tree.map(lambda x: %s, %.*s)", value, (int)name.length, name.data);
        } else {
            value = resized_text(variant, &variant->plan->arguments[first], sizes, name);
        }
        is_assigned = is_assigned && is_assignable(name);
        names = arena_format(arena, "%s%s%.*s", names, between, (int)name.length, name.data);
        values = arena_format(arena, "%s%s%s", values, between, value);
    }
    const char *more =
        count > PIECES_MAX ? arena_format(arena, "  # and %u more with this dimension", count - PIECES_MAX) : "";
    if (count == 0)
        return has_names || unnamed[0] == '\0' ? unnamed
                                               : arena_format(arena, "x = %s  # each array of the batch", unnamed);
    return is_assigned ? arena_format(arena, "%s = %s%s", names, values, more)
                       : arena_format(arena, "%s%s", values, more);
}

/* ---- shard ---- */

/* As edit/shard.c splits: along the first dimension that divides and may be split (split.h), small arrays not. Data
 * first: of a program that is split along its batch each device computes a part. All are put on the mesh, for a jitted
 * function takes no arguments from different sets of devices. */
const char *call_shard(const struct variant *variant, const struct change *change)
{
    struct trees trees;
    struct arena *arena = variant->arena;
    long long devices = (long long)change->device_count;
    uint32_t count, other_count;
    struct split split;
    split_read(variant, change->device_count, &split);
    const char *whole =
        split.whole_count == 0 ? "" : arena_format(arena, " and n not in {%s}", split_whole_text(&split, arena));
    trees_read(variant, change, is_splittable, &trees);
    const char *names =
        call_is_of_equinox(variant->plan) ? NULL : names_of(variant, &trees, TREES_MATCHING, true, &count);
    const char *others = names_of(variant, &trees, TREES_OTHER, true, &other_count);
    const char *value = "jax.device_put(x, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec(x))))";
    const char *text = names == NULL
                           ? arena_format(arena, "x = %s%s", value,
                                          call_is_of_equinox(variant->plan) ? "  # each array of the call" : "")
                           : mapped(variant, change, is_splittable, &trees, names, count, value, "");
    if (names != NULL && others != NULL)
        text = arena_format(arena,
                            "%s; %s = jax.device_put(%s%s%s, jax.sharding.NamedSharding(mesh, "
                            "jax.sharding.PartitionSpec()))",
                            text, others, other_count > 1 ? "(" : "", others, other_count > 1 ? ")" : "");
    return arena_format(
        arena,
        "mesh = jax.make_mesh((%lld,), (\"data\",), axis_types=(jax.sharding.AxisType.Auto,)); spec = lambda x: "
        "next(([None] * i + [\"data\"] for i, n in enumerate(x.shape) if n %% %lld == 0%s and x.size >= %lld), []); %s",
        devices, devices, whole, (long long)split.least, text);
}
