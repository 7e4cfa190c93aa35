/* SPDX-License-Identifier: Apache-2.0
 * pattern_facts.c: see pattern_facts.h. */
#include "plan/pattern_facts.h"

#include "plan/arguments.h"
#include "read/hlo/hlo_aliases.h"

bool pattern_facts_has(const struct map *map, uint64_t key) { return map_get(map, key) != MAP_NONE; }

bool pattern_facts_shape(const struct hlo *hlo, uint32_t at, struct shape_array *shape)
{
    return at != HLO_NONE && shape_array_read(hlo_instruction_shape(hlo, at), shape) && shape->rank > 0;
}

static void pattern_facts_put(struct map *map, uint64_t key) { map_put(map, key, 1, true); }

/* ---- products that join dimensions ---- */

/* What a product gives; one of a library gives room to work in besides: (f32[64,1024,1024], s8[33554432]). */
static bool product_shape(const struct hlo *hlo, uint32_t at, struct shape_array *shape)
{
    return at != HLO_NONE && shape_array_read_first(hlo_instruction_shape(hlo, at), shape) && shape->rank > 0;
}

/* GPUs multiply matrices, or a row of them: [batch, heads, queries, keys] is [batch · heads, queries, keys], and logits
 * [batch, positions, words] are [batch · positions, words]. `kept` dimensions at the end stay as they are. 0: too few.
 */
static uint64_t joined_key(const struct shape_array *shape, uint32_t kept)
{
    int64_t joined = 1;
    uint64_t key = kept;
    if (shape->rank <= kept)
        return 0;
    for (uint32_t i = 0; i < shape->rank - kept; i++)
        joined = joined < INT64_MAX >> 32 && shape->dimensions[i] < INT32_MAX ? joined * shape->dimensions[i] : 0;
    for (uint32_t i = shape->rank - kept; i < shape->rank; i++)
        key = hash_number((uint64_t)shape->dimensions[i], key);
    return joined > 1 ? hash_number((uint64_t)joined, key) : 0;
}

/* Without dimensions of one; false if that leaves nothing that a product may have joined. */
static bool joined_shape(const struct shape_array *shape, struct shape_array *whole)
{
    *whole = (struct shape_array){.type = shape->type};
    for (uint32_t i = 0; i < shape->rank; i++)
        if (shape->dimensions[i] != 1)
            whole->dimensions[whole->rank++] = shape->dimensions[i];
    return whole->rank > 2;
}

/* Notes what is reduced or exponentiated under the dimensions that a product may have joined. */
static void joined_note(struct map *joined, uint32_t at, const struct shape_array *shape)
{
    struct shape_array whole;
    for (uint32_t kept = 1; joined_shape(shape, &whole) && kept < whole.rank - 1 && kept <= 2; kept++) {
        uint64_t key = joined_key(&whole, kept);
        if (key != 0)
            map_put(joined, key, at, true);
    }
}

/* Hash of the shape that the product's dimensions were joined from, 0: none is noted. Matrices may be transposed. */
static uint64_t joined_hash(const struct pattern_finding *finding, const struct map *joined,
                            const struct shape_array *product)
{
    struct shape_array whole = {0};
    joined_shape(product, &whole);
    if (whole.rank != 2 && whole.rank != 3)
        return 0;
    uint32_t at = map_get(joined, joined_key(&whole, whole.rank - 1));
    if (at == MAP_NONE && whole.rank == 2) {
        const struct shape_array turned = {.rank = 2, .dimensions = {whole.dimensions[1], whole.dimensions[0]}};
        at = map_get(joined, joined_key(&turned, 1));
    }
    return at != MAP_NONE && pattern_facts_shape(&finding->plan->hlo, at, &whole) ? shape_array_hash_any_order(&whole)
                                                                                  : 0;
}

static bool sum_met(void *context, uint32_t reader_at, uint32_t operand)
{
    void **contexts = context;
    bool *is_found = contexts[1];
    (void)operand;
    *is_found |= reader_at != HLO_NONE && graph_op(contexts[0], reader_at) == GRAPH_REDUCE;
    return !*is_found;
}

