/* SPDX-License-Identifier: Apache-2.0
 * advice_types.c: a program in numbers of fewer bits. */
#include "verdict/advice.h"

#include "base/sum.h"
#include "plan/value.h"
#include "read/hlo/shape.h"
#include "whatif/call.h"
#include "whatif/promotion.h"

/* Products, or calls of what may be a kernel with some. */
static bool may_have_products(const struct advice *advice)
{
    const struct graph *graph = advice->facts->parts->plan->graph;
    if (variant_has_products(&advice->start))
        return true;
    arena_work(advice->facts->arena, graph->hlo->instruction_count);
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++)
        if (graph_op(graph, at) == GRAPH_CUSTOM_CALL)
            return true;
    return false;
}

/* ---- scalars that have a type ---- */

/* The operation in which a scalar first makes an array of fewer bits float32, or HLO_NONE. */
static uint32_t first_promotion(const struct advice *advice)
{
    const uint32_t *promotions = promotions_find(&advice->start);
    const struct plan *plan = advice->facts->parts->plan;
    uint32_t first = HLO_NONE, first_step = HLO_NONE;
    for (uint32_t at = 0; promotions != NULL && at < plan->hlo.instruction_count; at++) {
        if (promotions[at] == HLO_NONE)
            continue;
        uint32_t step = variant_step(&advice->start, promotions[at]);
        if (first == HLO_NONE || step < first_step) {
            first = promotions[at];
            first_step = step;
        }
    }
    return first;
}

/* In percent of what the program takes: what has to be saved for the scalar to be named as the cause. */
enum { PROMOTION_PERCENT = 10 };

static bool promotion_find(struct advice *advice)
{
    struct arena *arena = advice->facts->arena;
    struct verdict_cause *cause = &advice->facts->out->cause;
    uint32_t at = first_promotion(advice);
    const char *place = facts_source_of(advice->facts, at);
    if (place[0] == '\0')
        return false;
    struct verdict_advice item = {
        .title = arena_format(arena, "Keep bfloat16 at %s, where a scalar or a cast makes it float32", place),
        .change = "cast=*:bf16",
        .call = arena_format(
            arena,
            "scale = float(scale)  # %s: an np.float32 scalar widens arrays; or drop the .astype(jnp.float32) there",
            place),
        .evidence = arena_format(
            arena, "At %s an array of fewer bits becomes float32, and so does what is computed from it.", place),
        .reason = "What is computed from it has fewer bits, as JAX promotes types; other casts to float32 stay.",
    };
    struct verdict_advice *added = advice_try(advice, item);
    if (added == NULL)
        return false;
    if (added->saves_bytes >= advice->facts->total_bytes / 100 * PROMOTION_PERCENT)
        cause->text = arena_format(
            arena, "%s They are float32 from %s on, where bfloat16 meets a scalar of np.float32, or a cast.",
            cause->text, place);
    return true;
}

/* In percent of its arguments: what has to be float32 beside the optimizer's state. */
enum { WIDE_PERCENT = 1 };

/* Is an argument float32 that is not the optimizer's state? Else all is computed from fewer bits already, and the state
 * is the optimizer's own matter. */
static bool is_computed_wide(const struct advice *advice)
{
    const struct plan_space *space = advice->facts->space;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < advice->start.row_count; i++) {
        const struct variant_row *row = &advice->start.rows[i];
        if (row->is_argument && row->plan_row != PLAN_NONE && shape_type_is_float(row->type) &&
            shape_type_bytes(row->type) >= 4 && space->rows[row->plan_row].choice.category != CATEGORY_OPTIMIZER_STATE)
            bytes = sum_add(bytes, row->bytes);
    }
    return bytes > space->parameter_bytes / 100 * WIDE_PERCENT;
}

/* ---- weights that are read in fewer bits alone ---- */

struct narrow_reading {
    const struct hlo *hlo;
    const struct graph *graph;
    bool is_read, is_wide;
};

static bool is_of_two_bytes(const struct narrow_reading *reading, uint32_t at)
{
    struct shape_array shape;
    return shape_array_read(hlo_instruction_shape(reading->hlo, at), &shape) && shape_type_is_float(shape.type) &&
           shape_type_bytes(shape.type) == 2;
}

static bool is_narrowing(const struct narrow_reading *reading, uint32_t at)
{
    return graph_op(reading->graph, at) == GRAPH_CONVERT && is_of_two_bytes(reading, at);
}

/* Rows of a table that are cast as soon as they are looked up, or by the lookup itself, as the TPU's compiler merges
 * them. */
static bool is_narrowing_lookup(const struct narrow_reading *reading, uint32_t at)
{
    const struct graph *graph = reading->graph;
    uint32_t first = graph->reader_first[at], limit = graph->reader_first[at + 1];
    if (graph_op(graph, at) != GRAPH_GATHER)
        return false;
    if (is_of_two_bytes(reading, at))
        return true;
    for (uint32_t i = first; i < limit; i++)
        if (!is_narrowing(reading, graph->readers[i].reader_at))
            return false;
    return first < limit;
}

