/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/dimensions.h"

#include "base/hash.h"
#include "base/map.h"
#include "whatif/dimension_rules.h"

/* Passes that may each find something new. Real programs need four. */
enum { PASS_MAX = 64 };

/* ---- classes ---- */

static uint32_t root_find(uint32_t *parents, uint32_t at)
{
    while (parents[at] != at)
        at = parents[at] = parents[parents[at]];
    return at;
}

static bool roots_join(uint32_t *parents, uint32_t a, uint32_t b)
{
    a = root_find(parents, a);
    b = root_find(parents, b);
    if (a == b)
        return false;
    /* The earlier one represents both. */
    parents[a > b ? a : b] = a > b ? b : a;
    return true;
}

static uint32_t class_find(struct dimensions *dimensions, uint32_t at) { return root_find(dimensions->parents, at); }

static bool class_join(struct dimensions *dimensions, uint32_t a, uint32_t b)
{
    return roots_join(dimensions->parents, a, b);
}

void dimensions_hand_on(struct dimension_builder *builder, uint32_t a, uint32_t b)
{
    const struct leaf *items = builder->dimensions->leaves.items;
    if (items[a].type == items[b].type && items[a].rank == items[b].rank)
        roots_join(builder->dimensions->arrays, a, b);
}

void dimensions_join(struct dimension_builder *builder, uint32_t a, uint32_t b)
{
    struct dimensions *dimensions = builder->dimensions;
    if (a != HLO_NONE && b != HLO_NONE && dimensions->leaves.sizes[a] == dimensions->leaves.sizes[b])
        class_join(dimensions, a, b);
}

void dimensions_relate(struct dimension_builder *builder, enum relation_kind kind, const uint32_t *left,
                       uint32_t left_count, const uint32_t *right, uint32_t right_count)
{
    struct dimensions *dimensions = builder->dimensions;
    uint32_t count = left_count + right_count;
    dimensions->relations = arena_grown(builder->arena, dimensions->relations, dimensions->relation_count + 1,
                                        &builder->relation_capacity, sizeof(*dimensions->relations));
    dimensions->members = arena_grown(builder->arena, dimensions->members, dimensions->member_count + count,
                                      &builder->member_capacity, sizeof(*dimensions->members));
    dimensions->relations[dimensions->relation_count++] =
        (struct relation){kind, dimensions->member_count, left_count, right_count};
    memcpy(dimensions->members + dimensions->member_count, left, left_count * sizeof(*left));
    memcpy(dimensions->members + dimensions->member_count + left_count, right, right_count * sizeof(*right));
    dimensions->member_count += count;
}

/* ---- what products tell of classes ---- */

/* A product of one dimension on one side: what it is made of. */
struct made_of {
    uint32_t whole;
    const uint32_t *members;
    uint32_t count;
};

static bool made_of_read(struct dimensions *dimensions, const struct relation *relation, struct made_of *out)
{
    const uint32_t *members = dimensions->members + relation->first;
    if (relation->kind != RELATION_PRODUCT || (relation->left_count != 1 && relation->right_count != 1))
        return false;
    bool is_left = relation->left_count == 1;
    *out = (struct made_of){class_find(dimensions, members[is_left ? 0 : relation->left_count]),
                            members + (is_left ? 1 : 0), is_left ? relation->right_count : relation->left_count};
    return true;
}

struct made_of_question {
    struct dimensions *dimensions;
    struct made_of *known;
    const struct made_of *wanted;
};

static bool is_same_product(const void *context, uint64_t value)
{
    const struct made_of_question *question = context;
    const struct made_of *known = &question->known[value];
    if (known->count != question->wanted->count ||
        class_find(question->dimensions, known->whole) != question->wanted->whole)
        return false;
    for (uint32_t i = 0; i < known->count; i++)
        if (question->dimensions->leaves.sizes[known->members[i]] !=
            question->dimensions->leaves.sizes[question->wanted->members[i]])
            return false;
    return true;
}

