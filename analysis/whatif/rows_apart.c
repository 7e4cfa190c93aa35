/* SPDX-License-Identifier: Apache-2.0
 * rows_apart.c: see rows_apart.h. */
#include "whatif/rows_apart.h"

#include "plan/value.h"
#include "read/hlo/elementwise.h"

/* Elements of a sum that is small; instructions that are looked at behind it. */
enum { SMALL_ELEMENTS = 4096, BEHIND_MAX = 128 };

/* Where rows are: in the class itself, in one that it is a factor of, in its own factors. */
enum place { PLACE_NONE, PLACE_WHOLE, PLACE_FACTOR };

struct apart {
    const struct dimensions *dimensions;
    const struct graph *graph;
    struct arena *arena;
    uint32_t class;
    uint8_t *places; /* by class: enum place */
    struct value_walk walk;
};

bool rows_apart_has(const struct dimensions *dimensions, const struct leaf *leaf, uint32_t class, bool *twice)
{
    uint32_t count = 0;
    for (uint32_t i = 0; leaf != NULL && i < leaf->rank; i++)
        count += dimensions_class(dimensions, leaf->first + i) == class;
    if (twice != NULL)
        *twice = count > 1;
    return count > 0;
}

/* Has the one array that an instruction gives rows? */
static bool has_rows(const struct apart *apart, uint32_t at)
{
    const struct leaf *leaf = leaves_array(&apart->dimensions->leaves, at);
    arena_work(apart->arena, 1);
    for (uint32_t i = 0; leaf != NULL && i < leaf->rank; i++)
        if (apart->places[dimensions_class(apart->dimensions, leaf->first + i)] != PLACE_NONE)
            return true;
    return false;
}

static bool places_take(struct apart *apart, const uint32_t *members, uint32_t count, enum place place)
{
    bool is_new = false;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *of = &apart->places[dimensions_class(apart->dimensions, members[i])];
        is_new = is_new || *of == PLACE_NONE;
        *of = *of == PLACE_NONE ? (uint8_t)place : *of;
    }
    return is_new;
}

/* From one side of a product to the other; of a dimension that rows are a factor of the other factors are none. */
static bool product_follow(struct apart *apart, const uint32_t *from, uint32_t from_count, const uint32_t *to,
                           uint32_t to_count)
{
    enum place place = PLACE_NONE;
    bool is_itself = false;
    for (uint32_t i = 0; i < from_count; i++) {
        uint32_t class = dimensions_class(apart->dimensions, from[i]);
        place = apart->places[class] != PLACE_NONE ? (enum place)apart->places[class] : place;
        is_itself = is_itself || class == apart->class;
    }
    if (place == PLACE_NONE || (from_count == 1 && !is_itself))
        return false;
    return places_take(apart, to, to_count, to_count == 1 ? PLACE_WHOLE : PLACE_FACTOR);
}

/* The compiler, which names none of these, cuts large arrays into parts, each of several rows. */
static bool parts_take(struct apart *apart)
{
    const struct graph *graph = apart->graph;
    const struct leaves *leaves = &apart->dimensions->leaves;
    bool is_new = false;
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
        if (graph_op(graph, at) != GRAPH_SLICE || graph_phase(graph, at) != GRAPH_NAMELESS)
            continue;
        const struct leaf *part = leaves_array(leaves, at), *whole = leaves_array(leaves, graph_operand(graph, at, 0));
        for (uint32_t i = 0; part != NULL && whole != NULL && part->rank == whole->rank && i < part->rank; i++) {
            uint32_t of_part = part->first + i, of_whole = whole->first + i;
            if (apart->places[dimensions_class(apart->dimensions, of_whole)] == PLACE_WHOLE &&
                leaves->sizes[of_part] != leaves->sizes[of_whole])
                is_new |= places_take(apart, &of_part, 1, PLACE_WHOLE);
        }
    }
    return is_new;
}

