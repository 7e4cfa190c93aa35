/* SPDX-License-Identifier: Apache-2.0
 * advice_parts.c: what need not be whole at any time: what a scan stacks, arrays whose rows are worked on one by one,
 * per-example gradients, those of a whole table, and the positions that a stable sort carries. No instruction is
 * changed for these: the figure is what the peak falls by without the bytes that would go, which is a bound. */
#include "verdict/advice_parts.h"
#include "verdict/scan_inputs.h"

#include "base/sum.h"
#include "read/hlo/shape.h"
#include "whatif/marginal.h"

#include <stdlib.h>

bool advice_saving_set(const struct advice *advice, const struct cause_arrays *arrays, int64_t kept, int64_t of,
                       struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    struct marginal marginal;
    int64_t *bytes = arena_array(facts->arena, int64_t, (size_t)arrays->count + 1);
    for (uint32_t i = 0; i < arrays->count; i++) {
        int64_t all = facts->space->rows[arrays->rows[i]].bytes;
        bytes[i] = all - (int64_t)((double)all * (double)kept / (double)of);
    }
    marginal_build(&marginal, facts->space, facts->arena);
    item->saves_bytes = marginal_of_rows(&marginal, arrays->rows, bytes, arrays->count).bytes;
    item->lands_at_bytes = facts->total_bytes - item->saves_bytes;
    item->confidence = VERDICT_BOUND;
    item->extra_flops_percent = -1;
    item->evidence = facts->out->cause.text;
    return item->saves_bytes > 0 && item->saves_bytes >= facts->total_bytes / 100;
}

static bool is_cause(const struct advice *advice, enum verdict_cause_kind kind)
{
    return advice->has_program && advice_is_of_program(advice) && advice->facts->out->cause.kind == kind;
}

struct verdict_advice *advice_add_of_cause(struct advice *advice, struct verdict_advice item)
{
    struct verdict_advice *added = advice_add(advice, item);
    added->is_of_cause = added->fits != VERDICT_FITS_NO;
    return added;
}

void advice_find_scan_outputs(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    if (!advice->has_program) {
        advice_text_scan_outputs(advice);
        return;
    }
    struct verdict_advice item = {.call = ADVICE_SCAN_OUTPUTS_CALL,
                                  .reason =
                                      "At most this much: what is computed in the scan instead may take memory there."};
    if (!is_cause(advice, VERDICT_CAUSE_SCAN_OUTPUTS))
        return;
    const struct cause_arrays *stacked = facts->out->cause.arrays;
    if (stacked->are_gradients) {
        item.call =
            "grads = jax.lax.scan(lambda total, part: (jax.tree.map(jnp.add, total, jax.grad(loss)(params, part)), "
            "None), jax.tree.map(jnp.zeros_like, params), parts)[0]  # divided by their number behind it";
        item.reason = "At most this much: one sum of the gradients stays, which is the same but for rounding.";
    }
    if (!advice_saving_set(advice, stacked, 1, stacked->slices, &item))
        return;
    item.title = stacked->are_gradients
                     ? "Sum the gradients in the scan's carry instead of stacking them"
                     : arena_format(facts->arena, "Reduce inside the scan, or keep every k-th of its %lld outputs",
                                    (long long)stacked->slices);
    advice_add_of_cause(advice, item);
}

/* What it is gathered from, as code may name it. */
static const char *gathered_from(const struct advice *advice, const struct scan_inputs *inputs)
{
    return inputs->argument.length == 0 ? "data" : arena_text(advice->facts->arena, inputs->argument);
}

