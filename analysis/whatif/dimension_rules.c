/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/dimension_rules.h"

uint32_t dimension_rules_leaf(const struct looked_at *look, uint32_t at)
{
    return at != HLO_NONE && leaves_count(look->leaves, at) == 1 ? look->leaves->first[at] : HLO_NONE;
}

uint32_t dimension_rules_operand(const struct looked_at *look, uint32_t nth)
{
    return nth < look->operand_count ? dimension_rules_leaf(look, look->operands[nth]) : HLO_NONE;
}

static uint32_t rank_of(const struct looked_at *look, uint32_t leaf)
{
    return leaf == HLO_NONE ? 0 : look->leaves->items[leaf].rank;
}

/* A dimension of a leaf, HLO_NONE where it has none such. */
static uint32_t dimension(const struct looked_at *look, uint32_t leaf, int64_t nth)
{
    return nth >= 0 && nth < rank_of(look, leaf) ? look->leaves->items[leaf].first + (uint32_t)nth : HLO_NONE;
}

static int64_t size_of(const struct looked_at *look, uint32_t at)
{
    return at == HLO_NONE ? -1 : look->leaves->sizes[at];
}

static void dimension_rules_join(struct looked_at *look, uint32_t a, uint32_t b)
{
    dimensions_join(look->builder, a, b);
}

void dimension_rules_join_leaves(struct looked_at *look, uint32_t a, uint32_t b)
{
    if (a == HLO_NONE || b == HLO_NONE || look->leaves->items[a].rank != look->leaves->items[b].rank)
        return;
    for (uint32_t i = 0; i < look->leaves->items[a].rank; i++)
        dimension_rules_join(look, look->leaves->items[a].first + i, look->leaves->items[b].first + i);
}

void dimension_rules_join_ranges(struct looked_at *look, uint32_t a, uint32_t a_count, uint32_t b, uint32_t b_count)
{
    arena_work(look->builder->arena, a_count < b_count ? a_count : b_count); /* operands may repeat a wide tuple */
    for (uint32_t i = 0; i < a_count && i < b_count; i++) {
        dimension_rules_join_leaves(look, a + i, b + i);
        dimensions_hand_on(look->builder, a + i, b + i);
    }
}

void dimension_rules_join_values(struct looked_at *look, uint32_t a, uint32_t b)
{
    if (a != HLO_NONE && b != HLO_NONE)
        dimension_rules_join_ranges(look, look->leaves->first[a], leaves_count(look->leaves, a), look->leaves->first[b],
                                    leaves_count(look->leaves, b));
}

/* One of them is a part of the other, or they are one. */
static void dimension_rules_part(struct looked_at *look, uint32_t whole, uint32_t of_it)
{
    if (whole == HLO_NONE || of_it == HLO_NONE)
        return;
    if (size_of(look, whole) == size_of(look, of_it))
        dimension_rules_join(look, whole, of_it);
    else if (size_of(look, whole) > size_of(look, of_it))
        dimensions_relate(look->builder, RELATION_PART, &whole, 1, &of_it, 1);
    else
        dimensions_relate(look->builder, RELATION_PART, &of_it, 1, &whole, 1);
}

/* ---- rules ---- */

/* Result and operands of one shape; scalars take part in none. */
static void dimension_rules_elementwise(struct looked_at *look)
{
    if (leaves_count(look->leaves, look->at) == 1) {
        for (uint32_t i = 0; i < look->operand_count; i++)
            dimension_rules_join_leaves(look, look->leaves->first[look->at], dimension_rules_operand(look, i));
        return;
    }
    uint32_t leaf = look->leaves->first[look->at], limit = look->leaves->first[look->at + 1];
    if (look->operand_count == 1 && look->operands[0] != HLO_NONE) {
        dimension_rules_join_values(look, look->at, look->operands[0]);
        return;
    }
    for (uint32_t i = 0; i < look->operand_count && leaf < limit; i++) { /* several arrays at once: sort, all-reduce */
        dimension_rules_join_leaves(look, leaf++, dimension_rules_operand(look, i));
        dimension_rules_join_leaves(look, dimension_rules_operand(look, i), dimension_rules_operand(look, 0));
    }
}

