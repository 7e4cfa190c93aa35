/* SPDX-License-Identifier: Apache-2.0
 * program_arrays.c: see program_arrays.h. */
#include "plan/program_arrays_found.h"

#include "base/sum.h"
#include "plan/arguments.h"
#include "read/hlo/graph.h"
#include "read/hlo/hlo_aliases.h"
#include "read/hlo/hlo_shapes.h"
#include "read/hlo/shape.h"

/* Steps of all walks, for each operand; custom calls that a walk goes through; numbers of a key of random numbers. */
enum { STEPS_EACH = 64, STEPS_ANY = 1 << 16, VIEWS_MAX = 64, KEY_MAX = 4 };

/* ---- values ---- */

/* Annotations, whose result is their operand. */
static bool is_view(struct str target)
{
    return str_equal(target, STR("Sharding")) || str_starts(target, STR("SPMD")) ||
           str_starts(target, STR("xla.sdy.")) || str_equal(target, STR("annotate_device_placement"));
}

static bool is_placement(struct str target)
{
    return str_equal(target, STR("annotate_device_placement")) || str_equal(target, STR("MoveToHost"));
}

/* Looked up once: an instruction may be as long as the file, and be read by all the others. */
static struct str target_of(struct arrays_finding *finding, uint32_t at)
{
    if (graph_op(finding->graph, at) != GRAPH_CUSTOM_CALL)
        return (struct str){"", 0};
    struct str *target = &finding->target_of[at];
    if (target->data == NULL) {
        arena_work(finding->scratch, hlo_instruction_bytes(finding->graph->hlo, at).length);
        *target = hlo_custom_call_target(finding->graph->hlo, at);
    }
    return *target;
}

static struct str shape_of(const struct arrays_finding *finding, struct value value)
{
    return value.element == VALUE_WHOLE
               ? hlo_instruction_shape(finding->graph->hlo, value.at)
               : hlo_shapes_element(finding->graph->hlo, finding->scratch, value.at, value.element);
}

/* -1: it is no array, or none whose size is known. */
static int64_t array_bytes(const struct arrays_finding *finding, struct str shape)
{
    struct shape_array array;
    arena_work(finding->scratch, shape.length);
    int64_t bytes = shape_array_read(shape, &array) ? shape_bytes(shape) : SHAPE_UNKNOWN_SIZE;
    return bytes > SUM_MAX_BYTES ? -1 : bytes;
}

static bool has_shape_of(const struct arrays_finding *finding, struct value value, struct value other)
{
    struct str left = shape_of(finding, value), right = shape_of(finding, other);
    struct shape_array one, two;
    arena_work(finding->scratch, left.length + right.length);
    return shape_array_read(left, &one) && shape_array_read(right, &two) &&
           shape_array_hash(&one) == shape_array_hash(&two);
}

/* Where an array was made, and as what it was met. */
struct made {
    struct value value;
    struct value shown; /* the same array; before an annotation that says it of all devices, or of one */
    bool is_elsewhere;  /* somebody says on the way in whose memory it is to lie */
};

/* An annotation of several arrays gives each as the element of a tuple. */
static struct made made_at(struct arrays_finding *finding, struct value value)
{
    struct made made = {.shown = {HLO_NONE, VALUE_WHOLE}};
    for (int i = 0; i < VIEWS_MAX && value.at != HLO_NONE; i++) {
        value = value_origin(&finding->walk, value, VALUE_BUFFER, NULL);
        struct str target = value.at == HLO_NONE ? (struct str){"", 0} : target_of(finding, value.at);
        made.is_elsewhere = made.is_elsewhere || is_placement(target);
        if (!is_view(target))
            break;
        uint32_t nth = value.element == VALUE_WHOLE ? 0 : value.element;
        struct value operand = {graph_operand(finding->graph, value.at, nth), VALUE_WHOLE};
        if (made.shown.at == HLO_NONE && operand.at != HLO_NONE && !has_shape_of(finding, value, operand))
            made.shown = value;
        value = operand;
    }
    made.value = value;
    made.shown = made.shown.at == HLO_NONE ? value : made.shown;
    return made;
}