/* A dimension that was merged of two and is split into the same sizes again is split into the same two. */
static void products_join(struct dimensions *dimensions, struct arena *arena)
{
    struct made_of *known = arena_array(arena, struct made_of, (size_t)dimensions->relation_count + 1);
    bool is_new = true;
    for (unsigned pass = 0; is_new && pass < PASS_MAX; pass++) {
        struct map map;
        uint32_t count = 0;
        map_init(&map, arena, 64);
        is_new = false;
        arena_work(arena, dimensions->relation_count);
        for (uint32_t i = 0; i < dimensions->relation_count; i++) {
            struct made_of wanted;
            if (!made_of_read(dimensions, &dimensions->relations[i], &wanted))
                continue;
            uint64_t hash = hash_number(wanted.whole, wanted.count);
            for (uint32_t k = 0; k < wanted.count; k++)
                hash = hash_number((uint64_t)dimensions->leaves.sizes[wanted.members[k]], hash);
            struct made_of_question question = {dimensions, known, &wanted};
            uint64_t found = map_find(&map, hash, is_same_product, &question);
            if (found == MAP_FREE) {
                known[count] = wanted;
                map_add(&map, hash, count++);
                continue;
            }
            for (uint32_t k = 0; k < wanted.count; k++)
                is_new = class_join(dimensions, known[found].members[k], wanted.members[k]) || is_new;
        }
    }
}

/* ---- relations between classes, each once ---- */

struct relation_question {
    const struct dimensions *dimensions;
    const struct relation *wanted;
};

static bool is_same_relation(const void *context, uint64_t value)
{
    const struct relation_question *question = context;
    const struct relation *a = &question->dimensions->relations[value], *b = question->wanted;
    return a->kind == b->kind && a->left_count == b->left_count && a->right_count == b->right_count &&
           memcmp(question->dimensions->members + a->first, question->dimensions->members + b->first,
                  (a->left_count + a->right_count) * sizeof(uint32_t)) == 0;
}

static void relations_tidy(struct dimensions *dimensions, struct arena *arena)
{
    struct map map;
    uint32_t kept = 0;
    map_init(&map, arena, 64);
    for (uint32_t i = 0; i < dimensions->member_count; i++)
        dimensions->members[i] = dimensions_class(dimensions, dimensions->members[i]);
    for (uint32_t i = 0; i < dimensions->relation_count; i++) {
        struct relation relation = dimensions->relations[i];
        uint64_t hash = hash_bytes((const char *)(dimensions->members + relation.first),
                                   (relation.left_count + relation.right_count) * sizeof(uint32_t),
                                   (uint64_t)relation.kind << 32 | relation.left_count);
        struct relation_question question = {dimensions, &relation};
        if (map_find(&map, hash, is_same_relation, &question) != MAP_FREE)
            continue;
        dimensions->relations[kept] = relation;
        map_add(&map, hash, kept++);
    }
    dimensions->relation_count = kept;
}

void dimensions_build(const struct graph *graph, struct arena *arena, struct dimensions *out)
{
    struct dimension_builder builder = {.dimensions = out, .arena = arena};
    *out = (struct dimensions){.graph = graph};
    leaves_build(graph->hlo, arena, &out->leaves);
    out->parents = arena_array(arena, uint32_t, (size_t)out->leaves.dimension_count + 1);
    out->is_scanned = arena_array(arena, bool, (size_t)out->leaves.dimension_count + 1);
    out->is_cut = arena_array(arena, bool, (size_t)out->leaves.dimension_count + 1);
    out->is_side = arena_array(arena, bool, (size_t)out->leaves.dimension_count + 1);
    out->arrays = arena_array(arena, uint32_t, (size_t)out->leaves.count + 1);
    builder.trips_of = arena_raw(arena, ((size_t)graph->hlo->computation_count + 1) * sizeof(uint32_t));
    out->trips_of = builder.trips_of;
    memset(builder.trips_of, 0xff, ((size_t)graph->hlo->computation_count + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < out->leaves.dimension_count; i++)
        out->parents[i] = i;
    for (uint32_t i = 0; i < out->leaves.count; i++)
        out->arrays[i] = i;
    dimension_rules_begin(&builder);
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++)
        dimension_rules_apply(&builder, at);
    dimension_rules_end(&builder);
    products_join(out, arena);
    for (uint32_t i = 0; i < out->leaves.dimension_count; i++) {
        out->parents[i] = class_find(out, i);
        if (out->is_scanned[i])
            out->is_scanned[out->parents[i]] = true;
        if (out->is_cut[i])
            out->is_cut[out->parents[i]] = true;
        if (out->is_side[i])
            out->is_side[out->parents[i]] = true;
    }
    for (uint32_t i = 0; i < out->leaves.count; i++)
        out->arrays[i] = root_find(out->arrays, i);
    relations_tidy(out, arena);
}

