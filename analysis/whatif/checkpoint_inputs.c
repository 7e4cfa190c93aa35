/* SPDX-License-Identifier: Apache-2.0
 * checkpoint_inputs.c: what stays of layers that are computed again: the values that go into each. */
#include "whatif/checkpoint.h"

#include "read/hlo/shape_layout.h"

struct input {
    uint64_t hash; /* of its op name and its dimensions */
    uint32_t made_by, born, dies;
    uint32_t held_by;       /* the row that stays anyway and holds it, or PLAN_NONE */
    uint8_t kept_type;      /* as the program keeps it: computed in f32 it may be stored in bf16; 0: nowhere */
    uint8_t divided_by;     /* devices that share what it is kept in; 0: nowhere */
    bool is_read_by_others; /* than dots and convolutions */
};

struct checkpoint_inputs {
    struct input *items;
    uint32_t count;
    size_t capacity;
    const uint64_t *hashes;     /* by instruction: checkpoint_values */
    bool are_parameters_narrow; /* none is f32: nor are the values between the layers in the user's code */
    struct map map;
};
#define OUTSIDE UINT32_MAX
enum { HASH_NONE }; /* it makes no array with dimensions */

static uint64_t value_hash(const struct variant *variant, uint32_t made_by)
{
    struct str name = graph_op_name_end(variant->plan->graph, made_by);
    const struct leaves *leaves = &variant->dimensions.leaves;
    const struct leaf *leaf = leaves_array(leaves, made_by);
    arena_work(variant->findings->arena, name.length + 1);
    if (leaf == NULL || leaf->rank == 0 || leaves->element_first[made_by] != leaves->element_first[made_by + 1])
        return HASH_NONE; /* a tuple, too, even of one */
    struct shape_array shape = {.type = leaf->type, .rank = leaf->rank};
    memcpy(shape.dimensions, leaves->sizes + leaf->first, leaf->rank * sizeof(*leaves->sizes));
    uint64_t hash = hash_bytes(name.data, name.length, shape_array_hash_any_order(&shape));
    const struct regions *regions = regions_by_any(variant);
    if (regions_parameters(variant) != NULL) /* names without scopes are the same in every layer */
        hash = hash_number(regions->of[made_by], hash);
    return hash == HASH_NONE ? HASH_NONE + 1 : hash;
}

const uint64_t *checkpoint_values(const struct variant *variant)
{
    struct variant_findings *findings = variant->findings;
    uint32_t count = variant->plan->hlo.instruction_count;
    if (findings->value_hashes == NULL) {
        uint64_t *hashes = arena_raw(findings->arena, ((size_t)count + 1) * sizeof(*hashes));
        for (uint32_t at = 0; at < count; at++)
            hashes[at] = value_hash(variant, at);
        findings->value_hashes = hashes;
    }
    return findings->value_hashes;
}

static bool is_input(const void *context, uint64_t value)
{
    (void)context, (void)value;
    return true;
}

/* From the layer that makes it until the last one that reads it is done. */
static void input_note(struct checkpoint *work, struct checkpoint_inputs *inputs, uint32_t layer, uint32_t made_by,
                       uint32_t reader_at)
{
    bool is_new;
    uint64_t hash = inputs->hashes[made_by];
    if (hash == HASH_NONE)
        return;
    uint32_t at = map_number(&inputs->map, hash, is_input, NULL, &is_new),
             step = variant_step(work->variant, reader_at);
    uint32_t maker = work->regions->of[made_by], begin = maker == HLO_NONE ? layer : maker;
    uint32_t born = begin == OUTSIDE ? 0 : work->layers[begin].forward;
    uint32_t dies = layer != OUTSIDE ? work->layers[layer].backward_end : step == HLO_NONE ? 0 : step + 1;
    if (is_new) {
        inputs->items =
            arena_grown(work->variant->arena, inputs->items, at + 1, &inputs->capacity, sizeof(struct input));
        inputs->items[at] = (struct input){hash, made_by, born, dies, PLAN_NONE, 0, 0, false};
        inputs->count = at + 1;
    }
    struct input *input = &inputs->items[at];
    input->born = born < input->born ? born : input->born;
    input->dies = dies > input->dies ? dies : input->dies;
    input->is_read_by_others = input->is_read_by_others || graph_op(work->graph, reader_at) != GRAPH_DOT;
}