static void places_find(struct apart *apart)
{
    enum { PASSES = 4 }; /* reshapes behind each other, before the rows are no longer followed */
    const struct dimensions *dimensions = apart->dimensions;
    bool is_new = true;
    apart->places = arena_array(apart->arena, uint8_t, (size_t)dimensions->leaves.dimension_count + 1);
    apart->places[apart->class] = PLACE_WHOLE;
    for (unsigned pass = 0; is_new && pass < PASSES; pass++) {
        is_new = parts_take(apart);
        for (uint32_t i = 0; i < dimensions->relation_count; i++) {
            const struct relation *relation = &dimensions->relations[i];
            const uint32_t *left = &dimensions->members[relation->first], *right = left + relation->left_count;
            if (relation->kind != RELATION_PRODUCT)
                continue;
            arena_work(apart->arena, relation->left_count + relation->right_count);
            is_new |= product_follow(apart, left, relation->left_count, right, relation->right_count);
            is_new |= product_follow(apart, right, relation->right_count, left, relation->left_count);
        }
    }
}

static bool is_backward(const struct apart *apart, uint32_t at)
{
    return graph_phase(apart->graph, at) == GRAPH_BACKWARD;
}

struct behind {
    struct apart *apart;
    uint32_t items[BEHIND_MAX], count;
    bool comes_back;
};

static bool behind_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct behind *behind = context;
    (void)operand;
    if (reader_at == HLO_NONE || is_backward(behind->apart, reader_at))
        return true;
    behind->comes_back = behind->count == BEHIND_MAX || has_rows(behind->apart, reader_at);
    if (!behind->comes_back)
        behind->items[behind->count++] = reader_at;
    return !behind->comes_back;
}

/* Is something with rows computed from it going forward, as from a mean over the batch? */
static bool comes_back(struct apart *apart, uint32_t sum_at)
{
    struct behind behind = {.apart = apart, .items = {sum_at}, .count = 1};
    for (uint32_t i = 0; i < behind.count && !behind.comes_back && !apart->walk.is_cut; i++)
        value_each_reader(&apart->walk, (struct value){behind.items[i], VALUE_WHOLE}, behind_note, &behind);
    return behind.comes_back || apart->walk.is_cut;
}

/* Of its rows nothing is left in what it gives. */
static bool is_sum_allowed(struct apart *apart, uint32_t at)
{
    const struct leaf *leaf = leaves_array(&apart->dimensions->leaves, at);
    int64_t elements = 1;
    if (is_backward(apart, at))
        return true;
    for (uint32_t i = 0; leaf != NULL && i < leaf->rank; i++)
        if (__builtin_mul_overflow(elements, apart->dimensions->leaves.sizes[leaf->first + i], &elements))
            return false;
    return graph_op(apart->graph, at) == GRAPH_REDUCE && elements <= SMALL_ELEMENTS && !comes_back(apart, at);
}

/* A softmax and the product behind it, which the compiler put into one kernel of its own: rows come first. */
static bool is_online_softmax(const struct apart *apart, uint32_t at)
{
    const struct leaf *leaf = leaves_array(&apart->dimensions->leaves, at);
    return leaf != NULL && leaf->rank > 1 && str_equal(graph_op_name_end(apart->graph, at), STR("online-softmax")) &&
           dimensions_class(apart->dimensions, leaf->first) == apart->class;
}

/* Does it compute each row of what it gives from the same one of its operands? */
static bool is_rowwise(const struct apart *apart, uint32_t at)
{
    static const char *const moving[] = {"transpose",     "reshape", "bitcast-convert", "slice",
                                         "dynamic-slice", "pad",     "concatenate",     "dynamic-update-slice"};
    const struct graph *graph = apart->graph;
    struct str opcode = hlo_instruction_opcode(graph->hlo, at);
    switch (graph_op(graph, at)) {
    case GRAPH_SAME:
    case GRAPH_BROADCAST:
    case GRAPH_DOT:
    case GRAPH_REDUCE:
    case GRAPH_CONVERT: return true;
    case GRAPH_GATHER: { /* of rows it may pick others, unless it takes all of them along another dimension */
        const struct leaf *from = leaves_array(&apart->dimensions->leaves, graph_operand(graph, at, 0));
        return is_backward(apart, at) || !has_rows(apart, graph_operand(graph, at, 0)) ||
               rows_apart_has(apart->dimensions, from, apart->class, NULL);
    }
    case GRAPH_CUSTOM_CALL:
        return str_equal(hlo_custom_call_target(graph->hlo, at), STR("AssumeGatherIndicesInBound")) ||
               is_online_softmax(apart, at);
    default: break;
    }
    if (elementwise_is(opcode) || is_backward(apart, at))
        return true;
    for (size_t i = 0; i < sizeof(moving) / sizeof(moving[0]); i++)
        if (str_equal(opcode, str_of(moving[i])))
            return true; /* where it moves along rows, or cuts them, they are of another class, or a flag tells */
    return false;
}