/* A result is as large as the program gives it, on all devices; what is computed on one as that one has it. */
static const struct found_array *array_meet(struct arrays_finding *finding, struct value value,
                                            enum program_array_role role)
{
    const struct made made = made_at(finding, value);
    value = made.value;
    if (value.at == HLO_NONE)
        return NULL;
    uint64_t key = ((uint64_t)value.at << 32) | value.element;
    uint32_t at = map_get(&finding->of_value, key);
    if (at == MAP_NONE) {
        struct str shape = shape_of(finding, role == PROGRAM_ARRAY_RESULT ? made.shown : value);
        int64_t bytes = array_bytes(finding, shape);
        if (bytes <= 0)
            return NULL;
        finding->items = arena_grown(finding->scratch, finding->items, (size_t)finding->count + 1, &finding->capacity,
                                     sizeof(*finding->items));
        map_put(&finding->of_value, key, at = finding->count, false);
        finding->items[finding->count++] =
            (struct found_array){value, shape, bytes, role, hlo_shapes_is_elsewhere(shape)};
        finding->is_met[value.at] = true;
    }
    finding->items[at].is_elsewhere = finding->items[at].is_elsewhere || made.is_elsewhere;
    return &finding->items[at];
}

/* ---- arguments and results ---- */

/* Arguments come first, so that one that is given back is no result as well. */
static void arguments_meet(struct arrays_finding *finding)
{
    const struct plan *plan = finding->plan;
    const struct graph *graph = finding->graph;
    const bool *elsewhere = hlo_shapes_elsewhere(&plan->hlo, plan->argument_count, finding->scratch);
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        uint32_t at = plan->arguments[i].instruction_at;
        int64_t number = plan->arguments[i].number;
        if (array_meet(finding, (struct value){at, VALUE_WHOLE}, PROGRAM_ARRAY_ARGUMENT) == NULL)
            continue;
        bool *is_elsewhere = &finding->items[finding->count - 1].is_elsewhere;
        *is_elsewhere = *is_elsewhere || (number >= 0 && number < plan->argument_count && elsewhere[number]);
        for (uint32_t k = graph->reader_first[at]; k < graph->reader_first[at + 1]; k++)
            *is_elsewhere = *is_elsewhere || is_placement(target_of(finding, graph->readers[k].reader_at));
    }
}

static uint32_t results_count(const struct arrays_finding *finding, uint32_t root)
{
    const struct graph *graph = finding->graph;
    uint32_t count = 0;
    if (graph_op(graph, root) == GRAPH_TUPLE)
        return graph->operand_first[root + 1] - graph->operand_first[root];
    while (hlo_shapes_element(graph->hlo, finding->scratch, root, count).length > 0)
        count++;
    return count;
}

static void results_meet(struct arrays_finding *finding)
{
    uint32_t root = finding->graph->root_of[finding->graph->hlo->entry_at];
    uint32_t count = root == HLO_NONE ? 0 : results_count(finding, root);
    for (uint32_t i = 0; i < count; i++)
        array_meet(finding, (struct value){root, i}, PROGRAM_ARRAY_RESULT);
    if (root != HLO_NONE && count == 0)
        array_meet(finding, (struct value){root, VALUE_WHOLE}, PROGRAM_ARRAY_RESULT);
}

/* ---- what is computed between ---- */

/* What writes its result as a whole, and reads its operands as a whole. */
static bool is_of_whole_arrays(struct arrays_finding *finding, uint32_t at)
{
    static const char *const opcodes[] = {"sort",
                                          "fft",
                                          "cholesky",
                                          "triangular-solve",
                                          "topk",
                                          "reduce-window",
                                          "select-and-scatter",
                                          "custom-call",
                                          "rng-bit-generator"};
    enum graph_op op = graph_op(finding->graph, at);
    struct str opcode = hlo_instruction_opcode(finding->graph->hlo, at);
    bool is_it = op == GRAPH_DOT || op == GRAPH_COLLECTIVE || op == GRAPH_UPDATE;
    for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]) && !is_it; i++)
        is_it = str_equal(opcode, str_of(opcodes[i]));
    return is_it && !is_view(target_of(finding, at));
}

/* These operations put nothing into memory that was not counted elsewhere. */
static bool is_no_array(enum graph_op op)
{
    return op == GRAPH_PARAMETER || op == GRAPH_TUPLE || op == GRAPH_ELEMENT || op == GRAPH_SAME || op == GRAPH_CALL ||
           op == GRAPH_WHILE || op == GRAPH_CONDITIONAL || op == GRAPH_DONE || op == GRAPH_COLLECTIVE_DONE;
}

/* Does the program run the computation by itself, and not element by element or inside of a fusion? */
static bool is_run(const struct arrays_finding *finding, uint32_t computation_at)
{
    uint32_t caller = finding->graph->caller_of[computation_at];
    enum graph_op op = caller == HLO_NONE ? GRAPH_COMPUTE : graph_op(finding->graph, caller);
    return computation_at == finding->graph->hlo->entry_at || op == GRAPH_CALL || op == GRAPH_WHILE ||
           op == GRAPH_CONDITIONAL || op == GRAPH_ASYNC_START;
}