/* A softmax takes its maximum off first, or divides by its sum; an activation function, as silu, does neither. */
static bool is_of_softmax(const struct pattern_finding *finding, uint32_t exponential_at)
{
    const struct graph *graph = finding->graph;
    bool is_summed = false;
    struct value of = value_origin(finding->walk, (struct value){graph_operand(graph, exponential_at, 0), VALUE_WHOLE},
                                   VALUE_BASE, NULL);
    if (of.at != HLO_NONE && str_equal(hlo_instruction_opcode(graph->hlo, of.at), STR("subtract")))
        return true;
    value_each_reader(finding->walk, (struct value){exponential_at, VALUE_WHOLE}, sum_met,
                      (void *[]){(void *)graph, &is_summed});
    return is_summed;
}

/* What a maximum is taken over. GPUs cut a long row into parts first: [16384, 32000] is [16384, 128, 250] there, so the
 * product that made it is noted as well. */
static void maximum_note(struct pattern_finding *finding, uint32_t reduce_at)
{
    const struct hlo *hlo = &finding->plan->hlo;
    uint32_t operand = graph_operand(finding->graph, reduce_at, 0);
    struct shape_array shape;
    if (!pattern_facts_shape(hlo, operand, &shape))
        return;
    pattern_facts_put(&finding->maxima, shape_array_hash_any_order(&shape));
    joined_note(&finding->joined_maxima, operand, &shape);
    uint32_t maker = value_maker(finding->walk, operand);
    if (maker != HLO_NONE && graph_op(finding->graph, maker) == GRAPH_DOT && product_shape(hlo, maker, &shape))
        pattern_facts_put(&finding->maxima, shape_array_hash_any_order(&shape));
}

static void reductions_collect(struct pattern_finding *finding)
{
    const struct hlo *hlo = &finding->plan->hlo;
    struct shape_array shape;
    for (uint32_t at = 0; at < hlo->instruction_count; at++) {
        enum graph_op op = graph_op(finding->graph, at);
        struct str name = graph_op_name_end(finding->graph, at);
        if (op == GRAPH_EXPONENTIAL && pattern_facts_shape(hlo, at, &shape) && is_of_softmax(finding, at)) {
            pattern_facts_put(&finding->exponentials, shape_array_hash_any_order(&shape));
            joined_note(&finding->joined_exponentials, at, &shape);
        }
        if (op == GRAPH_REDUCE && (str_ends(name, STR("reduce_max")) || str_ends(name, STR("argmax"))))
            maximum_note(finding, at);
    }
}

uint64_t pattern_facts_plane(const struct shape_array *shape)
{
    return hash_number((uint64_t)shape->dimensions[shape->rank - 1], (uint64_t)shape->dimensions[shape->rank - 2]);
}

/* Scores have queries and keys, and a batch or heads; a table of similarities has two dimensions. */
enum { SCORES_RANK_MIN = 3 };
static uint32_t rank_without_ones(const struct shape_array *shape)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < shape->rank; i++)
        rank += shape->dimensions[i] != 1;
    return rank;
}

static uint32_t position_of(const struct pattern_finding *finding, uint32_t at)
{
    enum { FUSIONS_MAX = 8 };
    const uint32_t *positions = finding->plan->schedule.position_of_instruction;
    for (unsigned i = 0; i < FUSIONS_MAX && at != HLO_NONE && positions != NULL; i++) {
        if (positions[at] != HLO_NONE)
            return positions[at];
        at = graph_fusion_around(finding->graph, at);
    }
    return HLO_NONE;
}

/* The compiler may make one product several times; those of other names or lines are other ones. */
static void logits_note(struct pattern_finding *finding, uint32_t at, uint64_t hash)
{
    struct str name = graph_op_name_end(finding->graph, at);
    const struct hlo_detail detail = hlo_detail(&finding->plan->hlo, at);
    uint64_t line = hash_number((uint64_t)detail.source_line, detail.frame_at);
    uint32_t place = (uint32_t)hash_bytes(name.data, name.length, line) >> 1, position = position_of(finding, at),
             last = map_get(&finding->logits_from, hash);
    arena_work(finding->scratch, name.length);
    if (pattern_facts_has(&finding->logits_place, hash) && map_get(&finding->logits_place, hash) != place)
        pattern_facts_put(&finding->many_products, hash);
    map_put(&finding->logits_place, hash, place, true);
    if (position != HLO_NONE && (last == MAP_NONE || position > last))
        map_put(&finding->logits_from, hash, position, true);
    pattern_facts_put(&finding->logits, hash);
}