static void dimension_rules_broadcast(struct looked_at *look)
{
    uint32_t in = dimension_rules_operand(look, 0), out = dimension_rules_leaf(look, look->at);
    for (uint32_t i = 0; i < look->attributes.dimensions.count; i++)
        dimension_rules_join(look, dimension(look, in, i), dimension(look, out, look->attributes.dimensions.items[i]));
}

static void dimension_rules_transpose(struct looked_at *look)
{
    uint32_t in = dimension_rules_operand(look, 0), out = dimension_rules_leaf(look, look->at);
    for (uint32_t i = 0; i < look->attributes.dimensions.count; i++)
        dimension_rules_join(look, dimension(look, in, look->attributes.dimensions.items[i]), dimension(look, out, i));
}

static void dimension_rules_reduce(struct looked_at *look)
{
    uint32_t outputs = leaves_count(look->leaves, look->at), in = dimension_rules_operand(look, 0), kept = 0;
    for (uint32_t i = 0; i < rank_of(look, in); i++) {
        for (uint32_t k = 1; k < look->operand_count / 2; k++) /* arrays that are reduced together */
            dimension_rules_join(look, dimension(look, in, i), dimension(look, dimension_rules_operand(look, k), i));
        if (hlo_list_has(&look->attributes.dimensions, i))
            continue;
        for (uint32_t k = 0; k < outputs; k++)
            dimension_rules_join(look, dimension(look, in, i),
                                 dimension(look, look->leaves->first[look->at] + k, kept));
        kept++;
    }
}

/* Two lists of dimensions with the same product: cut into the shortest pieces of equal products. */
static void relate_products(struct looked_at *look, const uint32_t *left, uint32_t left_count, const uint32_t *right,
                            uint32_t right_count)
{
    uint32_t i = 0, j = 0;
    while (i < left_count && j < right_count) {
        uint32_t first_i = i, first_j = j;
        int64_t a = size_of(look, left[i++]), b = size_of(look, right[j++]);
        while (a != b) {
            int64_t *smaller = a < b ? &a : &b;
            uint32_t more = a < b ? (i < left_count ? left[i++] : HLO_NONE) : (j < right_count ? right[j++] : HLO_NONE);
            if (more == HLO_NONE || __builtin_mul_overflow(*smaller, size_of(look, more), smaller))
                return;
        }
        if (i - first_i == 1 && j - first_j == 1)
            dimension_rules_join(look, left[first_i], right[first_j]);
        else
            dimensions_relate(look->builder, RELATION_PRODUCT, left + first_i, i - first_i, right + first_j,
                              j - first_j);
    }
}

/* The dimensions of a leaf without those of size 1, as the shape lists them or as memory has them. */
static uint32_t wide_dimensions(const struct looked_at *look, uint32_t leaf, bool is_physical, uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rank_of(look, leaf); i++) {
        uint32_t first = look->leaves->items[leaf].first,
                 at = first + (is_physical ? look->leaves->physical[first + i] : i);
        if (look->leaves->sizes[at] <= 0)
            return 0;
        if (look->leaves->sizes[at] > 1)
            out[count++] = at;
    }
    return count;
}

static void relate_reshaped(struct looked_at *look, uint32_t in, uint32_t out, bool is_physical)
{
    uint32_t left[SHAPE_RANK_MAX], right[SHAPE_RANK_MAX];
    uint32_t left_count = wide_dimensions(look, in, is_physical, left);
    uint32_t right_count = wide_dimensions(look, out, is_physical, right);
    relate_products(look, left, left_count, right, right_count);
}

static void dimension_rules_reshape(struct looked_at *look)
{
    relate_reshaped(look, dimension_rules_operand(look, 0), dimension_rules_leaf(look, look->at), false);
}

/* The compiler's bitcast leaves memory as it is: what lies farthest apart stays so. */
static void dimension_rules_bitcast(struct looked_at *look)
{
    uint32_t in = dimension_rules_operand(look, 0), out = dimension_rules_leaf(look, look->at);
    if (in == HLO_NONE || out == HLO_NONE)
        dimension_rules_elementwise(look);
    else if (!dimension_rules_tiles(look, in, out))
        relate_reshaped(look, in, out, true);
}

static void dimension_rules_slice(struct looked_at *look)
{
    uint32_t in = dimension_rules_operand(look, 0), out = dimension_rules_leaf(look, look->at);
    for (uint32_t i = 0; i < rank_of(look, out); i++)
        dimension_rules_part(look, dimension(look, in, i), dimension(look, out, i));
}

