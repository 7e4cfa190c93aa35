/* SPDX-License-Identifier: Apache-2.0
 * scan_inputs.c: see scan_inputs.h. */
#include "verdict/scan_inputs.h"

#include "base/sum.h"
#include "plan/arguments.h"
#include "plan/links.h"
#include "plan/relayout.h"
#include "read/hlo/elementwise.h"
#include "read/hlo/graph.h"
#include "read/hlo/hlo_attributes.h"
#include "read/hlo/shape.h"

#include <stdlib.h>

/* In percent of the peak: smaller arrays are skipped. A loop of fewer rounds has too few parts. */
enum { LEAST_PERCENT = 5, PARTS_MIN = 4 };
/* Instructions behind a value, nested fusions. */
enum { BEHIND_MAX = 64, NESTED_MAX = 4 };

struct inputs_finding {
    const struct plan *plan;
    const struct plan_space *space;
    const struct graph *graph;
    struct arena *arena;
    struct value_walk walk;
    int64_t *parts; /* by row: the number of parts in which it is read; 0: it is needed whole, or was not examined */
};

static bool shape_at(const struct inputs_finding *finding, uint32_t at, struct shape_array *shape)
{
    arena_work(finding->arena, 1);
    return at != HLO_NONE && shape_array_read(hlo_instruction_shape(&finding->plan->hlo, at), shape) && shape->rank > 0;
}

/* ---- how it is made ---- */

static bool is_elementwise(const struct inputs_finding *finding, uint32_t at)
{
    return elementwise_is(hlo_instruction_opcode(&finding->plan->hlo, at));
}

static bool is_static_slice(const struct inputs_finding *finding, uint32_t at)
{
    return graph_op(finding->graph, at) == GRAPH_SLICE &&
           str_equal(hlo_instruction_opcode(&finding->plan->hlo, at), STR("slice"));
}

/* Is each element of what it gives made of few elements that can be told beforehand? Of fusions all that they hold. */
struct making {
    bool is_gathered, is_computed; /* by the source, which names it; computed: more than laid out anew */
};

static bool is_made_by_parts(const struct inputs_finding *finding, uint32_t at, unsigned depth, struct making *making)
{
    const struct hlo *hlo = &finding->plan->hlo;
    const struct graph *graph = finding->graph;
    enum graph_op op = graph_op(graph, at);
    bool is_named = graph_phase(graph, at) != GRAPH_NAMELESS;
    arena_work(finding->arena, 1);
    switch (op) {
    case GRAPH_PARAMETER: return depth > 0;
    case GRAPH_CONSTANT:
    case GRAPH_SAME:
    case GRAPH_COPY:
    case GRAPH_RESHAPE:
    case GRAPH_BROADCAST: return true;
    case GRAPH_SLICE: return is_static_slice(finding, at);
    case GRAPH_GATHER: making->is_gathered = making->is_gathered || is_named; return true;
    case GRAPH_CUSTOM_CALL: return str_equal(hlo_custom_call_target(hlo, at), STR("AssumeGatherIndicesInBound"));
    case GRAPH_FUSION: {
        uint32_t called = graph_called(graph, at, 0);
        if (called == HLO_NONE || depth == NESTED_MAX)
            return false;
        const struct hlo_computation *computation = &hlo->computations[called];
        for (uint32_t i = 0; i < computation->instruction_count; i++)
            if (!is_made_by_parts(finding, computation->instruction_first + i, depth + 1, making))
                return false;
        return true;
    }
    default:
        if (str_equal(hlo_instruction_opcode(hlo, at), STR("iota")))
            return true;
        making->is_computed = making->is_computed || (is_named && is_elementwise(finding, at));
        return is_elementwise(finding, at);
    }
}

/* ---- what reads it ---- */