/* Copies, casts and slices of what lies in memory anyway, and what is the same in all places, are made on the way. */
static void operand_meet(struct arrays_finding *finding, uint32_t at)
{
    const struct value operand = {at, VALUE_WHOLE};
    struct value base = at == HLO_NONE ? operand : value_origin(&finding->walk, operand, VALUE_BASE, NULL);
    if (base.at == HLO_NONE || base.element != VALUE_WHOLE || finding->is_met[base.at])
        return;
    enum graph_op op = graph_op(finding->graph, base.at);
    bool is_iota = str_equal(hlo_instruction_opcode(finding->graph->hlo, base.at), STR("iota"));
    if (!is_no_array(op) && op != GRAPH_BROADCAST && op != GRAPH_CONSTANT && !is_iota)
        array_meet(finding, operand, PROGRAM_ARRAY_BETWEEN);
}

static void elements_meet(struct arrays_finding *finding, uint32_t at)
{
    uint32_t nth = 0;
    for (; hlo_shapes_element(finding->graph->hlo, finding->scratch, at, nth).length > 0; nth++)
        array_meet(finding, (struct value){at, nth}, PROGRAM_ARRAY_BETWEEN);
    if (nth == 0)
        array_meet(finding, (struct value){at, VALUE_WHOLE}, PROGRAM_ARRAY_BETWEEN);
}

/* Meets the results of instructions first, so that their operands are not met as something else. */
static void between_meet(struct arrays_finding *finding)
{
    const struct hlo *hlo = finding->graph->hlo;
    for (int is_of_operands = 0; is_of_operands < 2; is_of_operands++)
        for (uint32_t at = 0; at < hlo->instruction_count; at++) {
            enum graph_op op = graph_op(finding->graph, at);
            bool is_whole =
                finding->is_optimized ? !is_no_array(op) && op != GRAPH_CONSTANT : is_of_whole_arrays(finding, at);
            if (!is_run(finding, hlo->instructions[at].computation_at))
                continue;
            if (!is_of_operands && (is_whole || op == GRAPH_CONSTANT))
                elements_meet(finding, at);
            uint32_t first = finding->graph->operand_first[at], limit = finding->graph->operand_first[at + 1];
            for (uint32_t k = first; is_of_operands && is_whole && op != GRAPH_UPDATE && k < limit; k++)
                operand_meet(finding, finding->graph->operands[k]);
        }
}

static void fused_count(struct arrays_finding *finding)
{
    const struct hlo *hlo = finding->graph->hlo;
    for (uint32_t at = 0; at < hlo->instruction_count && !finding->is_optimized; at++) {
        bool is_left_out = !finding->is_met[at] && !is_no_array(graph_op(finding->graph, at)) &&
                           !is_view(target_of(finding, at)) && is_run(finding, hlo->instructions[at].computation_at);
        int64_t bytes = is_left_out ? array_bytes(finding, hlo_instruction_shape(hlo, at)) : 0;
        finding->out->fused_count += bytes > 0;
        if (bytes > finding->out->fused_largest_bytes)
            finding->out->fused_largest_bytes = bytes;
    }
}

/* ---- the least at one time ---- */

struct sharing {
    struct arrays_finding *finding;
    int64_t bytes;
};

static int64_t argument_bytes(const struct arrays_finding *finding, int64_t number)
{
    const struct plan_argument *argument = arguments_find(finding->plan, number);
    return argument == NULL ? 0 : array_bytes(finding, argument->shape);
}

static void donor_met(void *context, int64_t number)
{
    struct sharing *sharing = context;
    int64_t bytes = argument_bytes(sharing->finding, number);
    sharing->bytes = sum_add(sharing->bytes, bytes > 0 ? bytes : 0);
}

static void alias_met(void *context, uint64_t result, int64_t number)
{
    (void)result;
    donor_met(context, number);
}

/* Arguments are held from the beginning to the end, and at the end results are there with them, but for those in memory
 * of donated arguments. Padding only adds. However a program is split, one device has at least its part. */
