/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/variant.h"

#include "base/sum.h"
#include "read/hlo/shape_layout.h"
#include "whatif/remat.h"

/* ---- the program as it is ---- */

static uint32_t leaf_of_buffer(const struct variant *variant, uint32_t buffer_at)
{
    const struct hlo *hlo = &variant->plan->hlo;
    if (buffer_at == PLAN_NONE || hlo->buffers[buffer_at].instruction_at == HLO_NONE)
        return HLO_NONE;
    const struct hlo_buffer *buffer = &hlo->buffers[buffer_at];
    if (buffer->index_count > 1) /* the shape is walked; many buffers may lie deep in one */
        arena_work(variant->arena, hlo_instruction_shape(hlo, buffer->instruction_at).length);
    return leaves_at(&variant->dimensions.leaves, buffer->instruction_at, hlo->shape_indices + buffer->index_first,
                     buffer->index_count);
}

static void row_begin(struct variant *variant, uint32_t plan_row)
{
    const struct plan_space *space = variant->space;
    const struct plan_row *row = &space->rows[plan_row];
    const struct hlo_allocation *allocation =
        row->allocation_at == PLAN_NONE ? NULL : &variant->plan->hlo.allocations[row->allocation_at];
    uint32_t buffer_at =
        row->is_indefinite ? row->buffer_at : space->heap.holds[plan_row - space->indefinite_row_count].root_at;
    uint32_t leaf = leaf_of_buffer(variant, buffer_at);
    *variant_add(variant) = (struct variant_row){
        .bytes = row->bytes,
        .born = row->born,
        .dies = row->dies,
        .plan_row = plan_row,
        .leaf = leaf,
        .instruction_at = buffer_at == PLAN_NONE ? HLO_NONE : variant->plan->hlo.buffers[buffer_at].instruction_at,
        .type = leaf == HLO_NONE ? 0 : variant->dimensions.leaves.items[leaf].type,
        .divided_by = 1,
        .is_indefinite = row->is_indefinite,
        .is_argument = row->is_indefinite && allocation && allocation->is_parameter,
        .is_output = row->is_indefinite && allocation && allocation->is_live_out,
    };
}

struct variant_row *variant_add(struct variant *variant)
{
    variant->rows = arena_grown(variant->arena, variant->rows, (size_t)variant->row_count + 1, &variant->row_capacity,
                                sizeof(*variant->rows));
    return &variant->rows[variant->row_count++];
}

/* ---- the schedule and the heap's steps ---- */

static void steps_find(struct variant *variant)
{
    const struct plan *plan = variant->plan;
    const struct plan_space *space = variant->space;
    uint32_t length = plan->schedule.length, next = space->step_count;
    variant->step_at = arena_raw(variant->arena, ((size_t)length + 1) * sizeof(*variant->step_at));
    memset(variant->step_at, 0xff, ((size_t)length + 1) * sizeof(*variant->step_at));
    for (uint32_t i = space->indefinite_row_count; i < space->row_count; i++) {
        uint32_t at = plan->hlo.buffers[space->rows[i].buffer_at].instruction_at;
        uint32_t position = plan->schedule.position_of_instruction[at];
        if (position != HLO_NONE && space->rows[i].born < variant->step_at[position])
            variant->step_at[position] = space->rows[i].born;
    }
    for (uint32_t position = length + 1; position-- > 0;)
        next = variant->step_at[position] = variant->step_at[position] < next ? variant->step_at[position] : next;
}

/* Fusions are nested, two or three deep. */
enum { FUSION_DEPTH_MAX = 8 };

uint32_t variant_scheduled(const struct variant *variant, uint32_t instruction_at)
{
    const struct plan *plan = variant->plan;
    for (unsigned depth = 0; depth < FUSION_DEPTH_MAX && instruction_at != HLO_NONE; depth++) {
        if (plan->schedule.position_of_instruction[instruction_at] != HLO_NONE)
            return instruction_at;
        instruction_at = graph_fusion_around(plan->graph, instruction_at);
    }
    return HLO_NONE;
}