void advice_find_scan_inputs(struct advice *advice)
{
    enum { MUCH_PERCENT = 25 };
    const struct verdict_facts *facts = advice->facts;
    struct arena *arena = facts->arena;
    if (!advice->has_program || !advice_is_of_program(advice))
        return;
    const struct scan_inputs inputs = scan_inputs_find(facts->parts->plan, facts->space, arena);
    if (inputs.count == 0)
        return;
    struct variant_sums sums;
    advice_tried_forget(advice);
    scan_inputs_measure(&inputs, &advice->start, advice->tried, &sums);
    advice_tried_forget(advice);
    const char *shape = facts_shape(facts, inputs.said), *place = facts_source(facts, inputs.said);
    const char *line = place[0] != '\0' ? place : "the line before the scan";
    long long parts = (long long)inputs.parts;
    struct verdict_advice item = {
        .saves_bytes = advice->before.total_bytes - sums.total_bytes,
        .confidence = VERDICT_BOUND,
        .extra_flops_percent = -1,
        .reason = "At most this much: what it is made of stays for the scan, and one part at a time is made in it; the "
                  "values are the same.",
    };
    item.lands_at_bytes = facts->total_bytes - item.saves_bytes;
    if (item.saves_bytes <= 0 || item.saves_bytes < facts->total_bytes / 100)
        return;
    item.title = arena_format(arena, "%s inside the scan, a part of %s in each of its %lld iterations",
                              inputs.is_gathered ? "Gather by index" : "Compute", shape, parts);
    item.call = inputs.is_gathered
                    ? arena_format(arena,
                                   "jax.lax.scan(step, carry, index.reshape(%lld, -1))  # in step: x = %s[index], then "
                                   "what %s does with all of it",
                                   parts, gathered_from(advice, &inputs), line)
                    : arena_format(arena,
                                   "jax.lax.scan(step, carry, xs)  # xs: what %s reads; in step: what it does, "
                                   "with one part",
                                   line);
    item.evidence =
        arena_format(arena, "%s is %s whole before a loop that reads one of %lld parts in each iteration%s%s.", shape,
                     inputs.is_gathered ? "gathered" : "computed", parts, place[0] != '\0' ? ", " : "", place);
    struct verdict_advice *added = advice_add(advice, item);
    added->is_of_cause =
        added->fits != VERDICT_FITS_NO && inputs.bytes >= facts->space->peak_bytes / 100 * MUCH_PERCENT;
}

void advice_find_unstable_sort(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    struct verdict_advice item = {
        .title = "Sort without keeping the order of equal values: no positions are carried",
        .call = "jnp.sort(x, axis=axis, stable=False)",
        .reason = "At most this much: the positions alone go. The sorted values are the same.",
    };
    if (!advice->has_program || !advice_is_of_program(advice))
        return;
    const struct cause_arrays positions = cause_arrays_of_sorts(facts);
    if (positions.count == 0 || !advice_saving_set(advice, &positions, 0, 1, &item))
        return;
    const char *place = facts_source(facts, positions.said);
    item.evidence = arena_format(facts->arena,
                                 "A stable sort carries the positions of its values, which nothing reads: "
                                 "%s%s%s.",
                                 facts_shape(facts, positions.said), place[0] != '\0' ? ", " : "", place);
    if (is_cause(advice, VERDICT_CAUSE_EQUAL_ARRAYS) || is_cause(advice, VERDICT_CAUSE_ONE_BUFFER))
        advice_add_of_cause(advice, item);
    else
        advice_add(advice, item);
}

/* ---- parts ---- */

/* Fewer rows are none to be worked on part by part. */
enum { ROWS_MIN = 64, EXAMPLES_AT_ONCE = 8 };

/* All rows, of any moment, that would be of one part at a time with `whole`: what takes its place at the next peak is
 * mostly another of them. */
static struct cause_arrays with_other_moments(const struct advice *advice, const struct cause_arrays *whole,
                                              bool (*goes)(const struct advice *advice, const struct shape_array *shape,
                                                           const struct cause_arrays *whole))
{
    const struct verdict_facts *facts = advice->facts;
    struct cause_arrays all = *whole;
    all.count = 0;
    all.rows = arena_array(facts->arena, uint32_t, (size_t)facts->space->row_count + 1);
    for (uint32_t i = 0; i < facts->space->row_count; i++) {
        const struct plan_row *row = &facts->space->rows[i];
        enum category category = (enum category)row->choice.category;
        struct shape_array shape;
        bool is_computed =
            category == CATEGORY_WORKSPACE || category == CATEGORY_UNKNOWN || category == CATEGORY_SAVED_ACTIVATION;
        if (is_computed && row->buffer_at != PLAN_NONE &&
            shape_array_read(facts->parts->plan->shapes[row->buffer_at], &shape) && goes(advice, &shape, whole))
            all.rows[all.count++] = i;
    }
    return all;
}

static bool is_as_large(const struct advice *advice, const struct shape_array *shape, const struct cause_arrays *whole)
{
    struct shape_array said;
    return shape_array_read(advice->facts->parts->plan->shapes[whole->said->buffer_at], &said) &&
           shape_array_elements(shape) == shape_array_elements(&said);
}

static bool has_slices(const struct advice *advice, const struct shape_array *shape, const struct cause_arrays *whole)
{
    (void)advice;
    return shape->rank > 1 && shape->dimensions[0] == whole->slices;
}

/* As many elements as parameters of one size have for all examples. */
static bool is_of_examples(const struct advice *advice, const struct shape_array *shape,
                           const struct cause_arrays *whole)
{
    const struct plan *plan = advice->facts->parts->plan;
    int64_t elements = shape_array_elements(shape);
    arena_work(advice->facts->arena, plan->argument_count);
    for (uint32_t i = 0; elements % whole->slices == 0 && i < plan->argument_count; i++) {
        struct shape_array one;
        if (plan->arguments[i].choice.category == CATEGORY_PARAMETER &&
            shape_array_read(plan->arguments[i].shape, &one) && one.rank > 1 &&
            shape_array_elements(&one) == elements / whole->slices)
            return true;
    }
    return false;
}