static bool narrow_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct narrow_reading *reading = context;
    bool is_narrowed = reader_at != HLO_NONE &&
                       (is_narrowing(reading, reader_at) || (operand == 0 && is_narrowing_lookup(reading, reader_at)));
    reading->is_read = true;
    reading->is_wide = !is_narrowed;
    return is_narrowed;
}

/* Are casts of the source to two bytes all that reads it? */
static bool is_read_narrow(const struct advice *advice, struct value_walk *walk, const struct plan_argument *argument)
{
    struct narrow_reading reading = {.hlo = &advice->facts->parts->plan->hlo, .graph = walk->graph};
    value_each_reader(walk, (struct value){argument->instruction_at, VALUE_WHOLE}, narrow_reader_note, &reading);
    return reading.is_read && !reading.is_wide && !walk->is_cut;
}

/* In percent of what the program takes: the weights of one of the function's arguments have to be this much. */
enum { NARROW_PERCENT = 10 };

static void narrow_weights_find(struct advice *advice)
{
    const struct plan *plan = advice->facts->parts->plan;
    struct arena *arena = advice->facts->arena;
    struct value_walk walk;
    struct str name = {"", 0};
    int64_t narrow = 0, wide = 0;
    value_walk_init(&walk, plan->graph, 8 * (uint64_t)plan->hlo.instruction_count + 4096, arena);
    for (uint32_t i = 0; i <= plan->argument_count; i++) {
        const struct plan_argument *argument = &plan->arguments[i];
        bool is_end = i == plan->argument_count || !str_equal(call_argument(argument->path), name);
        if (is_end && narrow > 0 && narrow >= advice->facts->total_bytes / 100 * NARROW_PERCENT &&
            wide <= narrow / 100 * WIDE_PERCENT && name.length > 0) {
            const char *text = arena_text(arena, name);
            struct verdict_advice item = {
                .title = arena_format(arena, "Keep the weights of %s in bfloat16, the only type in which they are read",
                                      text),
                .change = arena_format(arena, "cast=%s*:bf16", text),
                .evidence = arena_format(arena, "The float32 arrays of %s are only read by a cast to two bytes.", text),
                .reason = "The computation uses the same numbers; each weight takes half."};
            struct verdict_advice *added = advice_try(advice, item);
            if (added != NULL)
                added->is_of_cause =
                    added->fits != VERDICT_FITS_NO && advice->facts->out->cause.kind == VERDICT_CAUSE_PARAMETERS;
        }
        if (i == plan->argument_count)
            break;
        struct shape_array shape;
        if (is_end) {
            name = call_argument(argument->path);
            narrow = wide = 0;
        }
        if (argument->instruction_at == HLO_NONE || !shape_array_read(argument->shape, &shape) ||
            !shape_type_is_float(shape.type) || shape_type_bytes(shape.type) < 4)
            continue;
        if (is_read_narrow(advice, &walk, argument))
            narrow = sum_add(narrow, argument->bytes);
        else
            wide = sum_add(wide, argument->bytes);
    }
}

/* Of what a cast of everything saves, what arguments and results have to be for the figure to be told (percent): what
 * is computed stays float32 where the source or the compiler makes it so. */
enum { SURE_PERCENT = 50 };

static void cast_all_find(struct advice *advice, struct verdict_advice item)
{
    struct variant_sums sums;
    bool is_known = advice_sums(advice, item.change, &sums);
    int64_t saves = is_known ? advice->before.total_bytes - sums.total_bytes : 0,
            sure = is_known ? advice->before.fixed_bytes - sums.fixed_bytes : 0;
    struct verdict_advice *added = advice_try(advice, item);
    if (added != NULL && sure < saves / 100 * SURE_PERCENT)
        advice_figure_drop(
            advice, added,
            arena_format(advice->facts->arena,
                         "How much is not known, because most of it is computed: what the source or the compiler makes "
                         "float32 (exponentials, sums, jnp.zeros, a module's dtype) stays so. Arguments and results "
                         "take %s less. %s",
                         facts_size(advice->facts, sure > 0 ? sure : 0), added->reason));
}

void advice_find_cast(struct advice *advice)
{
    if (!advice->has_program) {
        advice_text_cast(advice);
        return;
    }
    struct verdict_advice item = {.title = "Keep and compute everything in bfloat16", .change = "cast=*:bf16"};
    if (advice_is_of_program(advice))
        narrow_weights_find(advice);
    if (!advice_is_of_program(advice) || promotion_find(advice) || !is_computed_wide(advice))
        return;
    if (!advice_may_be_first(advice, VERDICT_GUESS, 0))
        return;
    item.evidence = "Large arrays of the program are float32.";
    item.confidence = VERDICT_GUESS;
    item.reason =
        may_have_products(advice)
            ? "Only the memory is predicted. The results change: the optimizer's second moment loses small updates. "
              "What the source makes float32 itself (a module's dtype, jnp.zeros, one_hot) stays float32, and "
              "makes float32 of what is computed from it."
            : "Only the memory is predicted. Whether three decimal digits are accurate enough is not known: the "
              "program has no matrix products, so it may not be a neural network.";
    cast_all_find(advice, item);
}
