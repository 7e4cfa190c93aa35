/* SPDX-License-Identifier: Apache-2.0
 * checkpoint_late.c: gradients of weights that the compiler computes late, when memory is plenty elsewhere.
 *
 * The peak decides what may wait: as long as layers keep their values, logits may wait for the gradient of the weights
 * that made them until all layers are done. Once the layers keep nothing, that waiting would be the peak, and the
 * compiler computes such a gradient as soon as it can. */
#include "whatif/checkpoint.h"

#include "base/sum.h"

/* What is found of a kernel once, by instruction of the schedule. */
struct late {
    struct checkpoint *work;
    struct value_walk walk; /* beside that of `work` */
    uint32_t *ready;        /* the step at which it can run at the earliest; HLO_NONE: not known, or not looked at */
    bool *is_ready_found, *is_result; /* is_result: it gives a result of the program, or gives nothing */
    int64_t *given;                   /* bytes of what it gives; -1: not looked at, nor at is_result */
    bool *is_moved;
    bool *is_between; /* by kernel: only what is moved reads what it gives, so it may give as much as it reads */
    const uint32_t *remat_of; /* NULL: nothing is rematerialized, or the rows are those of the program that does */
    uint32_t *first_remat, *next_remat; /* by instruction: those that repeat it */
};

/* What a repetition gives was there since it was first computed. */
static uint32_t original_of(const struct late *late, uint32_t at)
{
    return late->remat_of != NULL && late->remat_of[at] != HLO_NONE ? late->remat_of[at] : at;
}

static void remats_list(struct late *late)
{
    const struct variant *variant = late->work->variant;
    uint32_t count = late->work->plan->hlo.instruction_count;
    size_t bytes = ((size_t)count + 1) * sizeof(*late->first_remat);
    late->remat_of = variant->without_remat == NULL ? variant->findings->remat_of : NULL;
    if (late->remat_of == NULL)
        return;
    late->first_remat = memset(arena_raw(variant->arena, bytes), 0xff, bytes);
    late->next_remat = memset(arena_raw(variant->arena, bytes), 0xff, bytes);
    for (uint32_t at = count; at-- > 0;)
        if (late->remat_of[at] != HLO_NONE) {
            late->next_remat[at] = late->first_remat[late->remat_of[at]];
            late->first_remat[late->remat_of[at]] = at;
        }
}

/* A loop reads until it ends what is handed into it. */
static uint32_t outermost_step(const struct checkpoint *work, uint32_t kernel_at)
{
    enum { LOOPS_MAX = 8 };
    for (unsigned depth = 0; depth < LOOPS_MAX; depth++) {
        uint32_t body = graph_loop_body_around(work->graph, kernel_at);
        if (body == HLO_NONE)
            return variant_step(work->variant, kernel_at);
        kernel_at = work->graph->caller_of[body];
    }
    return HLO_NONE;
}

static uint32_t ready_step(struct late *late, uint32_t kernel_at)
{
    struct checkpoint *work = late->work;
    uint32_t ready = 0;
    if (late->is_ready_found[kernel_at])
        return late->ready[kernel_at];
    late->is_ready_found[kernel_at] = true;
    arena_work(work->variant->arena, work->graph->operand_first[kernel_at + 1] - work->graph->operand_first[kernel_at]);
    for (uint32_t nth = 0, operand; (operand = graph_operand(work->graph, kernel_at, nth)) != HLO_NONE; nth++) {
        struct value made = value_origin(&late->walk, (struct value){operand, VALUE_WHOLE}, VALUE_ORIGIN, NULL);
        uint32_t made_by = made.at == HLO_NONE ? HLO_NONE : variant_scheduled(work->variant, made.at),
                 step = made_by == HLO_NONE ? HLO_NONE : outermost_step(work, original_of(late, made_by));
        bool is_given = made.at != HLO_NONE && (graph_op(work->graph, made.at) == GRAPH_PARAMETER ||
                                                graph_op(work->graph, made.at) == GRAPH_CONSTANT);
        if (!is_given)
            ready = step > ready ? step : ready; /* HLO_NONE, too: it is not known */
    }
    return late->ready[kernel_at] = ready;
}

static bool result_note(void *context, uint32_t reader_at, uint32_t operand)
{
    (void)operand;
    *(bool *)context = reader_at == HLO_NONE;
    return reader_at != HLO_NONE;
}

/* Does it give a result of the program? With the optimizer's update in one kernel a gradient is computed at the end. */
static bool gives_result(struct late *late, uint32_t kernel_at)
{
    uint32_t count = leaves_count(&late->work->variant->dimensions.leaves, kernel_at);
    bool is_result = count == 0;
    for (uint32_t nth = 0; nth < count && !is_result; nth++) {
        value_each_reader(&late->walk, (struct value){kernel_at, count > 1 ? nth : VALUE_WHOLE}, result_note,
                          &is_result);
        is_result = is_result || late->walk.is_cut;
    }
    return is_result;
}

static int64_t given_sum(const struct late *late, uint32_t kernel_at)
{
    const struct leaves *leaves = &late->work->variant->dimensions.leaves;
    uint32_t count = leaves_count(leaves, kernel_at);
    int64_t sum = 0;
    for (uint32_t nth = 0; nth < count; nth++) {
        const struct leaf *leaf = &leaves->items[leaves->first[kernel_at] + nth];
        int64_t bytes = (int64_t)shape_type_bytes(leaf->type);
        for (uint32_t i = 0; i < leaf->rank; i++)
            if (__builtin_mul_overflow(bytes, leaves->sizes[leaf->first + i], &bytes))
                return INT64_MAX;
        sum = sum_add(sum, bytes);
    }
    return sum;
}

