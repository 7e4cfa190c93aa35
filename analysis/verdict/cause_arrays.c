/* SPDX-License-Identifier: Apache-2.0
 * cause_arrays.c: see cause_arrays.h. */
#include "verdict/cause_arrays.h"
#include "verdict/scan_inputs.h"

#include "base/size_text.h"
#include "base/sum.h"
#include "plan/arguments.h"
#include "plan/describe.h"
#include "read/hlo/graph.h"
#include "read/hlo/shape.h"

#include <stdlib.h>

/* ---- what is looked at ---- */

static bool shape_of(const struct verdict_facts *facts, const struct plan_row *row, struct shape_array *shape)
{
    return row->buffer_at != PLAN_NONE && shape_array_read(facts->parts->plan->shapes[row->buffer_at], shape) &&
           shape->rank > 0;
}

static bool is_alive(const struct verdict_facts *facts, const struct plan_row *row)
{
    return plan_row_is_alive(row, facts->space->peak_step);
}

static void take(const struct verdict_facts *facts, struct cause_arrays *arrays, uint32_t at)
{
    const struct plan_row *row = &facts->space->rows[at];
    if (arrays->rows == NULL)
        arrays->rows = arena_array(facts->arena, uint32_t, (size_t)facts->space->live_at_peak_count + 1);
    arrays->rows[arrays->count++] = at;
    arrays->bytes = sum_add(arrays->bytes, row->bytes);
    if (arrays->said == NULL || row->bytes > arrays->said->bytes)
        arrays->said = row;
}

/* In percent of the peak. */
static bool holds(const struct verdict_facts *facts, int64_t bytes, int64_t percent)
{
    return bytes > 0 && bytes / percent >= facts->space->peak_bytes / 100;
}

/* ---- arrays of one size ---- */

struct array_sized {
    int64_t elements; /* of an array; they may be padded in one layout and not in another */
    uint32_t row;
};

static int by_elements(const void *left, const void *right)
{
    const struct array_sized *a = left, *b = right;
    return ORDER(b->elements, a->elements) ?: ORDER(a->row, b->row);
}

static bool says_little(const struct plan_row *row)
{
    return row->choice.category == CATEGORY_WORKSPACE || row->choice.category == CATEGORY_UNKNOWN;
}

enum { MOST_PERCENT = 50, MUCH_PERCENT = 25 };

/* Among arrays of one size, the one with the most dimensions: others are the same array laid flat. */
static void said_choose(const struct verdict_facts *facts, struct cause_arrays *arrays)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < arrays->count; i++) {
        const struct plan_row *row = &facts->space->rows[arrays->rows[i]];
        struct shape_array shape;
        if (shape_of(facts, row, &shape) && 2 * shape.rank + !shape_array_is_integer(&shape) > rank) {
            rank = 2 * shape.rank + !shape_array_is_integer(&shape);
            arrays->said = row;
            arrays->slices = shape.dimensions[0];
        }
    }
}

struct cause_arrays cause_arrays_equal(const struct verdict_facts *facts)
{
    const struct plan_space *space = facts->space;
    struct array_sized *sized = arena_array(facts->arena, struct array_sized, (size_t)space->live_at_peak_count + 1);
    struct cause_arrays found = {.said = NULL};
    uint32_t count = 0, best_at = 0, best_count = 0;
    int64_t best = 0, bytes = 0;
    for (uint32_t i = 0; i < space->row_count; i++) {
        struct shape_array shape;
        if (is_alive(facts, &space->rows[i]) && says_little(&space->rows[i]) && count < space->live_at_peak_count &&
            shape_of(facts, &space->rows[i], &shape))
            sized[count++] = (struct array_sized){shape_array_elements(&shape), i};
    }
    qsort(sized, count, sizeof(*sized), by_elements);
    for (uint32_t i = 0, first = 0; i < count; i++) {
        if (sized[i].elements != sized[first].elements) {
            first = i;
            bytes = 0;
        }
        bytes = sum_add(bytes, space->rows[sized[i].row].bytes);
        if (bytes > best) {
            best = bytes;
            best_at = first;
            best_count = i - first + 1;
        }
    }
    if (!holds(facts, best, MOST_PERCENT))
        return found;
    for (uint32_t i = 0; i < best_count; i++)
        take(facts, &found, sized[best_at + i].row);
    said_choose(facts, &found);
    return found;
}

/* ---- what a scan stacks ---- */