bool pattern_facts_is_logits(const struct pattern_finding *finding, const struct pattern_live *live)
{
    if (!pattern_facts_has(&finding->logits, live->hash))
        return false;
    uint32_t from = map_get(&finding->logits_from, live->hash);
    if (!pattern_facts_has(&finding->many_products, live->hash) || from == MAP_NONE)
        return true;
    uint32_t at = live->row->buffer_at == PLAN_NONE ? HLO_NONE
                                                    : finding->plan->hlo.buffers[live->row->buffer_at].instruction_at,
             position = position_of(finding, at);
    return position != HLO_NONE && position >= from;
}

/* Notes a product whose result has the shape with that hash. */
static void product_note(struct pattern_finding *finding, uint32_t at, uint64_t hash, bool has_maximum,
                         const struct shape_array *shape)
{
    uint32_t parameter_count = 0, argument_count = 0;
    for (uint32_t i = 0; i < 2; i++) {
        struct value base = {graph_operand(finding->graph, at, i), VALUE_WHOLE};
        base = value_origin(finding->walk, base, VALUE_BASE, NULL);
        const struct plan_argument *argument = arguments_find_instruction(finding->plan, base.at);
        argument_count += argument != NULL;
        parameter_count += argument != NULL && argument->choice.category == CATEGORY_PARAMETER;
    }
    if (has_maximum && parameter_count == 1 && graph_phase(finding->graph, at) == GRAPH_FORWARD)
        logits_note(finding, at, hash);
    if (rank_without_ones(shape) >= SCORES_RANK_MIN && parameter_count == 0 && argument_count != 1) {
        pattern_facts_put(&finding->scores, hash);
        pattern_facts_put(&finding->score_planes, pattern_facts_plane(shape));
    }
}

static void products_collect(struct pattern_finding *finding)
{
    const struct hlo *hlo = &finding->plan->hlo;
    struct shape_array shape;
    for (uint32_t at = 0; at < hlo->instruction_count; at++) {
        if (graph_op(finding->graph, at) != GRAPH_DOT || graph_phase(finding->graph, at) == GRAPH_BACKWARD ||
            !product_shape(hlo, at, &shape))
            continue;
        uint64_t hash = shape_array_hash_any_order(&shape);
        uint64_t of_maximum = joined_hash(finding, &finding->joined_maxima, &shape);
        uint64_t of_exponential = joined_hash(finding, &finding->joined_exponentials, &shape);
        bool has_maximum = pattern_facts_has(&finding->maxima, hash) || of_maximum != 0;
        if (has_maximum || pattern_facts_has(&finding->exponentials, hash) || of_exponential != 0)
            product_note(finding, at, hash, has_maximum, &shape);
        if (of_maximum != 0)
            product_note(finding, at, of_maximum, true, &shape);
        if (of_exponential != 0 && of_exponential != of_maximum)
            product_note(finding, at, of_exponential, has_maximum, &shape);
    }
}

/* Copies of a cache may have leading dimensions joined. */
uint64_t pattern_facts_cache_key(const struct shape_array *shape)
{
    return hash_number((uint64_t)shape_array_elements(shape),
                       hash_number((uint64_t)shape->dimensions[shape->rank - 1], shape->type));
}

static void alias_met(void *context, uint64_t result, int64_t number)
{
    struct pattern_finding *finding = context;
    (void)result;
    pattern_facts_put(&finding->donated, (uint64_t)number);
}

static void donor_met(void *context, int64_t number)
{
    struct pattern_finding *finding = context;
    pattern_facts_put(&finding->donated, (uint64_t)number);
    pattern_facts_put(&finding->unused_donors, (uint64_t)number);
}