/* Does a loop carry something that its rounds compute from each other? Sums of gradients are none. */
static bool is_carrying(struct apart *apart, uint32_t body)
{
    const struct graph *graph = apart->graph;
    uint32_t root = graph->root_of[body], operand;
    if (root == HLO_NONE || graph_op(graph, root) != GRAPH_TUPLE)
        return true;
    for (uint32_t nth = 0; (operand = graph_operand(graph, root, nth)) != HLO_NONE; nth++) {
        const struct leaf *leaf = leaves_array(&apart->dimensions->leaves, operand);
        uint32_t made_by = value_origin(&apart->walk, (struct value){operand, VALUE_WHOLE}, VALUE_ORIGIN, NULL).at;
        bool is_kept = graph_op(graph, operand) == GRAPH_ELEMENT && (uint32_t)graph->numbers[operand] == nth;
        bool is_stack = made_by != HLO_NONE && graph_op(graph, made_by) == GRAPH_UPDATE;
        if (!is_kept && !is_stack && (leaf == NULL || leaf->rank > 0) &&
            (made_by == HLO_NONE || !is_backward(apart, made_by)))
            return true;
    }
    return false;
}

/* Does a convolution slide over it, a loop go through it, or an index select from it? */
static bool is_walked(struct apart *apart)
{
    const struct dimensions *dimensions = apart->dimensions;
    for (uint32_t i = 0; i < dimensions->leaves.dimension_count; i++)
        if ((dimensions->is_scanned[i] || dimensions->is_cut[i] || dimensions->is_side[i]) &&
            apart->places[dimensions_class(dimensions, i)] == PLACE_WHOLE)
            return true;
    for (uint32_t i = 0; i < dimensions->pointing_count; i++)
        if (dimensions_class(dimensions, dimensions->pointings[i].to) == apart->class)
            return true;
    for (uint32_t i = 0; i < apart->graph->hlo->computation_count; i++)
        if (dimensions->trips_of[i] != HLO_NONE &&
            apart->places[dimensions_class(dimensions, dimensions->trips_of[i])] != PLACE_NONE && is_carrying(apart, i))
            return true;
    return false;
}

bool rows_apart_hold(const struct dimensions *dimensions, uint32_t class, struct arena *arena)
{
    const struct graph *graph = dimensions->graph;
    struct apart apart = {.dimensions = dimensions, .graph = graph, .arena = arena, .class = class};
    arena_work(arena, dimensions->leaves.dimension_count);
    places_find(&apart);
    value_walk_init(&apart.walk, graph, 16 * (uint64_t)graph->hlo->instruction_count + 4096, arena);
    if (is_walked(&apart))
        return false;
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++) {
        bool is_twice, gives, takes = false;
        if (graph_hands_on(graph, at) || graph_op(graph, at) == GRAPH_COPY)
            continue;
        rows_apart_has(dimensions, leaves_array(&dimensions->leaves, at), class, &is_twice);
        gives = has_rows(&apart, at);
        for (uint32_t nth = 0, operand; !takes && (operand = graph_operand(graph, at, nth)) != HLO_NONE; nth++)
            takes = has_rows(&apart, operand);
        if (is_twice || (takes && !gives && !is_sum_allowed(&apart, at)) ||
            (takes && gives && !is_rowwise(&apart, at)) || (takes && graph_op(graph, at) == GRAPH_COLLECTIVE))
            return false;
    }
    return true;
}