static void least_find(struct arrays_finding *finding)
{
    struct program_arrays *out = finding->out;
    struct sharing sharing = {finding, 0};
    hlo_aliases_each(finding->graph->hlo, alias_met, &sharing);
    hlo_aliases_each_donor(finding->graph->hlo, donor_met, &sharing);
    for (uint32_t i = 0; i < finding->count; i++) {
        const struct found_array *item = &finding->items[i];
        if (item->is_elsewhere)
            continue;
        if (item->role == PROGRAM_ARRAY_ARGUMENT)
            out->argument_bytes = sum_add(out->argument_bytes, item->bytes);
        else if (item->role == PROGRAM_ARRAY_RESULT)
            out->result_bytes = sum_add(out->result_bytes, item->bytes);
    }
    out->shared_bytes = sharing.bytes < out->result_bytes ? sharing.bytes : out->result_bytes;
    out->least_bytes = sum_add(out->argument_bytes, out->result_bytes - out->shared_bytes) / (int64_t)out->device_count;
}

/* ---- what could be changed ---- */

static uint64_t shape_key(const struct found_array *item)
{
    struct shape_array array;
    return shape_array_read(item->shape, &array) ? shape_array_hash(&array) : 0;
}

/* Arguments by shape, how many of each; a result takes one of its shape away, a donated one is no longer there. */
static void donatable_find(struct arrays_finding *finding)
{
    struct map count_of;
    int64_t bytes = 0;
    map_init(&count_of, finding->scratch, finding->count);
    for (uint32_t i = 0; i < finding->count; i++)
        if (finding->items[i].role == PROGRAM_ARRAY_ARGUMENT && !finding->items[i].is_elsewhere) {
            uint64_t key = shape_key(&finding->items[i]);
            uint32_t before = map_get(&count_of, key);
            map_put(&count_of, key, before == MAP_NONE ? 1 : before + 1, true);
        }
    for (uint32_t i = 0; i < finding->count; i++) {
        uint64_t key = shape_key(&finding->items[i]);
        uint32_t left = finding->items[i].role == PROGRAM_ARRAY_RESULT ? map_get(&count_of, key) : MAP_NONE;
        if (left == MAP_NONE || left == 0 || finding->items[i].is_elsewhere)
            continue;
        map_put(&count_of, key, left - 1, true);
        bytes = sum_add(bytes, finding->items[i].bytes);
    }
    finding->out->donatable_bytes = bytes > finding->out->shared_bytes ? bytes - finding->out->shared_bytes : 0;
}

/* Not parameters, states and keys of random numbers; a batch of one cannot be halved. */
static void batch_find(struct arrays_finding *finding)
{
    for (uint32_t i = 0; i < finding->plan->argument_count; i++) {
        const struct plan_argument *argument = &finding->plan->arguments[i];
        enum category category = (enum category)argument->choice.category;
        struct shape_array array;
        bool may_be = category == CATEGORY_BATCH || category == CATEGORY_INPUT || category == CATEGORY_CACHE ||
                      category == CATEGORY_OTHER;
        if (may_be && shape_array_read(argument->shape, &array) && array.rank > 0 && array.dimensions[0] > 1 &&
            shape_array_elements(&array) > KEY_MAX && array_bytes(finding, argument->shape) > 0)
            finding->out->batch_bytes = sum_add(finding->out->batch_bytes, array_bytes(finding, argument->shape));
    }
}

/* the whole program */

static bool has_fusions(const struct graph *graph)
{
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++)
        if (graph_op(graph, at) == GRAPH_FUSION)
            return true;
    return graph->hlo->has_schedule;
}

struct program_arrays *program_arrays_find(const struct plan *plan, struct arena *arena, struct arena *scratch)
{
    if (plan->graph == NULL)
        return NULL;
    const struct hlo *hlo = &plan->hlo;
    struct arrays_finding finding = {.plan = plan, .graph = plan->graph, .arena = arena, .scratch = scratch};
    finding.is_optimized = has_fusions(plan->graph);
    finding.out = arena_array(arena, struct program_arrays, 1);
    finding.out->device_count = finding.is_optimized || hlo->partition_count == 0 ? 1 : hlo->partition_count;
    finding.target_of = arena_array(scratch, struct str, (size_t)hlo->instruction_count + 1);
    finding.is_met = arena_array(scratch, bool, (size_t)hlo->instruction_count + 1);
    map_init(&finding.of_value, scratch, hlo->instruction_count);
    value_walk_init(&finding.walk, plan->graph,
                    (uint64_t)plan->graph->operand_first[hlo->instruction_count] * STEPS_EACH + STEPS_ANY, scratch);
    arguments_meet(&finding);
    results_meet(&finding);
    between_meet(&finding);
    fused_count(&finding);
    least_find(&finding);
    donatable_find(&finding);
    batch_find(&finding);
    program_arrays_list(&finding);
    return finding.out;
}
