/* SPDX-License-Identifier: Apache-2.0
 * arguments.c: see arguments.h. */
#include "plan/arguments.h"

#include "base/sum.h"
#include "plan/argument_products.h"
#include "plan/argument_words.h"
#include "read/hlo/hlo_aliases.h"
#include "read/hlo/shape.h"

#include <ctype.h>
#include <stdlib.h>

/* Random numbers are made from a few integers. */
enum { RANDOM_ELEMENTS_MAX = 4096 };

/* ---- what the program does with an argument ---- */

struct facts {
    struct argument_words words;
    struct shape_array shape;
    bool has_shape, is_integer;
    bool is_read_forward, is_read_backward, is_random;
    struct argument_product product;
    bool is_aliased;    /* it was donated, and a result lives in its memory */
    bool is_replaced;   /* the program gives a new one back */
    bool is_updated;    /* parts are written, or it is combined with something */
    bool feeds_forward; /* what is computed from it outside of the passes goes into them */
    const struct argument_name *name;
};

struct arguments_reading {
    struct value_walk *walk;
    uint8_t *random_names; /* by instruction: enum random_name */
    struct facts *facts;
    uint32_t followed[64], followed_count; /* plain readers, whose values may go into the passes */
};

static bool is_random_name(struct str op_name)
{
    static const char *const marks[] = {"threefry",       "random_bits",       "random_seed", "random_split",
                                        "random_fold_in", "rng_bit_generator", "random_wrap", "random_unwrap"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (str_contains(op_name, str_of(marks[i])))
            return true;
    return false;
}

/* Op names are looked at once: many arguments may have one reader. */
enum random_name { NOT_LOOKED_AT, NOT_RANDOM, RANDOM };

static bool makes_random(const struct arguments_reading *reading, uint32_t at)
{
    uint8_t *name = &reading->random_names[at];
    if (*name == NOT_LOOKED_AT)
        *name = is_random_name(graph_op_name_end(reading->walk->graph, at)) ? RANDOM : NOT_RANDOM;
    return *name == RANDOM;
}

/* The phases of an argument's reader. An optimizer's update has a phase of its own, but may be in a fusion with a
 * gradient. */
static unsigned reader_phases(struct value_walk *walk, uint32_t reader_at)
{
    enum graph_phase phase = graph_phase(walk->graph, reader_at);
    return phase == GRAPH_NAMELESS ? value_phases(walk, reader_at) : 1u << phase;
}

#define IN_PASSES (1u << GRAPH_FORWARD | 1u << GRAPH_RECOMPUTE | 1u << GRAPH_BACKWARD)

static bool reader_met(void *context, uint32_t reader_at, uint32_t operand)
{
    struct arguments_reading *reading = context;
    struct facts *facts = reading->facts;
    if (reader_at == HLO_NONE)
        return true;
    unsigned phases = reader_phases(reading->walk, reader_at);
    facts->is_read_forward = facts->is_read_forward || (phases & (1u << GRAPH_FORWARD | 1u << GRAPH_RECOMPUTE));
    facts->is_read_backward = facts->is_read_backward || (phases & 1u << GRAPH_BACKWARD);
    if (!(phases & IN_PASSES) && reading->followed_count < sizeof(reading->followed) / sizeof(reading->followed[0]))
        reading->followed[reading->followed_count++] = reader_at;
    facts->is_updated = facts->is_updated ||
                        (graph_op(reading->walk->graph, reader_at) == GRAPH_UPDATE && operand == 0) ||
                        graph_op(reading->walk->graph, reader_at) == GRAPH_CONCATENATE;
    facts->is_random = facts->is_random || makes_random(reading, reader_at);
    return true;
}

struct feeding {
    struct value_walk *walk;
    uint32_t items[256], count;
    bool is_found;
};

static bool feeding_met(void *context, uint32_t reader_at, uint32_t operand)
{
    struct feeding *feeding = context;
    (void)operand;
    if (reader_at == HLO_NONE)
        return true;
    feeding->is_found = feeding->is_found || (reader_phases(feeding->walk, reader_at) & IN_PASSES);
    for (uint32_t i = 0; i < feeding->count; i++)
        if (feeding->items[i] == reader_at)
            return !feeding->is_found;
    if (feeding->count < sizeof(feeding->items) / sizeof(feeding->items[0]))
        feeding->items[feeding->count++] = reader_at;
    return !feeding->is_found;
}

/* Does something that is made of the value outside of the passes, as by scaling an image, go into them? */
static bool feeds_forward(const struct arguments_reading *reading)
{
    struct feeding feeding = {.walk = reading->walk};
    memcpy(feeding.items, reading->followed, reading->followed_count * sizeof(reading->followed[0]));
    feeding.count = reading->followed_count;
    for (uint32_t i = 0; i < feeding.count && !feeding.is_found; i++)
        value_each_reader(reading->walk, (struct value){feeding.items[i], VALUE_WHOLE}, feeding_met, &feeding);
    return feeding.is_found;
}

/* ---- results ---- */

struct results {
    struct map of_shape; /* hashes of the shapes of results that no argument gives its memory to */
    bool *is_aliased;    /* by place in plan->arguments */
    const struct plan *plan;
    bool *is_result_aliased; /* by place in the result */
    uint32_t count;
};

static void alias_met(void *context, uint64_t result, int64_t parameter_number)
{
    struct results *results = context;
    const struct plan_argument *argument = arguments_find(results->plan, parameter_number);
    if (argument != NULL)
        results->is_aliased[argument - results->plan->arguments] = true;
    if (result < results->count)
        results->is_result_aliased[result] = true;
}

static void results_build(const struct plan *plan, const struct graph *graph, struct arena *arena,
                          struct results *results)
{
    const struct hlo *hlo = &plan->hlo;
    uint32_t root = hlo->entry_at == HLO_NONE ? HLO_NONE : graph->root_of[hlo->entry_at];
    bool is_tuple = root != HLO_NONE && graph_op(graph, root) == GRAPH_TUPLE;
    uint32_t count = root == HLO_NONE ? 0 : is_tuple ? graph->operand_first[root + 1] - graph->operand_first[root] : 1;
    *results = (struct results){.plan = plan, .count = count};
    results->is_result_aliased = arena_array(arena, bool, (size_t)count + 1);
    results->is_aliased = arena_array(arena, bool, (size_t)plan->argument_count + 1);
    map_init(&results->of_shape, arena, count);
    hlo_aliases_each(hlo, alias_met, results);
    for (uint32_t i = 0; i < count; i++) {
        struct shape_array shape;
        uint32_t at = is_tuple ? graph_operand(graph, root, i) : root;
        if (results->is_result_aliased[i] || at == HLO_NONE ||
            !shape_array_read(hlo_instruction_shape(hlo, at), &shape))
            continue;
        map_put(&results->of_shape, shape_array_hash(&shape), i, false);
    }
}

/* ---- twins: leaves of the optimizer's state that have a parameter's path and shape ---- */

enum { TWIN_NONE, TWIN_KNOWN, TWIN_GIVEN_BACK }; /* given back: an argument of this path and shape was donated */

static uint64_t suffix_hash(const struct facts *facts, uint32_t from)
{
    uint64_t hash = shape_array_hash(&facts->shape);
    for (uint32_t i = from; i < facts->words.count; i++)
        hash = hash_bytes(facts->words.items[i].data, facts->words.items[i].length, hash);
    return hash;
}

static void twins_collect(const struct facts *facts, struct map *twins)
{
    for (uint32_t i = 1; facts->has_shape && facts->shape.rank > 0 && i < facts->words.count; i++)
        map_put(twins, suffix_hash(facts, i), TWIN_KNOWN, true);
}

/* The path but for the argument's own name, and a container's, ends like one of the optimizer's. */
static uint32_t twin_of(const struct facts *facts, const struct map *twins)
{
    for (uint32_t i = 1; facts->has_shape && facts->shape.rank > 0 && i < 3 && i < facts->words.count; i++) {
        uint32_t found = map_get(twins, suffix_hash(facts, i));
        if (found != MAP_NONE)
            return found;
    }
    return TWIN_NONE;
}

/* A donated argument like that: others like it that the program only reads are gradients, if it makes none itself. */
static void twin_give_back(const struct facts *facts, struct map *twins)
{
    for (uint32_t i = 1; facts->has_shape && facts->shape.rank > 0 && i < 3 && i < facts->words.count; i++)
        if (map_get(twins, suffix_hash(facts, i)) != MAP_NONE)
            map_put(twins, suffix_hash(facts, i), TWIN_GIVEN_BACK, true);
}

static bool is_optimizers(const struct facts *facts)
{
    return facts->name != NULL && facts->name->category == CATEGORY_OPTIMIZER_STATE;
}

/* ---- choices ---- */

static bool is_random(const struct facts *facts)
{
    return facts->is_integer && shape_array_elements(&facts->shape) <= RANDOM_ELEMENTS_MAX;
}

/* What the program does with it; of a program that trains. */
static struct category_choice by_use(const struct facts *facts)
{
    bool is_read = facts->is_read_forward || facts->is_read_backward;
    if (facts->is_random && is_random(facts))
        return category_choice_of(CATEGORY_RNG, CATEGORY_RULE_ARGUMENT_RANDOM);
    if (is_read && facts->is_replaced && !facts->is_integer)
        return category_choice_of(CATEGORY_PARAMETER, CATEGORY_RULE_ARGUMENT_TRAINED);
    if (facts->is_replaced)
        return category_choice_of(CATEGORY_OPTIMIZER_STATE, CATEGORY_RULE_ARGUMENT_STATE);
    if (is_read &&
        (facts->product.is_quantized || (facts->product.is_weight && !facts->is_integer && facts->shape.rank >= 2)))
        return category_choice_of(CATEGORY_PARAMETER, CATEGORY_RULE_ARGUMENT_WEIGHT);
    if (is_read || facts->feeds_forward)
        return category_choice_of(CATEGORY_BATCH, CATEGORY_RULE_ARGUMENT_READ);
    return category_choice_of(CATEGORY_OTHER, CATEGORY_RULE_ARGUMENT_OTHER);
}

static struct category_choice without_backward(const struct facts *facts)
{
    if (facts->is_random && is_random(facts))
        return category_choice_of(CATEGORY_RNG, CATEGORY_RULE_ARGUMENT_RANDOM);
    if (facts->is_replaced && (facts->is_aliased || facts->is_updated) && !facts->is_integer && facts->has_shape &&
        facts->shape.rank > 0)
        return category_choice_of(CATEGORY_CACHE, CATEGORY_RULE_ARGUMENT_REPLACED);
    return category_choice_of(CATEGORY_INPUT, CATEGORY_RULE_ARGUMENT_INPUT);
}

static struct category_choice arguments_decide(const struct facts *facts, bool has_backward, const struct map *twins)
{
    const struct argument_name *name = facts->name;
    struct category_choice use = has_backward ? by_use(facts) : without_backward(facts);
    bool is_sure = category_rule_confidence((enum category_rule)use.rule) != CONFIDENCE_GUESS;
    if (name != NULL && name->is_strong)
        return category_choice_of((enum category)name->category, CATEGORY_RULE_ARGUMENT_NAME);
    uint32_t twin = is_optimizers(facts) ? TWIN_NONE : twin_of(facts, twins);
    if (twin == TWIN_GIVEN_BACK && !has_backward && !facts->is_aliased)
        return category_choice_of(CATEGORY_GRADIENT, CATEGORY_RULE_ARGUMENT_GRADIENT);
    if (twin != TWIN_NONE)
        return category_choice_of(CATEGORY_PARAMETER, CATEGORY_RULE_ARGUMENT_TWIN);
    if (name != NULL && !(has_backward && is_sure))
        return category_choice_of((enum category)name->category, CATEGORY_RULE_ARGUMENT_WORD);
    return use;
}

/* Arguments of one tree are mostly alike: what is only guessed follows those around it, by bytes. */
struct tree {
    int64_t bytes[CATEGORY_COUNT], all_bytes;
    uint32_t count;
};
enum { TREE_LEAVES_MIN = 4, TREE_PERCENT = 80 };

static uint64_t tree_key(const struct argument_words *words)
{
    uint32_t depth = words->count > 2 && isdigit((unsigned char)words->items[1].data[0]) ? 2 : 1;
    uint64_t hash = depth;
    if (words->count <= depth)
        return 0;
    for (uint32_t i = 0; i < depth; i++)
        hash = hash_bytes(words->items[i].data, words->items[i].length, hash);
    return hash | 1;
}

static void trees_apply(struct plan *plan, const struct facts *facts, struct arena *arena)
{
    struct tree *trees = arena_array(arena, struct tree, (size_t)plan->argument_count + 1);
    struct map tree_of;
    uint32_t tree_count = 0;
    map_init(&tree_of, arena, plan->argument_count);
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        const struct plan_argument *argument = &plan->arguments[i];
        uint64_t key = tree_key(&facts[i].words);
        if (key == 0)
            continue;
        uint32_t at = map_get(&tree_of, key);
        if (at == MAP_NONE)
            map_put(&tree_of, key, at = tree_count++, false);
        trees[at].count++;
        trees[at].all_bytes = sum_add(trees[at].all_bytes, argument->bytes);
        trees[at].bytes[argument->choice.category] =
            sum_add(trees[at].bytes[argument->choice.category], argument->bytes);
    }
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        struct plan_argument *argument = &plan->arguments[i];
        uint64_t key = tree_key(&facts[i].words);
        if (key == 0 || category_rule_confidence((enum category_rule)argument->choice.rule) != CONFIDENCE_GUESS ||
            facts[i].is_integer || (facts[i].product.is_beside_argument && !facts[i].product.is_weight))
            continue;
        const struct tree *tree = &trees[map_get(&tree_of, key)];
        for (int j = 0; j < CATEGORY_COUNT && tree->count >= TREE_LEAVES_MIN; j++)
            if (j != argument->choice.category && j != CATEGORY_INPUT && /* that only says what is not known */
                tree->bytes[j] / TREE_PERCENT > tree->all_bytes / 100)
                argument->choice = category_choice_of((enum category)j, CATEGORY_RULE_ARGUMENT_TREE);
    }
}