static bool is_given(const struct checkpoint *work, uint32_t at)
{
    switch (graph_op(work->graph, at)) {
    case GRAPH_PARAMETER:
    case GRAPH_CONSTANT:
    case GRAPH_BROADCAST:
    case GRAPH_TUPLE: return true;
    default: return false;
    }
}

static bool are_parameters_narrow(const struct plan *plan)
{
    struct shape_array shape;
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        const struct plan_argument *argument = &plan->arguments[i];
        if (argument->choice.category != CATEGORY_PARAMETER || !shape_array_read(argument->shape, &shape) ||
            shape.rank < 2 || !shape_type_is_float(shape.type))
            continue;
        if (shape_type_bytes(shape.type) > 2)
            return false;
        count++;
    }
    return count > 0;
}

struct checkpoint_inputs *checkpoint_inputs_find(struct checkpoint *work)
{
    struct checkpoint_inputs *inputs = arena_array(work->variant->arena, struct checkpoint_inputs, 1);
    const struct hlo *hlo = &work->plan->hlo;
    map_init(&inputs->map, work->variant->arena, 256);
    inputs->hashes = checkpoint_values(work->variant);
    inputs->are_parameters_narrow = are_parameters_narrow(work->plan);
    for (uint32_t at = 0; at < hlo->instruction_count; at++) {
        uint32_t layer = work->regions->of[at];
        enum graph_op op = graph_op(work->graph, at);
        enum graph_phase phase = graph_phase(work->graph, at);
        if (layer == HLO_NONE || !work->layers[layer].is_chosen)
            layer = OUTSIDE;
        bool is_late = variant_step(work->variant, at) >= work->first_backward;
        bool is_only_read = layer != OUTSIDE && phase == GRAPH_FORWARD && !is_late && !work->recompute.is_needed[at];
        if (layer != OUTSIDE && phase == GRAPH_FORWARD && is_late)
            continue;
        if ((phase != GRAPH_FORWARD && !(layer == OUTSIDE && phase == GRAPH_BACKWARD)) ||
            (layer == OUTSIDE && !is_late) || op == GRAPH_FUSION || op == GRAPH_CONVERT || op == GRAPH_COPY ||
            op == GRAPH_SAME)
            continue;
        for (uint32_t nth = 0, operand; (operand = graph_operand(work->graph, at, nth)) != HLO_NONE; nth++) {
            uint32_t made_by = value_maker(&work->walk, operand),
                     maker = made_by == HLO_NONE ? HLO_NONE : work->regions->of[made_by];
            if (made_by == HLO_NONE || is_given(work, made_by) || maker == layer ||
                graph_phase(work->graph, made_by) != GRAPH_FORWARD ||
                (layer == OUTSIDE && (maker == HLO_NONE || !work->layers[maker].is_chosen)))
                continue;
            if (is_only_read) {
                uint64_t found = map_find(&inputs->map, inputs->hashes[made_by], is_input, NULL);
                if (found != MAP_FREE && op != GRAPH_DOT)
                    inputs->items[found].is_read_by_others = true;
                continue;
            }
            input_note(work, inputs, layer, made_by, at);
        }
    }
    return inputs;
}

static bool has_same_sizes(const struct leaves *leaves, uint32_t left, uint32_t right)
{
    const struct leaf *a = &leaves->items[left], *b = right == HLO_NONE ? NULL : &leaves->items[right];
    return b != NULL && a->rank == b->rank &&
           memcmp(leaves->sizes + a->first, leaves->sizes + b->first, a->rank * sizeof(*leaves->sizes)) == 0;
}

bool checkpoint_inputs_stand_for(struct checkpoint *work, const struct checkpoint_inputs *inputs, uint32_t layer,
                                 const struct variant_row *row)
{
    const struct leaves *leaves = &work->variant->dimensions.leaves;
    arena_work(work->variant->arena, inputs->count);
    for (uint32_t i = 0; i < inputs->count; i++) {
        const struct input *input = &inputs->items[i];
        if (work->regions->of[input->made_by] == layer && input->born < row->dies && row->born < input->dies &&
            leaves_count(leaves, input->made_by) == 1 &&
            has_same_sizes(leaves, leaves->first[input->made_by], row->leaf))
            return true;
    }
    return false;
}