struct inputs_reading {
    const struct inputs_finding *finding;
    uint32_t made_in;                   /* how many loops deep it is made, as its name says */
    uint32_t behind[BEHIND_MAX], count; /* what hands it on, element by element */
    uint32_t loop;                      /* in whose body it is made; HLO_NONE: none */
    int64_t parts;
    bool is_whole; /* something needs the whole value */
};

/* How many loops the source has around an operation, by its name. */
static uint32_t loops_named(const struct inputs_finding *finding, uint32_t at)
{
    static const char body[] = "while/body";
    struct str name = graph_op_name_end(finding->graph, at);
    uint32_t count = 0;
    arena_work(finding->arena, name.length / 8 + 1);
    for (const char *end = name.data + name.length, *from = name.data, *met;
         name.length > 0 && (met = memmem(from, (size_t)(end - from), body, sizeof(body) - 1)) != NULL; count++)
        from = met + sizeof(body) - 1;
    return count;
}

/* Notes a part that is read in a loop that began after the value. Values that the compiler moved out of that loop do
 * not count, because the source computes those part by part already. */
static bool part_take(struct inputs_reading *reading, uint32_t slice_at)
{
    const struct inputs_finding *finding = reading->finding;
    uint32_t body = graph_loop_body_around(finding->graph, slice_at);
    struct shape_array part, whole;
    if (body == HLO_NONE || body == reading->loop || !shape_at(finding, slice_at, &part) ||
        !shape_at(finding, graph_operand(finding->graph, slice_at, 0), &whole))
        return false;
    uint32_t read_in = loops_named(finding, slice_at);
    if (read_in > 0 && reading->made_in >= read_in)
        return false;
    int64_t one = shape_array_elements(&part), all = shape_array_elements(&whole);
    if (one <= 0 || all / one < PARTS_MIN)
        return false;
    if (reading->parts == 0 || all / one < reading->parts)
        reading->parts = all / one;
    return true;
}

static bool reader_take(void *context, uint32_t reader_at, uint32_t operand)
{
    struct inputs_reading *reading = context;
    const struct inputs_finding *finding = reading->finding;
    enum graph_op op = reader_at == HLO_NONE ? GRAPH_COMPUTE : graph_op(finding->graph, reader_at);
    if (reader_at == HLO_NONE)
        reading->is_whole = true;
    else if (op == GRAPH_SLICE && !is_static_slice(finding, reader_at))
        reading->is_whole = operand == 0 && !part_take(reading, reader_at);
    else if (op == GRAPH_GATHER ? operand == 0
                                : op != GRAPH_RESHAPE && op != GRAPH_SLICE && op != GRAPH_BROADCAST &&
                                      !is_elementwise(finding, reader_at))
        reading->is_whole = true;
    else if (reading->count == BEHIND_MAX)
        reading->is_whole = true;
    else
        reading->behind[reading->count++] = reader_at;
    return !reading->is_whole;
}

/* The number of parts in which loops read a value and what is computed from it; 0: the whole is needed at once. */
static int64_t parts_read(struct inputs_finding *finding, struct value value, uint32_t made_by)
{
    struct inputs_reading reading = {.finding = finding,
                                     .made_in = loops_named(finding, made_by != HLO_NONE ? made_by : value.at),
                                     .loop = graph_loop_body_around(finding->graph, value.at)};
    value_each_reader(&finding->walk, value, reader_take, &reading);
    for (uint32_t i = 0; i < reading.count && !reading.is_whole && !finding->walk.is_cut; i++)
        value_each_reader(&finding->walk, (struct value){reading.behind[i], VALUE_WHOLE}, reader_take, &reading);
    return reading.is_whole || finding->walk.is_cut ? 0 : reading.parts;
}

/* ---- finding them ---- */

static bool is_of_a_pass(struct inputs_finding *finding, const struct plan_row *row, uint32_t at)
{
    static const unsigned passes = 1u << GRAPH_FORWARD | 1u << GRAPH_BACKWARD | 1u << GRAPH_RECOMPUTE;
    unsigned phases = value_phases(&finding->walk, at);
    if (row->made_by != HLO_NONE)
        phases |= value_phases(&finding->walk, row->made_by);
    return (phases & passes) != 0;
}