/* ---- the list ---- */

static int by_number(const void *left, const void *right)
{
    const struct plan_argument *a = left, *b = right;
    return ORDER(a->number, b->number) ?: ORDER(a->instruction_at, b->instruction_at);
}

const struct plan_argument *arguments_find(const struct plan *plan, int64_t number)
{
    uint32_t low = 0, high = plan->argument_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (plan->arguments[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->argument_count && plan->arguments[low].number == number ? &plan->arguments[low] : NULL;
}

const struct plan_argument *arguments_find_instruction(const struct plan *plan, uint32_t at)
{
    return graph_is_argument(plan->graph, at) ? arguments_find(plan, plan->graph->numbers[at]) : NULL;
}

const struct plan_argument *arguments_find_allocation(const struct plan *plan, const struct hlo_allocation *allocation)
{
    return allocation->is_parameter ? arguments_find(plan, allocation->parameter_number) : NULL;
}

static void list_build(struct plan *plan, const struct graph *graph, struct arena *arena)
{
    const struct hlo *hlo = &plan->hlo;
    const struct hlo_computation *entry = &hlo->computations[hlo->entry_at];
    for (int is_placing = 0; is_placing < 2; is_placing++) {
        plan->argument_count = 0;
        for (uint32_t i = 0; i < entry->instruction_count; i++) {
            uint32_t at = entry->instruction_first + i;
            if (graph_op(graph, at) != GRAPH_PARAMETER)
                continue;
            if (is_placing)
                plan->arguments[plan->argument_count] = (struct plan_argument){.number = graph->numbers[at],
                                                                               .path = graph_op_name(graph, at),
                                                                               .shape = hlo_instruction_shape(hlo, at),
                                                                               .instruction_at = at};
            plan->argument_count++;
        }
        if (!is_placing)
            plan->arguments = arena_array(arena, struct plan_argument, (size_t)plan->argument_count + 1);
    }
    qsort(plan->arguments, plan->argument_count, sizeof(*plan->arguments), by_number);
    for (uint32_t i = 0; i < hlo->allocation_count; i++) {
        const struct hlo_allocation *allocation = &hlo->allocations[i];
        const struct plan_argument *found = arguments_find_allocation(plan, allocation);
        if (found != NULL)
            plan->arguments[found - plan->arguments].bytes =
                sum_add(plan->arguments[found - plan->arguments].bytes, allocation->size_bytes);
    }
}

static void facts_find(const struct plan *plan, struct value_walk *walk, const struct results *results, uint32_t at,
                       uint8_t *random_names, struct facts *facts)
{
    const struct plan_argument *argument = &plan->arguments[at];
    struct arguments_reading reading = {.walk = walk, .random_names = random_names, .facts = facts};
    facts->words = argument_words_of(argument->path);
    facts->has_shape = shape_array_read(argument->shape, &facts->shape);
    facts->is_integer = facts->has_shape && shape_array_is_integer(&facts->shape);
    facts->is_aliased = results->is_aliased[at];
    facts->is_replaced = facts->is_aliased ||
                         (facts->has_shape && map_get(&results->of_shape, shape_array_hash(&facts->shape)) != MAP_NONE);
    facts->name = argument_words_name(&facts->words, is_random(facts));
    value_each_reader(walk, (struct value){argument->instruction_at, VALUE_WHOLE}, reader_met, &reading);
    if (!facts->is_read_forward && !facts->is_read_backward && !facts->is_replaced)
        facts->feeds_forward = feeds_forward(&reading);
}

void arguments_build(struct plan *plan, const struct graph *graph, struct value_walk *walk, struct arena *arena,
                     struct arena *scratch)
{
    struct results results;
    struct map twins;
    if (plan->hlo.entry_at == HLO_NONE)
        return;
    list_build(plan, graph, arena);
    results_build(plan, graph, scratch, &results);
    struct facts *facts = arena_array(scratch, struct facts, (size_t)plan->argument_count + 1);
    uint8_t *random_names = arena_array(scratch, uint8_t, (size_t)plan->hlo.instruction_count + 1);
    map_init(&twins, scratch, plan->argument_count);
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        facts_find(plan, walk, &results, i, random_names, &facts[i]);
        if (is_optimizers(&facts[i]))
            twins_collect(&facts[i], &twins);
    }
    for (uint32_t i = 0; i < plan->argument_count; i++)
        if (facts[i].is_aliased && !is_optimizers(&facts[i]))
            twin_give_back(&facts[i], &twins);
    const struct argument_product *products = argument_products_find(plan, walk, scratch);
    for (uint32_t i = 0; i < plan->argument_count; i++)
        facts[i].product = products[i];
    for (uint32_t i = 0; i < plan->argument_count; i++)
        plan->arguments[i].choice = arguments_decide(&facts[i], graph->has_backward, &twins);
    trees_apply(plan, facts, scratch);
}

void arguments_parameters_by_shape(const struct plan *plan, struct arena *arena, struct map *out)
{
    map_init(out, arena, plan->argument_count);
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        struct shape_array shape;
        if (plan->arguments[i].choice.category == CATEGORY_PARAMETER &&
            shape_array_read(plan->arguments[i].shape, &shape))
            map_put(out, shape_array_hash_any_order(&shape), i, false);
    }
}