static bool is_made_by_sort(const struct advice *advice, const struct plan_row *row)
{
    const struct plan *plan = advice->facts->parts->plan;
    return row->made_by != HLO_NONE && str_equal(hlo_instruction_opcode(&plan->hlo, row->made_by), STR("sort"));
}

/* What a loop writes piece by piece, one round may need of the one before. */
static bool is_made_by_loop(const struct advice *advice, const struct plan_row *row)
{
    const struct graph *graph = advice->facts->parts->plan->graph;
    return row->made_by != HLO_NONE && graph_op(graph, row->made_by) == GRAPH_UPDATE &&
           graph_loop_body_around(graph, row->made_by) != HLO_NONE;
}

static bool has_rank(const struct advice *advice, const struct plan_row *row, uint32_t rank)
{
    struct shape_array shape;
    return shape_array_read(advice->facts->parts->plan->shapes[row->buffer_at], &shape) && shape.rank >= rank;
}

struct verdict_advice *advice_parts_add(struct advice *advice, const struct cause_arrays *whole, int64_t at_once,
                                        struct verdict_advice item)
{
    const struct verdict_facts *facts = advice->facts;
    const char *place = facts_source(facts, whole->said);
    item.title = arena_format(facts->arena, "Work on %lld of the %lld rows of %s at a time", (long long)at_once,
                              (long long)whole->slices, facts_shape(facts, whole->said));
    item.call = arena_format(facts->arena, "jax.lax.map(%s, xs, batch_size=%lld)  # f: what %s does with one row",
                             advice->has_backward ? "jax.checkpoint(f)" : "f", (long long)at_once,
                             place[0] != '\0' ? place : "the line");
    return advice_add_of_cause(advice, item);
}

static void equal_arrays_find(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    struct verdict_advice item = {
        .reason = "At most this much, and only if each row is computed on its own and summed or gathered afterwards: "
                  "what the parts are computed from stays whole, and so does what is kept of them."};
    const struct cause_arrays *said = facts->out->cause.arrays,
                              whole = said != NULL ? *said : cause_arrays_equal(facts);
    /* A matrix alone is mostly a product, whose columns are worked on as well. */
    bool is_matrix = whole.count == 1 && !has_rank(advice, whole.said, 3);
    if (whole.count == 0 || whole.slices < ROWS_MIN || is_matrix || is_made_by_sort(advice, whole.said))
        return;
    for (uint32_t i = 0; i < whole.count; i++)
        if (is_made_by_loop(advice, &facts->space->rows[whole.rows[i]]))
            return;
    int64_t rows = whole.slices / ADVICE_PARTS;
    const struct cause_arrays all = with_other_moments(advice, &whole, is_as_large);
    if (!advice_saving_set(advice, &all, rows, whole.slices, &item))
        return;
    advice_parts_add(advice, &whole, rows, item);
}

void advice_find_parts(struct advice *advice)
{
    bool is_of_one_size = is_cause(advice, VERDICT_CAUSE_EQUAL_ARRAYS) || is_cause(advice, VERDICT_CAUSE_ONE_BUFFER);
    bool is_of_rows = is_cause(advice, VERDICT_CAUSE_SAVED_ACTIVATIONS) || is_cause(advice, VERDICT_CAUSE_WORKSPACE);
    if ((is_of_one_size || is_of_rows) && advice_pairs_find(advice))
        return;
    if (is_of_rows)
        advice_rows_find(advice);
    else if (is_of_one_size)
        equal_arrays_find(advice);
}

/* Members of an ensemble, trained side by side by vmap: all parameters, several at least, have one first dimension, and
 * so has most of what is saved for the backward pass, which no loop stacks. 0: there is none. */