bool checkpoint_inputs_has(const struct checkpoint_inputs *inputs, uint32_t made_by)
{
    return inputs->hashes[made_by] != HASH_NONE &&
           map_find(&inputs->map, inputs->hashes[made_by], is_input, NULL) != MAP_FREE;
}

/* What the rows say of each input. */
static void inputs_look_up(struct checkpoint *work, const struct checkpoint_inputs *inputs)
{
    for (uint32_t i = 0; i < work->variant->row_count; i++) {
        const struct variant_row *row = &work->variant->rows[i];
        uint32_t at = checkpoint_maker(work, row);
        if (row->is_indefinite || row->plan_row == PLAN_NONE || at == HLO_NONE)
            continue;
        uint64_t found = map_find(&inputs->map, inputs->hashes[at], is_input, NULL);
        if (found == MAP_FREE)
            continue;
        struct input *input = &inputs->items[found];
        unsigned size = shape_type_bytes(row->type);
        if (size > 0 && (input->kept_type == 0 || size < shape_type_bytes(input->kept_type)))
            input->kept_type = row->type;
        input->divided_by = row->divided_by > input->divided_by ? row->divided_by : input->divided_by;
        if (!row->is_gone && row->born < work->first_backward && input->held_by == PLAN_NONE)
            input->held_by = i;
    }
}

static uint8_t narrower(uint8_t type, uint8_t other)
{
    return other != 0 && shape_type_bytes(other) < shape_type_bytes(type) ? other : type;
}

/* The type in which it is kept: what products alone read is rounded to theirs. What others read too may be rounded for
 * products beside it in the program as it is, and is kept as it was computed. */
static uint8_t kept_type(const struct variant *variant, const struct input *input, bool is_narrow, uint64_t made)
{
    uint32_t leaf = variant->dimensions.leaves.first[input->made_by];
    uint8_t type = (uint8_t)made, cast = variant->types ? variant->types[variant->dimensions.arrays[leaf]] : 0;
    if (!input->is_read_by_others && shape_type_is_float(made) && shape_type_bytes(made) == 4)
        type = (uint8_t)shape_type_find(STR("bf16"));
    return narrower(narrower(type, cast), input->is_read_by_others && !is_narrow ? type : input->kept_type);
}

/* Devices that share every row: those of a change that split all of them, which splits what is added too. */
static uint8_t divided_by_all(const struct variant *variant)
{
    uint8_t least = UINT8_MAX;
    for (uint32_t i = 0; i < variant->row_count; i++)
        if (!variant->rows[i].is_gone && variant->rows[i].divided_by < least)
            least = variant->rows[i].divided_by;
    return variant->row_count > 0 ? least : 1;
}

void checkpoint_inputs_keep(struct checkpoint *work, const struct checkpoint_inputs *inputs)
{
    struct variant *variant = work->variant;
    const struct leaves *leaves = &variant->dimensions.leaves;
    uint8_t divided_by = divided_by_all(variant);
    inputs_look_up(work, inputs);
    for (uint32_t i = 0; i < inputs->count; i++) {
        const struct input *input = &inputs->items[i];
        struct str shape = hlo_instruction_shape(&work->plan->hlo, input->made_by);
        struct shape_array array;
        struct shape_layout layout;
        if (leaves_count(leaves, input->made_by) != 1 || !shape_array_read(shape, &array) ||
            !shape_layout_read(shape, &layout))
            continue;
        int64_t bytes = shape_padded_bytes(&array, &layout);
        if (bytes <= 0 || input->born >= input->dies)
            continue;
        if (input->held_by != PLAN_NONE) {
            struct variant_row *row = &variant->rows[input->held_by];
            row->dies = input->dies > row->dies ? input->dies : row->dies;
            continue;
        }
        *variant_add(variant) =
            (struct variant_row){.bytes = bytes,
                                 .added_bytes = bytes,
                                 .born = input->born,
                                 .dies = input->dies,
                                 .plan_row = PLAN_NONE,
                                 .leaf = leaves->first[input->made_by],
                                 .instruction_at = input->made_by,
                                 .type = kept_type(variant, input, inputs->are_parameters_narrow, array.type),
                                 .divided_by = input->divided_by > 0 ? input->divided_by : divided_by};
    }
}