static void arguments_collect(struct pattern_finding *finding)
{
    const struct plan *plan = finding->plan;
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        struct shape_array shape;
        enum category category = (enum category)plan->arguments[i].choice.category;
        if (!shape_array_read(plan->arguments[i].shape, &shape) || shape.rank == 0)
            continue;
        if (category == CATEGORY_CACHE)
            pattern_facts_put(&finding->cache_shapes, pattern_facts_cache_key(&shape));
        if (category == CATEGORY_BATCH)
            pattern_facts_put(&finding->batch_lengths, (uint64_t)shape.dimensions[0]);
        if (category == CATEGORY_PARAMETER) {
            int64_t elements = shape_array_elements(&shape);
            pattern_facts_put(&finding->parameter_lengths, (uint64_t)shape.dimensions[0]);
            finding->matrix_count += shape.rank > 1;
            if (elements < INT64_MAX)
                finding->parameter_elements += (uint64_t)elements;
        }
    }
    hlo_aliases_each(&plan->hlo, alias_met, finding);
    hlo_aliases_each_donor(&plan->hlo, donor_met, finding);
}

void pattern_facts_collect(struct pattern_finding *finding)
{
    struct map *maps[] = {&finding->maxima,        &finding->exponentials,  &finding->logits,
                          &finding->scores,        &finding->score_planes,  &finding->cache_shapes,
                          &finding->donated,       &finding->unused_donors, &finding->parameter_lengths,
                          &finding->batch_lengths, &finding->logits_place,  &finding->logits_from,
                          &finding->many_products, &finding->joined_maxima, &finding->joined_exponentials};
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
        map_init(maps[i], finding->scratch, 16);
    arguments_collect(finding);
    reductions_collect(finding);
    products_collect(finding);
}

/* ---- a live buffer ---- */

static bool collective_met(void *context, uint32_t reader_at, uint32_t operand)
{
    struct pattern_finding *finding = ((void **)context)[0];
    uint32_t *found = ((void **)context)[1];
    (void)operand;
    if (reader_at != HLO_NONE && graph_op(finding->graph, reader_at) == GRAPH_COLLECTIVE)
        *found = reader_at;
    return *found == HLO_NONE;
}

/* TPU programs run collectives in the background as fusions around them, of some ten instructions. */
enum { INSIDE_MAX = 1024 };
static uint32_t gather_inside(const struct pattern_finding *finding, uint32_t fusion_at)
{
    const struct hlo *hlo = &finding->plan->hlo;
    uint32_t computation_at = graph_called(finding->graph, fusion_at, 0);
    if (graph_op(finding->graph, fusion_at) != GRAPH_FUSION || computation_at == HLO_NONE)
        return HLO_NONE;
    const struct hlo_computation *computation = &hlo->computations[computation_at];
    for (uint32_t i = 0; i < computation->instruction_count && i < INSIDE_MAX; i++)
        if (graph_op(finding->graph, computation->instruction_first + i) == GRAPH_COLLECTIVE)
            return computation->instruction_first + i;
    return HLO_NONE;
}

/* The all-gather that makes or fills a buffer that the program has, or HLO_NONE. */
static uint32_t gather_of(struct pattern_finding *finding, const struct pattern_live *live)
{
    const struct plan_row *row = live->row;
    bool is_collective = row->choice.category == CATEGORY_COLLECTIVE;
    uint32_t found = HLO_NONE;
    if (live->base.at != HLO_NONE && graph_op(finding->graph, live->base.at) == GRAPH_COLLECTIVE)
        found = live->base.at;
    else if (is_collective)
        value_each_reader(finding->walk, value_of_buffer(&finding->plan->hlo, row->buffer_at), collective_met,
                          (void *[]){finding, &found});
    if (found == HLO_NONE && is_collective)
        found = gather_inside(finding, finding->plan->hlo.buffers[row->buffer_at].instruction_at);
    return found != HLO_NONE && str_starts(hlo_instruction_opcode(&finding->plan->hlo, found), STR("all-gather"))
               ? found
               : HLO_NONE;
}

void pattern_facts_live(struct pattern_finding *finding, const struct plan_row *row, struct pattern_live *live)
{
    const struct plan *plan = finding->plan;
    *live = (struct pattern_live){.row = row, .base = {HLO_NONE, VALUE_WHOLE}, .gather_at = HLO_NONE};
    if (row->buffer_at == PLAN_NONE)
        return;
    live->base = value_origin(finding->walk, value_of_buffer(&plan->hlo, row->buffer_at), VALUE_BASE, NULL);
    live->has_shape = shape_array_read(plan->shapes[row->buffer_at], &live->shape);
    if (live->has_shape)
        live->hash = shape_array_hash_any_order(&live->shape);
    live->gather_at = gather_of(finding, live);
}