/* Along `whole` a part is read or written at a computed place; of a split program a device's own part is none. */
static void note_cut(struct looked_at *look, uint32_t whole, uint32_t of_it)
{
    int64_t size = size_of(look, whole), part = size_of(look, of_it), share;
    bool is_own = look->graph->hlo->device_count > 1 && part > 0 &&
                  !__builtin_mul_overflow(part, (int64_t)look->graph->hlo->device_count, &share) && share == size;
    if (whole != HLO_NONE && part >= 0 && part < size && !is_own)
        look->builder->dimensions->is_cut[whole] = true;
}

/* Which part it is, the program computes: its size stays unless it is all. */
static void dimension_rules_dynamic_slice(struct looked_at *look)
{
    uint32_t in = dimension_rules_operand(look, 0), out = dimension_rules_leaf(look, look->at);
    for (uint32_t i = 0; i < rank_of(look, out); i++) {
        dimension_rules_join(look, dimension(look, in, i), dimension(look, out, i));
        note_cut(look, dimension(look, in, i), dimension(look, out, i));
        if (size_of(look, dimension(look, out, i)) == 1 && size_of(look, dimension(look, in, i)) > 1)
            dimension_rules_scanned(look, dimension(look, in, i), true);
    }
}

static void dimension_rules_dynamic_update_slice(struct looked_at *look)
{
    uint32_t out = dimension_rules_leaf(look, look->at), update = dimension_rules_operand(look, 1);
    dimension_rules_join_leaves(look, dimension_rules_operand(look, 0), out);
    for (uint32_t i = 0; i < rank_of(look, update); i++) {
        dimension_rules_join(look, dimension(look, update, i), dimension(look, out, i));
        note_cut(look, dimension(look, out, i), dimension(look, update, i));
        if (size_of(look, dimension(look, update, i)) == 1 && size_of(look, dimension(look, out, i)) > 1)
            dimension_rules_scanned(look, dimension(look, out, i), false);
    }
}

static void dimension_rules_pad(struct looked_at *look)
{
    uint32_t in = dimension_rules_operand(look, 0), out = dimension_rules_leaf(look, look->at);
    for (uint32_t i = 0; i < rank_of(look, out); i++)
        dimension_rules_part(look, dimension(look, out, i), dimension(look, in, i));
}

/* The operands' dimensions add up to the result's. */
static void relate_sum(struct looked_at *look, int64_t along)
{
    uint32_t sum = dimension(look, dimension_rules_leaf(look, look->at), along), members[SHAPE_RANK_MAX * 4], count = 0;
    for (uint32_t k = 0; k < look->operand_count; k++) {
        uint32_t piece = dimension(look, dimension_rules_operand(look, k), along);
        if (piece == HLO_NONE || count == SHAPE_RANK_MAX * 4)
            return;
        members[count++] = piece;
    }
    if (sum != HLO_NONE && count == 1)
        dimension_rules_join(look, sum, members[0]);
    else if (sum != HLO_NONE && count > 1)
        dimensions_relate(look->builder, RELATION_SUM, &sum, 1, members, count);
}

static void dimension_rules_concatenate(struct looked_at *look)
{
    uint32_t out = dimension_rules_leaf(look, look->at);
    int64_t along = look->attributes.dimensions.count > 0 ? look->attributes.dimensions.items[0] : -1;
    for (uint32_t i = 0; i < rank_of(look, out); i++)
        for (uint32_t k = 0; k < look->operand_count && i != along; k++)
            dimension_rules_join(look, dimension(look, dimension_rules_operand(look, k), i), dimension(look, out, i));
    relate_sum(look, along);
}