static int64_t members_of(const struct advice *advice, struct cause_arrays *saved)
{
    enum { MEMBERS_MIN = 2, ARRAYS_MIN = 4 };
    const struct verdict_facts *facts = advice->facts;
    const struct plan *plan = facts->parts->plan;
    int64_t members = 0, held = 0;
    uint32_t arrays = 0, stacks = 0;
    struct shape_array shape;
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        if (plan->arguments[i].choice.category != CATEGORY_PARAMETER)
            continue;
        if (!shape_array_read(plan->arguments[i].shape, &shape) || shape.rank < 2 ||
            (members > 0 && shape.dimensions[0] != members))
            return 0;
        members = shape.dimensions[0];
        arrays++;
        stacks += shape.rank > 2; /* of matrices: all layers of one width have as many rows, too */
    }
    for (uint32_t i = 0; i < facts->space->row_count; i++) {
        const struct plan_row *row = &facts->space->rows[i];
        bool is_of_members = row->choice.category == CATEGORY_SAVED_ACTIVATION && row->buffer_at != PLAN_NONE &&
                             plan_row_is_alive(row, facts->space->peak_step) &&
                             shape_array_read(plan->shapes[row->buffer_at], &shape) && shape.rank > 1 &&
                             shape.dimensions[0] == members;
        if (!is_of_members)
            continue;
        if (row->made_by != HLO_NONE && graph_loop_body_around(plan->graph, row->made_by) != HLO_NONE)
            return 0;
        held += row->bytes;
        saved->said = row;
    }
    saved->slices = members;
    bool is_most = held > 0 && held >= facts->space->category_bytes[CATEGORY_SAVED_ACTIVATION] / 2;
    return members >= MEMBERS_MIN && arrays >= ARRAYS_MIN && stacks > 0 && is_most ? members : 0;
}

void advice_find_members(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    struct cause_arrays saved = {.said = NULL};
    struct verdict_advice item = {
        .call =
            "losses, grads = jax.lax.map(lambda member: jax.value_and_grad(loss)(member, x, y), members)  # in place "
            "of jax.vmap over the members",
        .reason = "At most this much: the members run one after another."};
    int64_t members = is_cause(advice, VERDICT_CAUSE_SAVED_ACTIVATIONS) ? members_of(advice, &saved) : 0;
    if (members == 0)
        return;
    const struct cause_arrays all = with_other_moments(advice, &saved, has_slices);
    if (!advice_saving_set(advice, &all, 1, members, &item))
        return;
    item.title =
        arena_format(facts->arena, "Train the %lld members of the ensemble one after another", (long long)members);
    advice_add_of_cause(advice, item);
}

void advice_find_example_gradients(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    struct verdict_advice item = {
        .reason = "At most this much: sums of the gradients stay, and so do activations of one microbatch."};
    if (!is_cause(advice, VERDICT_CAUSE_EXAMPLE_GRADIENTS))
        return;
    const struct cause_arrays *examples = facts->out->cause.arrays;
    int64_t at_once = examples->slices > 4 * EXAMPLES_AT_ONCE ? EXAMPLES_AT_ONCE : 1;
    const struct cause_arrays all = with_other_moments(advice, examples, is_of_examples);
    if (!advice_saving_set(advice, &all, at_once, examples->slices, &item))
        return;
    item.title =
        arena_format(facts->arena, "Clip and sum per-example gradients in microbatches of %lld of the %lld examples",
                     (long long)at_once, (long long)examples->slices);
    item.call = arena_format(
        facts->arena,
        "jax.lax.scan(lambda total, part: (jax.tree.map(lambda t, g: t + g.sum(0), total, "
        "jax.vmap(lambda *one: clip(jax.grad(loss)(params, *one)))(*part)), None), jax.tree.map(jnp.zeros_like, "
        "params), jax.tree.map(lambda x: x.reshape(-1, %lld, *x.shape[1:]), batch))[0]  # batch: a tuple; clip: of one "
        "example",
        (long long)at_once);
    advice_add_of_cause(advice, item);
}

/* ---- tables ---- */

void advice_find_table_gradients(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    struct arena *arena = facts->arena;
    if (!is_cause(advice, VERDICT_CAUSE_TABLE_GRADIENTS))
        return;
    const struct cause_arrays *table = facts->out->cause.arrays;
    const char *name = table->parameter.length > 0 ? arena_text(arena, table->parameter) : "the table";
    struct verdict_advice item = {
        .title = arena_format(arena, "Update only the rows of %s that the step looks up", name),
        .call = "loss, g = jax.value_and_grad(loss_of_rows)(table[ids]); table = table.at[ids].add(-rate * g)  # with "
                "row-wise Adagrad one number a row is the state",
        .reason = "At most this much: no gradient of the whole table is made. Adam's state of the table would go too, "
                  "but then it is another optimizer."};
    if (advice_saving_set(advice, table, 0, 1, &item))
        advice_add_of_cause(advice, item);
    if (table->count < 2)
        return;
    item = (struct verdict_advice){
        .title = arena_format(arena, "Look %s up once in a step: one gradient of it instead of %u", name, table->count),
        .call = "rows = table[jnp.concatenate([a, b])]  # one lookup, then split: rows[:len(a)], rows[len(a):]",
        .reason = "At most this much: one dense gradient stays.",
        .effort = 1};
    if (advice_saving_set(advice, table, 1, table->count, &item))
        advice_add_of_cause(advice, item);
}