/* The element of a loop's state that an update writes into; HLO_NONE: another value. */
enum { UP_MAX = 16 };
static uint32_t state_element(const struct graph *graph, uint32_t update_at)
{
    uint32_t at = graph_operand(graph, update_at, 0);
    for (int i = 0; i < UP_MAX && at != HLO_NONE; i++)
        switch (graph_op(graph, at)) {
        case GRAPH_ELEMENT: return at;
        case GRAPH_PARAMETER: {
            uint32_t fusion_at = graph_fusion_around(graph, at);
            int32_t number = graph->numbers[at];
            if (fusion_at == HLO_NONE || number < 0)
                return HLO_NONE;
            at = graph_operand(graph, fusion_at, (uint32_t)number);
            break;
        }
        case GRAPH_SAME:
        case GRAPH_COPY:
        case GRAPH_RESHAPE: at = graph_operand(graph, at, 0); break;
        default: return HLO_NONE;
        }
    return HLO_NONE;
}

/* Does a loop write one slice of the first dimension at a time, and read none of them? */
static bool is_stacked(const struct verdict_facts *facts, const struct plan_row *row, int64_t *slices)
{
    const struct plan *plan = facts->parts->plan;
    const struct graph *graph = plan->graph;
    struct shape_array whole, part;
    uint32_t at = row->made_by;
    if (at == HLO_NONE || graph_op(graph, at) != GRAPH_UPDATE || graph_loop_body_around(graph, at) == HLO_NONE ||
        !says_little(row) || !shape_of(facts, row, &whole) || whole.dimensions[0] < 2)
        return false;
    uint32_t written_at = graph_operand(graph, at, 1), state_at = state_element(graph, at);
    if (written_at == HLO_NONE || state_at == HLO_NONE ||
        graph->reader_first[state_at + 1] - graph->reader_first[state_at] != 1 ||
        !shape_array_read(plan->hlo.instructions[written_at].bytes == NULL
                              ? (struct str){"", 0}
                              : hlo_instruction_shape(&plan->hlo, written_at),
                          &part))
        return false;
    int64_t elements = shape_array_elements(&part);
    *slices = whole.dimensions[0];
    return elements > 0 && shape_array_elements(&whole) / whole.dimensions[0] == elements;
}

/* The largest array that a loop writes a slice of in each iteration and does not read, and those that have as many
 * slices; they began empty. None with a backward pass that reads it. */
static struct cause_arrays stacked_find(const struct verdict_facts *facts)
{
    const struct plan_space *space = facts->space;
    struct cause_arrays found = {.said = NULL};
    int64_t largest_bytes = 0, slices, most = 0;
    if (facts->parts->plan->graph == NULL)
        return found;
    for (uint32_t i = 0; i < space->row_count; i++)
        if (is_alive(facts, &space->rows[i]) && holds(facts, space->rows[i].bytes, MUCH_PERCENT) &&
            space->rows[i].bytes > largest_bytes && is_stacked(facts, &space->rows[i], &slices)) {
            largest_bytes = space->rows[i].bytes;
            most = slices;
        }
    for (uint32_t i = 0; most > 0 && i < space->row_count; i++)
        if (is_alive(facts, &space->rows[i]) && is_stacked(facts, &space->rows[i], &slices) && slices == most)
            take(facts, &found, i);
    found.slices = most;
    return found;
}

/* ---- gradients ---- */

/* Without its first dimension. */
static struct shape_array of_one(const struct shape_array *shape)
{
    struct shape_array one = {.type = shape->type, .rank = shape->rank - 1};
    for (uint32_t i = 1; i < shape->rank; i++)
        one.dimensions[i - 1] = shape->dimensions[i];
    return one;
}

/* Gradients that a loop over microbatches stacks, to sum them behind it: arrays of the parameters' shapes, all with one
 * more dimension in front. */
static struct cause_arrays stacked_gradients_find(const struct verdict_facts *facts)
{
    const struct plan *plan = facts->parts->plan;
    struct cause_arrays found = {.are_gradients = true};
    struct map shapes;
    if (plan->graph == NULL || !plan->graph->has_backward)
        return found;
    arguments_parameters_by_shape(plan, facts->arena, &shapes);
    for (uint32_t i = 0; i < facts->space->row_count; i++) {
        const struct plan_row *row = &facts->space->rows[i];
        struct shape_array shape, one;
        int64_t slices;
        if (!is_alive(facts, row) || !shape_of(facts, row, &shape) || !is_stacked(facts, row, &slices) ||
            (found.slices > 0 && slices != found.slices))
            continue;
        one = of_one(&shape);
        if (one.rank == 0 || map_get(&shapes, shape_array_hash_any_order(&one)) == MAP_NONE)
            continue;
        found.slices = slices;
        take(facts, &found, i);
    }
    return holds(facts, found.bytes, MUCH_PERCENT) ? found : (struct cause_arrays){.said = NULL};
}