/* Are two rows copies of one argument in one layout? The compiler makes a copy anew rather than keep it. */
static bool are_alike(const struct inputs_finding *finding, uint32_t row_at, uint32_t other_at)
{
    const struct plan_row *row = &finding->space->rows[row_at], *other = &finding->space->rows[other_at];
    if (row->bytes != other->bytes || row->buffer_at == PLAN_NONE || other->buffer_at == PLAN_NONE)
        return false;
    const struct plan_argument *of = relayout_of(finding->plan, row);
    return of != NULL && of == relayout_of(finding->plan, other) &&
           str_equal(finding->plan->shapes[row->buffer_at], finding->plan->shapes[other->buffer_at]);
}

static bool is_repeated(const struct inputs_finding *finding, const struct scan_inputs *inputs, uint32_t row_at)
{
    arena_work(finding->arena, inputs->source_count);
    for (uint32_t i = 0; i < inputs->source_count; i++)
        if (are_alike(finding, row_at, inputs->sources[i]))
            return true;
    return false;
}

/* What its maker reads that is not one of them, and no argument. */
static void sources_take(struct inputs_finding *finding, const struct links *links, uint32_t row_at, bool *is_source,
                         struct scan_inputs *inputs)
{
    const struct graph *graph = finding->graph;
    uint32_t at = finding->plan->hlo.buffers[finding->space->rows[row_at].buffer_at].instruction_at;
    for (uint32_t nth = 0; nth < graph->operand_first[at + 1] - graph->operand_first[at]; nth++) {
        uint32_t made_at;
        struct links_place place = links_operand(links, at, nth, &made_at);
        bool is_here = place.row_at != PLAN_NONE && &finding->plan->spaces[place.space_at] == finding->space;
        if (!is_here || finding->parts[place.row_at] != 0 || is_source[place.row_at])
            continue;
        is_source[place.row_at] = true;
        struct value base = value_origin(&finding->walk, (struct value){made_at, VALUE_WHOLE}, VALUE_ORIGIN, NULL);
        const struct plan_argument *argument =
            base.at == HLO_NONE ? NULL : arguments_find_instruction(finding->plan, base.at);
        if (argument != NULL && inputs->argument.length == 0)
            inputs->argument = argument->path;
        if (finding->space->rows[place.row_at].is_indefinite)
            continue;
        if (is_repeated(finding, inputs, place.row_at))
            inputs->repeated[inputs->repeated_count++] = place.row_at;
        else
            inputs->sources[inputs->source_count++] = place.row_at;
    }
}

struct inputs_row {
    int64_t bytes;
    uint32_t row;
};

static int by_bytes(const void *left, const void *right)
{
    const struct inputs_row *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: ORDER(a->row, b->row);
}

/* Rows, the largest first, that are large enough to be looked at. */
static struct inputs_row *large_rows(const struct inputs_finding *finding, uint32_t *count)
{
    const struct plan_space *space = finding->space;
    struct inputs_row *rows = arena_array(finding->arena, struct inputs_row, (size_t)space->row_count + 1);
    *count = 0;
    for (uint32_t i = space->indefinite_row_count; i < space->row_count; i++)
        if (space->rows[i].buffer_at != PLAN_NONE && space->rows[i].bytes >= space->peak_bytes / 100 * LEAST_PERCENT &&
            space->rows[i].bytes > 0)
            rows[(*count)++] = (struct inputs_row){space->rows[i].bytes, i};
    qsort(rows, *count, sizeof(*rows), by_bytes);
    return rows;
}