uint32_t variant_step(const struct variant *variant, uint32_t instruction_at)
{
    uint32_t at = variant_scheduled(variant, instruction_at);
    return at == HLO_NONE ? HLO_NONE : variant->step_at[variant->plan->schedule.position_of_instruction[at]];
}

bool variant_has_products(const struct variant *variant)
{
    const struct graph *graph = variant->plan->graph;
    arena_work(variant->arena, graph->hlo->instruction_count);
    for (uint32_t at = 0; at < graph->hlo->instruction_count; at++)
        if (graph_op(graph, at) == GRAPH_DOT || str_ends(graph_op_name_end(graph, at), STR("dot_general")))
            return true;
    return false;
}

/* ---- sizes ---- */

/* Small arrays get small tiles: the compiler takes as few rows as hold them. */
static void layout_fit(const struct shape_array *array, struct shape_layout *layout)
{
    if (layout->tile_count == 0 || layout->tile_ranks[0] != 2 || array->rank < 2)
        return;
    int64_t rows = array->dimensions[layout->physical[array->rank - 2]];
    while (layout->tiles[0][0] > 1 && layout->tiles[0][0] % 2 == 0 && layout->tiles[0][0] / 2 >= rows && rows > 0)
        layout->tiles[0][0] /= 2;
}

/* The compiler puts into the lanes what pads least: where the dimension there gets another size, each of the others may
 * take its place. */
static int64_t least_padded(const struct shape_array *old, const struct shape_array *new, struct shape_layout *layout)
{
    int64_t least = shape_padded_bytes(new, layout);
    uint32_t last = new->rank == 0 ? 0 : new->rank - 1U;
    if (layout->tile_count == 0 || layout->tile_ranks[0] != 2 || new->rank < 2 ||
        old->dimensions[layout->physical[last]] == new->dimensions[layout->physical[last]])
        return least;
    for (uint32_t i = 0; i < last; i++) {
        struct shape_layout other = *layout;
        other.physical[last] = layout->physical[i];
        other.physical[i] = layout->physical[last];
        int64_t bytes = shape_padded_bytes(new, &other);
        if (bytes >= 0 && bytes < least)
            least = bytes;
    }
    return least;
}

/* The shape of the buffer that a row is, or of the instruction whose array was added; empty: not known. */
static struct str shape_of(const struct variant *variant, const struct variant_row *row)
{
    uint32_t buffer_at = row->plan_row == PLAN_NONE ? PLAN_NONE : variant->space->rows[row->plan_row].buffer_at;
    if (buffer_at != PLAN_NONE)
        return variant->plan->shapes[buffer_at];
    return row->plan_row == PLAN_NONE && row->instruction_at != HLO_NONE
               ? hlo_instruction_shape(&variant->plan->hlo, row->instruction_at)
               : (struct str){"", 0};
}

/* What the array of a row takes now. */
static int64_t row_bytes(const struct variant *variant, const struct variant_row *row)
{
    const struct leaves *leaves = &variant->dimensions.leaves;
    int64_t before = row->plan_row == PLAN_NONE ? row->added_bytes : variant->space->rows[row->plan_row].bytes;
    if (row->is_unpadded)
        before = variant->space->rows[row->plan_row].unpadded_bytes;
    before /= row->layers > 0 ? row->layers : 1;
    if (row->leaf == HLO_NONE)
        return before / row->divided_by;
    const struct leaf *leaf = &leaves->items[row->leaf];
    bool is_same = row->type == leaf->type;
    struct shape_array old = {.type = leaf->type, .rank = leaf->rank}, new = {.type = row->type, .rank = leaf->rank};
    for (uint32_t i = 0; i < leaf->rank; i++) {
        old.dimensions[i] = leaves->sizes[leaf->first + i];
        new.dimensions[i] = variant->sizes[leaf->first + i];
        is_same = is_same && old.dimensions[i] == new.dimensions[i];
    }
    if (is_same)
        return before / row->divided_by;
    struct shape_layout layout;
    struct str shape = shape_of(variant, row);
    arena_work(variant->arena, 1 + shape.length / 4);
    if (!shape_layout_read(shape, &layout))
        layout = (struct shape_layout){.element_bits = 8 * (int64_t)shape_type_bytes(leaf->type)};
    for (uint32_t i = 0; i < leaf->rank && layout.tile_count == 0; i++)
        layout.physical[i] = (uint8_t)i;
    int64_t padded_before = shape_padded_bytes(&old, &layout);
    layout_fit(&new, &layout);
    if (row->type != leaf->type)
        layout.element_bits = 8 * (int64_t)shape_type_bytes(row->type);
    int64_t padded_after = least_padded(&old, &new, &layout);
    if (padded_before <= 0 || padded_after < 0)
        return before / row->divided_by;
    /* What an allocation has beyond its array grows with it. */
    __int128 after = (__int128)before * padded_after / padded_before;
    return (after < INT64_MAX ? (int64_t)after : INT64_MAX) / row->divided_by;
}