static int64_t parameters_elements(const struct plan *plan)
{
    int64_t elements = 0;
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        struct shape_array shape;
        if (plan->arguments[i].choice.category == CATEGORY_PARAMETER &&
            shape_array_read(plan->arguments[i].shape, &shape) && shape.rank > 0)
            elements = sum_add(elements, shape_array_elements(&shape));
    }
    return elements;
}

static bool is_backward(const struct verdict_facts *facts, const struct plan_row *row)
{
    const struct graph *graph = facts->parts->plan->graph;
    return row->named_by != HLO_NONE && graph_phase(graph, row->named_by) == GRAPH_BACKWARD;
}

/* Per-example gradients, which have one more dimension in front than the parameter that they are of: of at least half
 * of the elements of all parameters, and a quarter of the peak. */
static struct cause_arrays examples_find(const struct verdict_facts *facts)
{
    const struct plan_space *space = facts->space;
    struct cause_arrays found = {.said = NULL};
    struct map shapes;
    int64_t elements = 0;
    if (facts->parts->plan->graph == NULL || !facts->parts->plan->graph->has_backward)
        return found;
    arguments_parameters_by_shape(facts->parts->plan, facts->arena, &shapes);
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        struct shape_array shape, one;
        if (!is_alive(facts, row) || !says_little(row) || !is_backward(facts, row) || !shape_of(facts, row, &shape) ||
            shape.rank < 3 || shape.dimensions[0] < 2 || (found.slices > 0 && shape.dimensions[0] != found.slices))
            continue;
        one = of_one(&shape);
        if (map_get(&shapes, shape_array_hash_any_order(&one)) == MAP_NONE)
            continue;
        found.slices = shape.dimensions[0];
        elements = sum_add(elements, shape_array_elements(&one));
        take(facts, &found, i);
    }
    bool is_most = elements >= parameters_elements(facts->parts->plan) / 2;
    return is_most && holds(facts, found.bytes, MUCH_PERCENT) ? found : (struct cause_arrays){.said = NULL};
}

static uint32_t parameters_count(const struct plan *plan, const struct shape_array *of)
{
    struct shape_array shape;
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->argument_count; i++)
        count += plan->arguments[i].choice.category == CATEGORY_PARAMETER &&
                 shape_array_read(plan->arguments[i].shape, &shape) &&
                 shape_array_hash_any_order(&shape) == shape_array_hash_any_order(of);
    return count;
}

/* Gradients of the parameter that a scatter of the backward pass makes whole: at least a quarter of the peak. */
static struct cause_arrays table_find(const struct verdict_facts *facts)
{
    const struct plan *plan = facts->parts->plan;
    const struct plan_space *space = facts->space;
    static const char scatter[] = "scatter";
    struct cause_arrays found = {.said = NULL};
    struct shape_array table = {.rank = 0}, shape;
    struct map shapes;
    int64_t largest = 0;
    if (plan->graph == NULL || !plan->graph->has_backward)
        return found;
    arguments_parameters_by_shape(plan, facts->arena, &shapes);
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        if (is_alive(facts, row) && row->choice.category == CATEGORY_GRADIENT && row->named_by != HLO_NONE &&
            row->bytes > largest && shape_of(facts, row, &shape) && shape.rank == 2 &&
            str_contains(graph_op_name_end(plan->graph, row->named_by), str_of(scatter))) {
            table = shape;
            largest = row->bytes;
        }
    }
    uint64_t parameter = table.rank == 0 ? MAP_NONE : map_get(&shapes, shape_array_hash_any_order(&table));
    if (parameter == MAP_NONE)
        return found;
    /* An output layer may have the shape of the table; its gradient is a product. */
    bool is_alone = parameters_count(plan, &table) == 1;
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        if (is_alive(facts, row) && row->choice.category == CATEGORY_GRADIENT && shape_of(facts, row, &shape) &&
            shape_array_hash(&shape) == shape_array_hash(&table) &&
            (is_alone || (row->named_by != HLO_NONE &&
                          str_contains(graph_op_name_end(plan->graph, row->named_by), str_of(scatter)))))
            take(facts, &found, i);
    }
    found.parameter = plan->arguments[parameter].path;
    return holds(facts, found.bytes, MUCH_PERCENT) ? found : (struct cause_arrays){.said = NULL};
}