static void dimension_rules_dot(struct looked_at *look)
{
    uint32_t lhs = dimension_rules_operand(look, 0), rhs = dimension_rules_operand(look, 1),
             out = dimension_rules_leaf(look, look->at), to = 0;
    const struct hlo_list *lhs_batch = &look->attributes.dot.lhs_batch, *rhs_batch = &look->attributes.dot.rhs_batch;
    const struct hlo_list *lhs_inner = &look->attributes.dot.lhs_contracting,
                          *rhs_inner = &look->attributes.dot.rhs_contracting;
    for (uint32_t i = 0; i < lhs_inner->count && i < rhs_inner->count; i++)
        dimension_rules_join(look, dimension(look, lhs, lhs_inner->items[i]),
                             dimension(look, rhs, rhs_inner->items[i]));
    for (uint32_t i = 0; i < lhs_batch->count && i < rhs_batch->count; i++, to++) {
        dimension_rules_join(look, dimension(look, lhs, lhs_batch->items[i]), dimension(look, out, to));
        dimension_rules_join(look, dimension(look, rhs, rhs_batch->items[i]), dimension(look, out, to));
    }
    for (uint32_t i = 0; i < rank_of(look, lhs); i++)
        if (!hlo_list_has(lhs_batch, i) && !hlo_list_has(lhs_inner, i))
            dimension_rules_join(look, dimension(look, lhs, i), dimension(look, out, to++));
    for (uint32_t i = 0; i < rank_of(look, rhs); i++)
        if (!hlo_list_has(rhs_batch, i) && !hlo_list_has(rhs_inner, i))
            dimension_rules_join(look, dimension(look, rhs, i), dimension(look, out, to++));
}

/* A window of a few steps over many: what a dot written as a convolution has not. */
static bool is_small_window(const struct looked_at *look, uint32_t in, uint32_t kernel, uint32_t out)
{
    int64_t kernel_size = size_of(look, kernel);
    return kernel_size > 1 && kernel_size < size_of(look, in) && kernel_size < size_of(look, out);
}

/* Of a picture the window goes along two sides at least; along one it is a sequence's. */
static void note_sides(struct looked_at *look, uint32_t in, uint32_t kernel, uint32_t out)
{
    const struct hlo_attributes *of = &look->attributes;
    uint32_t sides[SHAPE_RANK_MAX], count = 0;
    for (uint32_t i = 0; i < of->convolution.input_spatial.count && count < SHAPE_RANK_MAX; i++) {
        uint32_t side = dimension(look, in, of->convolution.input_spatial.items[i]);
        bool has_all = i < of->convolution.kernel_spatial.count && i < of->convolution.output_spatial.count &&
                       i < of->window_count && of->window[i].base_dilation <= 1;
        if (has_all && is_small_window(look, side, dimension(look, kernel, of->convolution.kernel_spatial.items[i]),
                                       dimension(look, out, of->convolution.output_spatial.items[i])))
            sides[count++] = side;
    }
    for (uint32_t i = 0; count > 1 && i < count; i++)
        look->builder->dimensions->is_side[sides[i]] = true;
}

/* A spatial dimension of a convolution. The TPU compiler writes dots as convolutions: a window that is as wide as the
 * input sums over it; one that steps by less than a whole picks batch by batch. */
static void relate_spatial(struct looked_at *look, uint32_t nth, uint32_t in, uint32_t kernel, uint32_t out)
{
    const struct hlo_window_dimension *window = &look->attributes.window[nth];
    int64_t in_size = size_of(look, in), kernel_size = size_of(look, kernel), out_size = size_of(look, out);
    if (window->base_dilation > 1 && in_size == kernel_size && in_size == out_size) {
        dimension_rules_join(look, in, kernel);
        dimension_rules_join(look, in, out);
    } else if (kernel_size == 1) {
        dimension_rules_part(look, in, out);
    } else if (out_size == 1 && in_size == kernel_size) {
        dimension_rules_join(look, in, kernel);
    } else if (in_size == 1) {
        dimension_rules_part(look, kernel, out);
    } else if (is_small_window(look, in, kernel, out)) {
        dimension_rules_part(look, in, out); /* a picture under it */
    } else if (out_size < in_size && out_size < kernel_size) {
        dimension_rules_part(look, in, kernel); /* the gradient of a small window */
    } else {
        dimension_rules_part(look, kernel, out);
    }
}