/* ---- sums ---- */

static int64_t largest_live(const struct variant *variant, int64_t *changes, uint32_t *at)
{
    int64_t live = 0, most = 0;
    *at = 0;
    for (uint32_t step = 0; step < variant->space->step_count; step++) {
        live += changes[step];
        changes[step] = live;
        if (live > most) {
            most = live;
            *at = step;
        }
    }
    return most;
}

/* The compiler's heap for so many live bytes. What its packing wastes of the unchanged program (mostly under 2 %)
 * stays; where that is more, it is an accident of these intervals, and the more of them change the less of it is to be
 * expected: a quarter of it once a quarter of the bytes is gone. */
static int64_t heap_of(const struct plan_space *space, int64_t live_bytes)
{
    double before = (double)space->heap.peak_bytes, now = (double)live_bytes;
    double heap = (double)(space->total_bytes - space->indefinite_bytes);
    if (before <= 0 || live_bytes == space->heap.peak_bytes)
        return space->total_bytes - space->indefinite_bytes;
    double waste = heap / before - 1, change = 4 * (now < before ? 1 - now / before : now / before - 1);
    if (waste > 0.02)
        waste = 0.02 + (waste - 0.02) * (1 - 0.75 * (change < 1 ? change : 1));
    return sum_of_real(now * (1 + waste));
}

/* Measures only these rows. */
static void measure(struct variant *variant, struct variant_sums *out, int64_t *series)
{
    const struct plan_space *space = variant->space;
    uint32_t steps = space->step_count;
    int64_t *changes = arena_array(variant->arena, int64_t, (size_t)steps + 1), indefinite_bytes = 0;
    int64_t most_bytes = SUM_MAX_BYTES_TOGETHER / ((int64_t)variant->row_count + 1); /* no sum may come near 2^63 */
    *out = (struct variant_sums){0};
    for (uint32_t i = 0; i < variant->row_count; i++) {
        struct variant_row *row = &variant->rows[i];
        if (row->is_gone)
            continue;
        row->bytes = row_bytes(variant, row);
        row->bytes = row->bytes < most_bytes ? row->bytes : most_bytes;
        if (row->is_indefinite) {
            indefinite_bytes = sum_add(indefinite_bytes, row->bytes);
            if (row->is_argument || row->is_output)
                out->fixed_bytes = sum_add(out->fixed_bytes, row->bytes);
        } else if (row->born < row->dies && row->born < steps) {
            changes[row->born] += row->bytes;
            changes[row->dies < steps ? row->dies : steps] -= row->bytes;
        }
    }
    out->live_bytes = largest_live(variant, changes, &out->peak_step);
    out->peak_bytes = sum_add(out->live_bytes, indefinite_bytes);
    out->temporary_bytes = heap_of(space, out->live_bytes);
    out->total_bytes = sum_add(out->fixed_bytes, out->temporary_bytes);
    for (uint32_t step = 0; series && step < steps; step++)
        series[step] = sum_add(changes[step], indefinite_bytes);
}

/* The compiler rematerializes as much as it has to: nothing, where all fits without, or where that gains nothing; at
 * most what it did before. */