/* ---- sorts ---- */

/* Is the element of what an instruction gives read? */
static bool is_element_read(const struct graph *graph, uint32_t at, int32_t element)
{
    if (graph->reader_first[at] == graph->reader_first[at + 1])
        return true; /* a result of its computation, whose callers may read it */
    for (uint32_t i = graph->reader_first[at]; i < graph->reader_first[at + 1]; i++) {
        uint32_t reader = graph->readers[i].reader_at;
        if (graph_op(graph, reader) != GRAPH_ELEMENT)
            return true;
        if (graph->numbers[reader] != element)
            continue;
        if (graph->reader_first[reader] != graph->reader_first[reader + 1])
            return true;
    }
    return false;
}

struct cause_arrays cause_arrays_of_sorts(const struct verdict_facts *facts)
{
    const struct plan *plan = facts->parts->plan;
    const struct plan_space *space = facts->space;
    struct cause_arrays found = {.said = NULL};
    for (uint32_t i = 0; plan->graph != NULL && i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        struct shape_array shape;
        if (!is_alive(facts, row) || row->buffer_at == PLAN_NONE || !shape_of(facts, row, &shape) ||
            !shape_array_is_integer(&shape))
            continue;
        const struct value value = value_of_buffer(&plan->hlo, row->buffer_at);
        uint32_t at = value.at;
        if (at == HLO_NONE || !str_equal(hlo_instruction_opcode(&plan->hlo, at), STR("sort")) ||
            value.element == VALUE_WHOLE || value.element == 0 ||
            is_element_read(plan->graph, at, (int32_t)value.element))
            continue;
        take(facts, &found, i);
    }
    return found;
}

/* ---- the sentence ---- */

/* "p11_hessian.py:15", "p02_tsne.py:11 and elsewhere", "". */
static const char *place_of(const struct verdict_facts *facts, const struct cause_arrays *arrays)
{
    const char *place = facts_source(facts, arrays->said);
    bool is_one = true;
    for (uint32_t i = 0; i < arrays->count && is_one; i++) {
        const char *other = facts_source(facts, &facts->space->rows[arrays->rows[i]]);
        is_one = other[0] == '\0' || strcmp(other, place) == 0;
    }
    return place[0] == '\0' ? "" : arena_format(facts->arena, ", %s%s", place, is_one ? "" : " and elsewhere");
}

/* How many of them have the shape that the sentence names. */
static uint32_t alike_count(const struct verdict_facts *facts, const struct cause_arrays *arrays)
{
    const char *shape = facts_shape(facts, arrays->said);
    uint32_t alike = 0;
    for (uint32_t i = 0; i < arrays->count; i++)
        alike += strcmp(facts_shape(facts, &facts->space->rows[arrays->rows[i]]), shape) == 0;
    return alike;
}

/* "2 × f32[14410,1,2048,192]", "3 arrays as large as f32[40960,40960]". */
static const char *count_of(const struct verdict_facts *facts, const struct cause_arrays *arrays)
{
    char number[COUNT_TEXT_BYTES];
    const char *shape = facts_shape(facts, arrays->said);
    size_text_count(number, arrays->count);
    if (alike_count(facts, arrays) == arrays->count)
        return arrays->count == 1 ? shape : arena_format(facts->arena, "%s × %s", number, shape);
    return arena_format(facts->arena, "%s arrays as large as %s", number, shape);
}

/* "Per-example gradients hold 18.00 GiB at the peak, 81 % of it: 6 × f32[256,512,2048] and others, dpsgd.py:13." */
static const char *sentence_of(const struct verdict_facts *facts, const char *what, const struct cause_arrays *arrays)
{
    char share[SHARE_TEXT_BYTES], number[COUNT_TEXT_BYTES];
    uint32_t alike = alike_count(facts, arrays);
    return arena_format(
        facts->arena, "%s hold%s %s at the peak, %s of it: %s%s%s%s%s.", what, arrays->count == 1 ? "s" : "",
        facts_size(facts, arrays->bytes), size_text_share(share, arrays->bytes, facts->space->peak_bytes),
        alike == 1 ? "" : size_text_count(number, alike), alike == 1 ? "" : " × ", facts_shape(facts, arrays->said),
        alike < arrays->count ? " and others" : "", place_of(facts, arrays));
}