uint32_t dimensions_of(const struct dimensions *dimensions, uint32_t at, uint32_t nth)
{
    if (leaves_count(&dimensions->leaves, at) != 1)
        return HLO_NONE;
    const struct leaf *leaf = &dimensions->leaves.items[dimensions->leaves.first[at]];
    return nth < leaf->rank ? leaf->first + nth : HLO_NONE;
}

/* ---- new sizes ---- */

struct solver {
    const struct dimensions *dimensions;
    const int64_t *old_sizes; /* by dimension */
    int64_t *sizes;           /* by class */
    bool *is_set;             /* by class: said, or follows from what is */
    const struct dimensions_change *changes;
    uint32_t change_count, conflict_count;
};

static bool class_set(struct solver *solver, uint32_t class, int64_t size)
{
    if (size <= 0)
        return false;
    if (solver->is_set[class]) {
        solver->conflict_count += solver->sizes[class] != size;
        return false;
    }
    solver->sizes[class] = size;
    solver->is_set[class] = true;
    return true;
}

static int64_t old_size(const struct solver *solver, uint32_t class) { return solver->old_sizes[class]; }

/* `size` times `to` / `from`, or 0 if that is no whole number. */
static int64_t dimensions_scaled(int64_t size, int64_t from, int64_t to)
{
    int64_t product;
    if (from <= 0 || __builtin_mul_overflow(size, to, &product) || product % from != 0)
        return 0;
    return product / from;
}

/* A slice or a window takes a share (half of the heads, every second row) or all but a rest (all tokens but the
 * last). */
static bool part_solve(struct solver *solver, uint32_t whole, uint32_t part)
{
    int64_t whole_size = old_size(solver, whole), part_size = old_size(solver, part);
    if (part_size <= 1 || solver->is_set[whole] == solver->is_set[part])
        return false;
    uint32_t known = solver->is_set[whole] ? whole : part, other = known == whole ? part : whole;
    int64_t share = whole_size % part_size == 0
                        ? dimensions_scaled(old_size(solver, other), old_size(solver, known), solver->sizes[known])
                        : 0;
    int64_t rest = old_size(solver, other) + (solver->sizes[known] - old_size(solver, known));
    return class_set(solver, other, share > 0 ? share : rest);
}

static bool sum_solve(struct solver *solver, uint32_t whole, const uint32_t *parts, uint32_t count)
{
    int64_t sum = 0, old_sum = 0;
    bool is_any = false, is_new = false;
    for (uint32_t i = 0; i < count; i++) {
        is_any = is_any || solver->is_set[parts[i]];
        if (__builtin_add_overflow(sum, solver->sizes[parts[i]], &sum) ||
            __builtin_add_overflow(old_sum, old_size(solver, parts[i]), &old_sum))
            return false;
    }
    if (is_any && !solver->is_set[whole])
        return class_set(solver, whole, sum);
    if (!is_any && solver->is_set[whole])
        for (uint32_t i = 0; i < count; i++)
            is_new = class_set(solver, parts[i],
                               dimensions_scaled(old_size(solver, parts[i]), old_size(solver, whole),
                                                 solver->sizes[whole])) ||
                     is_new;
    return is_new;
}

/* A side of a product. */
struct side {
    const uint32_t *members;
    uint32_t count;
    int64_t product;
    bool is_changed; /* by what is settled */
};

static bool side_read(const struct solver *solver, const uint32_t *members, uint32_t count, struct side *out)
{
    *out = (struct side){members, count, 1, false};
    for (uint32_t i = 0; i < count; i++) {
        if (__builtin_mul_overflow(out->product, solver->sizes[members[i]], &out->product))
            return false;
        out->is_changed = out->is_changed || solver->sizes[members[i]] != old_size(solver, members[i]);
    }
    return true;
}