static void dimension_rules_convolution(struct looked_at *look)
{
    uint32_t in = dimension_rules_operand(look, 0), kernel = dimension_rules_operand(look, 1),
             out = dimension_rules_leaf(look, look->at);
    const struct hlo_attributes *of = &look->attributes;
    uint32_t in_batch = dimension(look, in, of->convolution.input_batch);
    uint32_t out_feature = dimension(look, out, of->convolution.output_feature);
    uint32_t kernel_out = dimension(look, kernel, of->convolution.kernel_output_feature);
    if (of->batch_group_count > 1)
        dimension_rules_part(look, in_batch, dimension(look, out, of->convolution.output_batch));
    else
        dimension_rules_join(look, in_batch, dimension(look, out, of->convolution.output_batch));
    dimension_rules_join(look, kernel_out, out_feature);
    dimension_rules_part(look, dimension(look, in, of->convolution.input_feature),
                         dimension(look, kernel, of->convolution.kernel_input_feature));
    note_sides(look, in, kernel, out);
    for (uint32_t i = 0; i < of->convolution.output_spatial.count && i < of->window_count; i++)
        if (i < of->convolution.input_spatial.count && i < of->convolution.kernel_spatial.count)
            relate_spatial(look, i, dimension(look, in, of->convolution.input_spatial.items[i]),
                           dimension(look, kernel, of->convolution.kernel_spatial.items[i]),
                           dimension(look, out, of->convolution.output_spatial.items[i]));
}

/* Windows of an operand are in the result (of a gather) or the updates (of a scatter), beside the dimensions of the
 * indices, in their order. */
static void relate_windows(struct looked_at *look, uint32_t operand, uint32_t indices, uint32_t windows,
                           const struct hlo_list *offset, const struct hlo_list *left_out,
                           const struct hlo_list *operand_batching, const struct hlo_list *indices_batching,
                           int64_t index_vector)
{
    uint32_t from_operand = 0, from_indices = 0;
    for (uint32_t i = 0; i < rank_of(look, windows); i++) {
        if (hlo_list_has(offset, i)) {
            while (hlo_list_has(left_out, from_operand) || hlo_list_has(operand_batching, from_operand))
                from_operand++;
            if (size_of(look, dimension(look, windows, i)) > 1) /* single rows each device finds among its own */
                note_cut(look, dimension(look, operand, from_operand), dimension(look, windows, i));
            dimension_rules_join(look, dimension(look, operand, from_operand++), dimension(look, windows, i));
        } else {
            from_indices += from_indices == index_vector;
            dimension_rules_join(look, dimension(look, indices, from_indices++), dimension(look, windows, i));
        }
    }
    for (uint32_t i = 0; i < operand_batching->count && i < indices_batching->count; i++)
        dimension_rules_join(look, dimension(look, operand, operand_batching->items[i]),
                             dimension(look, indices, indices_batching->items[i]));
}

/* Rows of `operand` along `along`, the only dimension that indices say. */
static void note_pointing(struct looked_at *look, uint32_t operand, uint32_t indices, const struct hlo_list *along)
{
    struct dimensions *out = look->builder->dimensions;
    uint32_t to = along->count == 1 ? dimension(look, operand, along->items[0]) : HLO_NONE,
             from = dimension(look, indices, 0);
    if (to == HLO_NONE || from == HLO_NONE)
        return;
    out->pointings = arena_grown(look->builder->arena, out->pointings, out->pointing_count + 1,
                                 &look->builder->pointing_capacity, sizeof(*out->pointings));
    out->pointings[out->pointing_count++] = (struct dimension_pointing){from, to};
}

static void dimension_rules_gather(struct looked_at *look)
{
    const struct hlo_attributes *of = &look->attributes;
    note_pointing(look, dimension_rules_operand(look, 0), dimension_rules_operand(look, 1), &of->gather.collapsed);
    relate_windows(look, dimension_rules_operand(look, 0), dimension_rules_operand(look, 1),
                   dimension_rules_leaf(look, look->at), &of->gather.offset, &of->gather.collapsed,
                   &of->gather.operand_batching, &of->gather.indices_batching, of->gather.index_vector);
}

static void dimension_rules_scatter(struct looked_at *look)
{
    const struct hlo_attributes *of = &look->attributes;
    uint32_t count = look->operand_count / 2; /* operands, the indices, updates */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t operand = dimension_rules_operand(look, i);
        dimension_rules_join_leaves(look, operand,
                                    look->leaves->first[look->at] + i < look->leaves->first[look->at + 1]
                                        ? look->leaves->first[look->at] + i
                                        : HLO_NONE);
        note_pointing(look, operand, dimension_rules_operand(look, count), &of->scatter.inserted_window);
        relate_windows(look, operand, dimension_rules_operand(look, count),
                       dimension_rules_operand(look, count + 1 + i), &of->scatter.update_window,
                       &of->scatter.inserted_window, &of->scatter.operand_batching, &of->scatter.indices_batching,
                       of->scatter.index_vector);
    }
}