static const char *equal_sentence(const struct verdict_facts *facts, const struct cause_arrays *arrays)
{
    char share[SHARE_TEXT_BYTES];
    return arena_format(facts->arena, "%s hold %s at the peak, %s of it%s.", count_of(facts, arrays),
                        facts_size(facts, arrays->bytes),
                        size_text_share(share, arrays->bytes, facts->space->peak_bytes), place_of(facts, arrays));
}

static bool arrays_set(const struct verdict_facts *facts, enum verdict_cause_kind kind,
                       const struct cause_arrays *arrays, const char *text)
{
    struct cause_arrays *kept = arena_array(facts->arena, struct cause_arrays, 1);
    *kept = *arrays;
    cause_set(facts, kind, arrays->bytes, VERDICT_EXACT, text);
    facts->out->cause.arrays = kept;
    return true;
}

/* What a scan reads part by part, where it is most of the peak, says more than that it is padded, or workspace. */
static bool scan_inputs_make(const struct verdict_facts *facts)
{
    const struct scan_inputs inputs = scan_inputs_find(facts->parts->plan, facts->space, facts->arena);
    struct cause_arrays arrays = {.slices = inputs.parts};
    if (inputs.count == 0 || !holds(facts, inputs.bytes, MOST_PERCENT))
        return false;
    for (uint32_t i = 0; i < inputs.count; i++)
        if (is_alive(facts, &facts->space->rows[inputs.rows[i]]))
            take(facts, &arrays, inputs.rows[i]);
    const char *what = arena_format(facts->arena, "%s whole before a scan, which reads one of %lld parts at a time,",
                                    arrays.count == 1 ? inputs.is_gathered ? "An array gathered" : "An array computed"
                                    : inputs.is_gathered ? "Arrays gathered"
                                                         : "Arrays computed",
                                    (long long)inputs.parts);
    return arrays_set(facts, VERDICT_CAUSE_SCAN_INPUTS, &arrays, sentence_of(facts, what, &arrays));
}

bool cause_arrays_make(const struct verdict_facts *facts, bool is_vague, bool is_padded, int64_t bytes)
{
    struct arena *arena = facts->arena;
    if (scan_inputs_make(facts))
        return true;
    const struct cause_arrays table = table_find(facts);
    if (table.count > 0 && table.bytes >= bytes / 2) {
        const char *name = table.parameter.length == 0 ? "a table" : arena_text(arena, table.parameter);
        return arrays_set(facts, VERDICT_CAUSE_TABLE_GRADIENTS, &table,
                          sentence_of(facts, arena_format(arena, "Dense gradients of %s", name), &table));
    }
    const struct cause_arrays stacked = stacked_find(facts);
    const char *of_scan = arena_format(arena, "What a scan stacks in its %lld iterations", (long long)stacked.slices);
    /* That it is padded says less. */
    if (is_padded && holds(facts, stacked.bytes, MOST_PERCENT))
        return arrays_set(facts, VERDICT_CAUSE_SCAN_OUTPUTS, &stacked, sentence_of(facts, of_scan, &stacked));
    if (!is_vague)
        return false;
    const struct cause_arrays examples = examples_find(facts);
    if (examples.count > 0 && examples.bytes >= bytes / 2)
        return arrays_set(facts, VERDICT_CAUSE_EXAMPLE_GRADIENTS, &examples,
                          sentence_of(facts, "Per-example gradients", &examples));
    const struct cause_arrays gradients = stacked_gradients_find(facts);
    if (gradients.count > 0 && gradients.bytes >= bytes / 2) {
        const char *what = arena_format(arena, "%s of the gradients of %lld microbatches",
                                        gradients.count == 1 ? "A stack" : "Stacks", (long long)gradients.slices);
        return arrays_set(facts, VERDICT_CAUSE_SCAN_OUTPUTS, &gradients, sentence_of(facts, what, &gradients));
    }
    if (stacked.count > 0 && stacked.bytes >= bytes / 2)
        return arrays_set(facts, VERDICT_CAUSE_SCAN_OUTPUTS, &stacked, sentence_of(facts, of_scan, &stacked));
    const struct cause_arrays equal = cause_arrays_equal(facts);
    return equal.count > 1 && arrays_set(facts, VERDICT_CAUSE_EQUAL_ARRAYS, &equal, equal_sentence(facts, &equal));
}