struct scan_inputs scan_inputs_find(const struct plan *plan, const struct plan_space *space, struct arena *arena)
{
    struct scan_inputs inputs = {.argument = {"", 0}};
    if (plan->graph == NULL || space->row_count == 0)
        return inputs;
    struct inputs_finding finding = {.plan = plan, .space = space, .graph = plan->graph, .arena = arena};
    bool is_made = false;
    uint32_t count;
    const struct inputs_row *rows = large_rows(&finding, &count);
    value_walk_init(&finding.walk, plan->graph, 8 * (uint64_t)plan->hlo.instruction_count + 4096, arena);
    finding.parts = arena_array(arena, int64_t, (size_t)space->row_count + 1);
    inputs.rows = arena_array(arena, uint32_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_row *row = &space->rows[rows[i].row];
        const struct value value = value_of_buffer(&plan->hlo, row->buffer_at);
        struct making making = {.is_gathered = false};
        if (value.at == HLO_NONE || !is_made_by_parts(&finding, value.at, 0, &making) ||
            is_of_a_pass(&finding, row, value.at))
            continue;
        int64_t parts = parts_read(&finding, value, row->made_by);
        if (parts == 0 || (inputs.parts > 0 && parts != inputs.parts))
            continue;
        inputs.parts = finding.parts[rows[i].row] = parts;
        inputs.rows[inputs.count++] = rows[i].row;
        inputs.is_gathered = inputs.is_gathered || making.is_gathered;
        is_made = is_made || making.is_gathered || making.is_computed;
        if (plan_row_is_alive(row, space->peak_step))
            inputs.bytes = sum_add(inputs.bytes, row->bytes);
    }
    if (!is_made)
        return (struct scan_inputs){.argument = {"", 0}};
    struct links links;
    links_build(plan, arena, &links);
    bool *is_source = arena_array(arena, bool, (size_t)space->row_count + 1);
    inputs.sources = arena_array(arena, uint32_t, (size_t)space->row_count + 1);
    inputs.repeated = arena_array(arena, uint32_t, (size_t)space->row_count + 1);
    for (uint32_t i = 0; i < inputs.count; i++)
        sources_take(&finding, &links, inputs.rows[i], is_source, &inputs);
    inputs.said = &space->rows[inputs.rows[0]];
    return inputs;
}

/* ---- without them ---- */

/* One part of each is there while the loop runs, and what they are made of until its end. */
static void parts_apply(const struct scan_inputs *inputs, struct variant *variant)
{
    enum { INPUT = 1, SOURCE, REPEATED };
    uint8_t *roles = arena_array(variant->arena, uint8_t, (size_t)variant->space->row_count + 1);
    uint32_t until = 0, layers = inputs->parts < UINT32_MAX ? (uint32_t)inputs->parts : UINT32_MAX;
    for (uint32_t i = 0; i < inputs->count; i++)
        roles[inputs->rows[i]] = INPUT;
    for (uint32_t i = 0; i < inputs->source_count; i++)
        roles[inputs->sources[i]] = SOURCE;
    for (uint32_t i = 0; i < inputs->repeated_count; i++)
        roles[inputs->repeated[i]] = REPEATED;
    for (uint32_t i = 0; i < variant->row_count; i++)
        if (variant->rows[i].plan_row != PLAN_NONE && roles[variant->rows[i].plan_row] == INPUT &&
            variant->rows[i].dies > until)
            until = variant->rows[i].dies;
    for (uint32_t i = 0; i < variant->row_count; i++) {
        struct variant_row *row = &variant->rows[i];
        if (row->plan_row == PLAN_NONE || roles[row->plan_row] == 0)
            continue;
        row->dies = row->dies < until ? until : row->dies;
        if (roles[row->plan_row] == INPUT)
            row->layers = layers;
        row->is_gone = row->is_gone || roles[row->plan_row] == REPEATED;
    }
}

void scan_inputs_measure(const struct scan_inputs *inputs, const struct variant *start, struct arena *tried,
                         struct variant_sums *out)
{
    struct variant variant;
    variant_copy(&variant, start, tried);
    for (struct variant *each = &variant; each != NULL; each = each->without_remat)
        parts_apply(inputs, each);
    variant_measure(&variant, out, NULL);
}