static void dimension_rules_reduce_window(struct looked_at *look)
{
    uint32_t in = dimension_rules_operand(look, 0), out = look->leaves->first[look->at];
    for (uint32_t i = 0; i < rank_of(look, in) && leaves_count(look->leaves, look->at) > 0; i++)
        dimension_rules_part(look, dimension(look, in, i), dimension(look, out, i));
}

/* Collectives that put parts of several devices side by side, or hand each one a part. */
static void dimension_rules_gathered(struct looked_at *look)
{
    uint32_t out = look->leaves->first[look->at], outputs = leaves_count(look->leaves, look->at);
    for (uint32_t k = 0; k < look->operand_count; k++) {
        uint32_t in = dimension_rules_operand(look, k), to = outputs == look->operand_count ? out + k
                                                             : outputs > 0                  ? out + outputs - 1
                                                                                            : HLO_NONE;
        for (uint32_t i = 0; to != HLO_NONE && i < rank_of(look, in); i++)
            dimension_rules_part(look, dimension(look, in, i), dimension(look, to, i));
    }
}

/* What a kernel does is not known: dimensions of equal place and size are taken for one. Pieces that the compiler joins
 * without moving them add up along one dimension. */
void dimension_rules_unknown(struct looked_at *look)
{
    if (graph_op(look->graph, look->at) == GRAPH_SAME && look->operand_count > 1) {
        uint32_t out = dimension_rules_leaf(look, look->at), in = dimension_rules_operand(look, 0);
        for (uint32_t i = 0; i < rank_of(look, out); i++)
            if (size_of(look, dimension(look, out, i)) != size_of(look, dimension(look, in, i)))
                relate_sum(look, i);
            else
                for (uint32_t k = 0; k < look->operand_count; k++)
                    dimension_rules_join(look, dimension(look, dimension_rules_operand(look, k), i),
                                         dimension(look, out, i));
        return;
    }
    arena_work(look->builder->arena, 4 * (uint64_t)leaves_count(look->leaves, look->at) * look->operand_count);
    for (uint32_t leaf = look->leaves->first[look->at]; leaf < look->leaves->first[look->at + 1]; leaf++)
        for (uint32_t k = 0; k < look->operand_count; k++)
            dimension_rules_join_leaves(look, leaf, dimension_rules_operand(look, k));
    look->builder->dimensions->unfollowed_count += look->operand_count > 0;
}

static void dimension_rules_none(struct looked_at *look) { (void)look; }

static const struct {
    const char *opcode;
    void (*rule)(struct looked_at *look);
    bool has_attributes;
} rules[] = {
#define DIMENSION_RULE(opcode, name, has_attributes) {opcode, dimension_rules_##name, has_attributes},
#include "whatif/dimension_rules.def"
#undef DIMENSION_RULE
};
enum { RULE_COUNT = sizeof(rules) / sizeof(rules[0]) };

static bool is_of_opcode(const void *context, uint64_t value)
{
    return str_equal(*(const struct str *)context, str_of(rules[value].opcode));
}

void dimension_rules_begin(struct dimension_builder *builder)
{
    map_init(&builder->rules, builder->arena, RULE_COUNT);
    for (size_t i = 0; i < RULE_COUNT; i++)
        map_add(&builder->rules, hash_bytes(rules[i].opcode, strlen(rules[i].opcode), 0), i);
}

void dimension_rules_apply(struct dimension_builder *builder, uint32_t at)
{
    const struct graph *graph = builder->dimensions->graph;
    struct looked_at look; /* its attributes are long, and rarely looked at */
    look.builder = builder;
    look.graph = graph;
    look.leaves = &builder->dimensions->leaves;
    look.at = at;
    look.operand_count = graph->operand_first[at + 1] - graph->operand_first[at];
    look.operands = graph->operands + graph->operand_first[at];
    struct str opcode = hlo_instruction_opcode(graph->hlo, at);
    uint64_t rule = map_find(&builder->rules, hash_bytes(opcode.data, opcode.length, 0), is_of_opcode, &opcode);
    if (rule == MAP_FREE) {
        dimension_rules_elementwise(&look);
        return;
    }
    if (rules[rule].has_attributes)
        hlo_attributes_read(hlo_instruction_bytes(graph->hlo, at), &look.attributes);
    rules[rule].rule(&look);
}