/* Has it the size that the person changes? */
static bool is_as_asked(const struct solver *solver, uint32_t class)
{
    for (uint32_t i = 0; i < solver->change_count; i++)
        if (old_size(solver, class) == solver->old_sizes[solver->changes[i].dimension])
            return true;
    return false;
}

/* Multiplies one of the side's dimensions that are not settled: one of the size that the person changes, else one that
 * no loop goes through one by one, the outermost first. Where there are several that could, only with `may_choose`. */
static bool side_scale(struct solver *solver, const struct side *side, int64_t wanted, bool may_choose)
{
    uint32_t chosen = HLO_NONE, free_count = 0;
    for (unsigned pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < side->count; i++) {
            uint32_t class = side->members[i];
            if (solver->is_set[class] || dimensions_scaled(solver->sizes[class], side->product, wanted) <= 0)
                continue;
            free_count += pass == 0;
            if (chosen == HLO_NONE && (pass > 0 || is_as_asked(solver, class)) &&
                (pass > 1 || !solver->dimensions->is_scanned[class]))
                chosen = class;
        }
    if (free_count == 0 || (free_count > 1 && !may_choose))
        return false;
    return class_set(solver, chosen, dimensions_scaled(solver->sizes[chosen], side->product, wanted));
}

/* What changed on one side changes the other: merged dimensions follow what they are made of, and the reverse. */
static bool product_solve(struct solver *solver, const struct relation *relation, bool may_choose)
{
    const uint32_t *members = solver->dimensions->members + relation->first;
    struct side left, right;
    if (!side_read(solver, members, relation->left_count, &left) ||
        !side_read(solver, members + relation->left_count, relation->right_count, &right) ||
        left.product == right.product)
        return false;
    return (left.is_changed && side_scale(solver, &right, left.product, may_choose)) ||
           (right.is_changed && side_scale(solver, &left, right.product, may_choose));
}

static bool relation_solve(struct solver *solver, const struct relation *relation, bool may_choose)
{
    const uint32_t *members = solver->dimensions->members + relation->first;
    switch (relation->kind) {
    case RELATION_PART: return part_solve(solver, members[0], members[1]);
    case RELATION_SUM: return sum_solve(solver, members[0], members + 1, relation->right_count);
    case RELATION_PRODUCT: return product_solve(solver, relation, may_choose);
    }
    return false;
}

void dimensions_resize(const struct dimensions *dimensions, const int64_t *sizes,
                       const struct dimensions_change *changes, uint32_t count, struct arena *arena,
                       struct dimensions_sizes *out)
{
    uint32_t dimension_count = dimensions->leaves.dimension_count;
    struct solver solver = {.dimensions = dimensions, .old_sizes = sizes, .changes = changes, .change_count = count};
    solver.sizes = arena_array(arena, int64_t, (size_t)dimension_count + 1);
    solver.is_set = arena_array(arena, bool, (size_t)dimension_count + 1);
    for (uint32_t i = 0; i < dimension_count; i++)
        solver.sizes[i] = sizes[i];
    for (uint32_t i = 0; i < count; i++)
        class_set(&solver, dimensions_class(dimensions, changes[i].dimension), changes[i].size);
    /* What follows at once first; then one choice at a time. */
    for (bool is_new = true; is_new;) {
        is_new = false;
        arena_work(arena, 2 * (uint64_t)dimensions->member_count);
        for (uint32_t i = 0; i < dimensions->relation_count; i++)
            is_new = relation_solve(&solver, &dimensions->relations[i], false) || is_new;
        for (uint32_t i = 0; i < dimensions->relation_count && !is_new; i++)
            is_new = relation_solve(&solver, &dimensions->relations[i], true);
    }
    *out = (struct dimensions_sizes){.sizes = solver.sizes, .conflict_count = solver.conflict_count};
    for (uint32_t i = dimension_count; i-- > 0;) { /* a class comes before its members */
        solver.sizes[i] = solver.sizes[dimensions_class(dimensions, i)];
        out->changed_count += solver.sizes[i] != sizes[i];
    }
}