/* Of a kernel of many outputs, each of its many operands would look at all of them. */
static void given_note(struct late *late, uint32_t kernel_at)
{
    if (late->given[kernel_at] >= 0)
        return;
    arena_work(late->work->variant->arena, leaves_count(&late->work->variant->dimensions.leaves, kernel_at));
    late->given[kernel_at] = given_sum(late, kernel_at);
    late->is_result[kernel_at] = gives_result(late, kernel_at);
}

/* Can it be computed earlier than it is, so that less is there while a value of that many bytes waits for it? */
static bool is_movable(struct late *late, uint32_t kernel_at, int64_t bytes)
{
    given_note(late, kernel_at);
    return (late->is_between[kernel_at] || late->given[kernel_at] < bytes) && !late->is_result[kernel_at];
}

/* What reads a value, and until when it has to be there. */
struct waiting_reading {
    struct late *late;
    int64_t bytes;
    uint32_t dies;        /* once nothing waits */
    uint32_t waited_dies; /* as it is */
    bool is_kept, has_other;
};

static bool late_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct waiting_reading *reading = context;
    struct checkpoint *work = reading->late->work;
    uint32_t kernel_at = reader_at == HLO_NONE ? HLO_NONE : variant_scheduled(work->variant, reader_at),
             step = kernel_at == HLO_NONE ? HLO_NONE : outermost_step(work, kernel_at);
    (void)operand;
    reading->is_kept = step == HLO_NONE;
    if (reading->is_kept)
        return false;
    uint32_t end = step;
    reading->waited_dies = step + 1 > reading->waited_dies ? step + 1 : reading->waited_dies;
    if (step > work->first_backward && graph_loop_body_around(work->graph, reader_at) == HLO_NONE &&
        graph_phase(work->graph, kernel_at) == GRAPH_BACKWARD &&
        (graph_op(work->graph, kernel_at) == GRAPH_FUSION || graph_op(work->graph, kernel_at) == GRAPH_DOT) &&
        is_movable(reading->late, kernel_at, reading->bytes)) {
        uint32_t ready = ready_step(reading->late, kernel_at);
        end = ready < step ? ready : step;
        reading->late->is_moved[kernel_at] = true;
    } else {
        reading->has_other = true;
    }
    reading->dies = end + 1 > reading->dies ? end + 1 : reading->dies;
    return true;
}

static void readers_note(struct waiting_reading *reading, struct value value)
{
    struct checkpoint *work = reading->late->work;
    value_each_reader(&work->walk, value, late_reader_note, reading);
    reading->is_kept = reading->is_kept || work->walk.is_cut;
}

static bool is_waiting(const struct checkpoint *work, const struct variant_row *row)
{
    return !row->is_indefinite && !row->is_gone && row->plan_row != PLAN_NONE && row->layers == 0 &&
           row->dies > work->first_backward && checkpoint_maker(work, row) != HLO_NONE;
}

void checkpoint_late_end(struct checkpoint *work)
{
    struct variant *variant = work->variant;
    uint32_t count = work->plan->hlo.instruction_count;
    struct late late = {.work = work};
    late.ready = arena_raw(variant->arena, ((size_t)count + 1) * sizeof(*late.ready));
    memset(late.ready, 0xff, ((size_t)count + 1) * sizeof(*late.ready));
    late.is_ready_found = arena_array(variant->arena, bool, (size_t)count + 1);
    late.is_result = arena_array(variant->arena, bool, (size_t)count + 1);
    late.given = arena_raw(variant->arena, ((size_t)count + 1) * sizeof(*late.given));
    memset(late.given, 0xff, ((size_t)count + 1) * sizeof(*late.given));
    late.is_moved = arena_array(variant->arena, bool, (size_t)count + 1);
    value_walk_init(&late.walk, work->graph, 64 * (uint64_t)count, variant->arena);
    remats_list(&late);
    late.is_between = arena_array(variant->arena, bool, (size_t)count + 1);
    for (uint32_t i = variant->row_count; i-- > 0;) { /* what is made later first */
        struct variant_row *row = &variant->rows[i];
        if (!is_waiting(work, row))
            continue;
        struct waiting_reading reading = {.late = &late, .bytes = row->bytes};
        struct value value = value_of_buffer(&work->plan->hlo, variant->space->rows[row->plan_row].buffer_at);
        readers_note(&reading, value);
        for (uint32_t at = late.remat_of == NULL || value.at == HLO_NONE ? HLO_NONE : late.first_remat[value.at];
             at != HLO_NONE && !reading.is_kept; at = late.next_remat[at])
            readers_note(&reading, (struct value){at, value.element});
        if (reading.is_kept || reading.waited_dies == 0)
            continue;
        if (!reading.has_other && value.at != HLO_NONE)
            late.is_between[value.at] = true;
        if (reading.waited_dies == row->dies && reading.dies > row->born && reading.dies < row->dies)
            row->dies = reading.dies;
    }
    for (uint32_t i = 0; i < variant->row_count; i++) {
        struct variant_row *row = &variant->rows[i];
        uint32_t at = row->instruction_at, kernel_at = at == HLO_NONE ? HLO_NONE : variant_scheduled(variant, at);
        if (row->is_indefinite || row->plan_row == PLAN_NONE || kernel_at == HLO_NONE || !late.is_moved[kernel_at] ||
            late.ready[kernel_at] >= row->born)
            continue;
        if (late.is_between[kernel_at])
            row->dies -= row->born - late.ready[kernel_at];
        row->born = late.ready[kernel_at];
    }
}