void variant_measure(struct variant *variant, struct variant_sums *out, int64_t *series)
{
    struct variant_sums whole;
    measure(variant, out, series);
    if (variant->without_remat == NULL)
        return;
    measure(variant->without_remat, &whole, NULL);
    if (whole.total_bytes <= variant->limit_bytes || whole.total_bytes <= out->total_bytes) {
        *out = whole;
        if (series != NULL)
            measure(variant->without_remat, &whole, series);
    } else if (out->total_bytes < variant->limit_bytes) {
        int64_t more_bytes = variant->limit_bytes - out->total_bytes;
        out->temporary_bytes = sum_add(out->temporary_bytes, more_bytes);
        out->total_bytes = variant->limit_bytes;
        out->live_bytes = sum_add(out->live_bytes, more_bytes);
        out->peak_bytes = sum_add(out->peak_bytes, more_bytes);
        out->is_at_most = true;
    }
}

/* On GPUs XLA schedules and rematerializes for four fifths of the device's memory, and for 95 % of what arguments and
 * results leave of those (xla_gpu_memory_limit_slop_factor). */
enum { GPU_PERCENT = 80, GPU_SLOP_PERCENT = 95 };

static int64_t gpu_limit(struct variant *variant, int64_t capacity_bytes)
{
    struct variant_sums sums;
    measure(variant, &sums, NULL);
    int64_t room_bytes = capacity_bytes / 100 * GPU_PERCENT - sums.fixed_bytes;
    return room_bytes > 0 ? sums.fixed_bytes + room_bytes / 100 * GPU_SLOP_PERCENT : capacity_bytes;
}

void variant_limit(struct variant *variant, int64_t capacity_bytes)
{
    if (variant->plan->platform == SPACE_PLATFORM_GPU && variant->without_remat != NULL && capacity_bytes > 0)
        capacity_bytes = gpu_limit(variant, capacity_bytes);
    int64_t room_bytes = variant->beside_bytes > 0 ? capacity_bytes - variant->beside_bytes : capacity_bytes;
    if (variant->without_remat != NULL && capacity_bytes > 0 && room_bytes > 0 && room_bytes < variant->limit_bytes)
        variant->limit_bytes = room_bytes;
}

/* ---- the program as it is ---- */

void variant_begin(struct variant *variant, const struct plan *plan, const struct plan_space *space,
                   struct arena *arena)
{
    *variant = (struct variant){.plan = plan, .space = space, .arena = arena};
    variant->findings = arena_array(arena, struct variant_findings, 1);
    variant->findings->arena = arena;
    variant->row_capacity = (size_t)space->row_count + 1;
    variant->rows = arena_raw(arena, variant->row_capacity * sizeof(*variant->rows));
    dimensions_build(plan->graph, arena, &variant->dimensions);
    variant->sizes = variant->dimensions.leaves.sizes;
    for (uint32_t i = 0; i < space->row_count; i++)
        row_begin(variant, i);
    steps_find(variant);
    variant->without_remat = remat_taken_out(variant);
    if (variant->without_remat != NULL) {
        struct variant_sums sums;
        measure(variant->without_remat, &sums, NULL);
        int64_t whole_bytes = sums.total_bytes;
        measure(variant, &sums, NULL);
        variant->limit_bytes = sums.total_bytes;
        variant->beside_bytes = space->total_bytes - sums.total_bytes;
        if (whole_bytes <= sums.total_bytes) /* nothing was gained by it */
            variant->without_remat = NULL;
    }
}

void variant_copy(struct variant *variant, const struct variant *of, struct arena *arena)
{
    *variant = *of;
    variant->arena = arena;
    variant->row_capacity = (size_t)of->row_count + 1;
    variant->rows = arena_raw(arena, variant->row_capacity * sizeof(*variant->rows));
    memcpy(variant->rows, of->rows, of->row_count * sizeof(*of->rows));
    if (of->without_remat != NULL) {
        variant->without_remat = arena_array(arena, struct variant, 1);
        variant_copy(variant->without_remat, of->without_remat, arena);
    }
}
