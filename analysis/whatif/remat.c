/* SPDX-License-Identifier: Apache-2.0
 * remat.c: see remat.h. */
#include "whatif/remat.h"

#include "base/map.h"
#include "plan/value.h"

#define MARK STR(".remat")

struct undoing {
    const struct variant *variant; /* as it is */
    struct variant *out;
    const struct hlo *hlo;
    struct value_walk walk;
    uint32_t *remat_of;             /* by instruction: see variant_findings */
    uint32_t *row_first, *row_next; /* by instruction, by row: the heap's rows of what it gives; PLAN_NONE ends */
    struct map names;               /* instructions by name */
};

/* ---- which instructions repeat others ---- */

/* The part of the name before the mark. False: it has no mark. */
static bool original_name(struct str name, struct str *of)
{
    for (size_t i = 1; i + MARK.length <= name.length; i++)
        if (memcmp(name.data + i, MARK.data, MARK.length) == 0) {
            *of = (struct str){name.data, i};
            return true;
        }
    return false;
}

struct named {
    const struct hlo *hlo;
    struct str name;
};

static bool has_name(const void *context, uint64_t at)
{
    const struct named *named = context;
    return str_equal(hlo_instruction_name(named->hlo, (uint32_t)at), named->name);
}

static uint64_t named_find(struct undoing *undoing, struct str name, uint64_t *hash)
{
    const struct named named = {undoing->hlo, name};
    *hash = map_hash_text(undoing->variant->arena, name, 0);
    return map_find(&undoing->names, *hash, has_name, &named);
}

static bool is_scheduled(const struct undoing *undoing, uint32_t at)
{
    return undoing->variant->plan->schedule.position_of_instruction[at] != HLO_NONE;
}

static uint32_t *all_none(struct arena *arena, uint32_t count)
{
    uint32_t *numbers = arena_raw(arena, ((size_t)count + 1) * sizeof(*numbers));
    memset(numbers, 0xff, ((size_t)count + 1) * sizeof(*numbers));
    return numbers;
}

static uint32_t remat_find(struct undoing *undoing)
{
    uint32_t count = undoing->hlo->instruction_count, found = 0;
    uint64_t hash, named;
    struct str of;
    for (uint32_t at = 0; at < count && found == 0; at++)
        found += is_scheduled(undoing, at) && original_name(hlo_instruction_name(undoing->hlo, at), &of);
    if (found == 0)
        return 0;
    undoing->remat_of = all_none(undoing->variant->arena, count);
    map_init(&undoing->names, undoing->variant->arena, count);
    for (uint32_t at = 0; at < count; at++)
        if (is_scheduled(undoing, at) && named_find(undoing, hlo_instruction_name(undoing->hlo, at), &hash) == MAP_FREE)
            map_add(&undoing->names, hash, at);
    found = 0;
    for (uint32_t at = 0; at < count; at++) {
        if (!is_scheduled(undoing, at) || !original_name(hlo_instruction_name(undoing->hlo, at), &of) ||
            (named = named_find(undoing, of, &hash)) == MAP_FREE)
            continue;
        undoing->remat_of[at] = (uint32_t)named;
        found++;
    }
    return found;
}

/* ---- rows ---- */

static const struct heap_hold *hold_of(const struct undoing *undoing, uint32_t row)
{
    const struct plan_space *space = undoing->variant->space;
    return row < space->indefinite_row_count ? NULL : &space->heap.holds[row - space->indefinite_row_count];
}

static void rows_list(struct undoing *undoing)
{
    const struct variant *variant = undoing->variant;
    undoing->row_first = all_none(variant->arena, undoing->hlo->instruction_count);
    undoing->row_next = all_none(variant->arena, variant->row_count);
    for (uint32_t i = variant->row_count; i-- > 0;) {
        uint32_t at = variant->rows[i].instruction_at;
        if (hold_of(undoing, i) == NULL || at == HLO_NONE)
            continue;
        undoing->row_next[i] = undoing->row_first[at];
        undoing->row_first[at] = i;
    }
}

/* Does a result of another instruction take the same place in the tuple? A fusion that gave one array may, repeated,
 * give what others make of it beside it. */
static bool is_same_element(const struct hlo *hlo, uint32_t left, uint32_t right)
{
    const struct hlo_buffer *a = &hlo->buffers[left], *b = &hlo->buffers[right];
    if ((a->index_count == 0) != (b->index_count == 0))
        return true;
    return a->index_count == b->index_count &&
           memcmp(hlo->shape_indices + a->index_first, hlo->shape_indices + b->index_first,
                  a->index_count * sizeof(*hlo->shape_indices)) == 0;
}

/* The row of the first making of what `row` holds, or PLAN_NONE. */
static uint32_t first_row(const struct undoing *undoing, uint32_t row)
{
    const struct variant *variant = undoing->variant;
    uint32_t of = undoing->remat_of[variant->rows[row].instruction_at];
    for (uint32_t i = undoing->row_first[of]; i != PLAN_NONE; i = undoing->row_next[i]) {
        arena_work(variant->arena, 1); /* both may have many rows */
        if (variant->rows[i].bytes == variant->rows[row].bytes &&
            is_same_element(undoing->hlo, hold_of(undoing, i)->root_at, hold_of(undoing, row)->root_at))
            return i;
    }
    return PLAN_NONE;
}

/* ---- when values are read last, by what is left ---- */

struct last_reading {
    const struct undoing *undoing;
    uint32_t end;   /* the step behind the last reader; 0: nothing reads it */
    bool is_result; /* of the program */
};

static bool last_reader_note(void *context, uint32_t reader_at, uint32_t operand)
{
    struct last_reading *reading = context;
    const struct undoing *undoing = reading->undoing;
    (void)operand;
    reading->is_result = reader_at == HLO_NONE;
    if (reading->is_result)
        return false;
    uint32_t scheduled = variant_scheduled(undoing->variant, reader_at);
    if (scheduled == HLO_NONE || undoing->remat_of[scheduled] != HLO_NONE)
        return true;
    uint32_t step = variant_step(undoing->variant, scheduled);
    if (step != HLO_NONE && step + 1 > reading->end)
        reading->end = step + 1;
    return true;
}

/* The step behind the last reader of a row's value that repeats nothing; `otherwise` where that is not known. */
static uint32_t end_of(struct undoing *undoing, uint32_t row, uint32_t otherwise)
{
    struct last_reading reading = {.undoing = undoing};
    const struct heap_hold *hold = hold_of(undoing, row);
    if (hold->root_at != hold->buffer_at) /* others live in its memory after it */
        return otherwise;
    value_each_reader(&undoing->walk, value_of_buffer(undoing->hlo, hold->root_at), last_reader_note, &reading);
    return reading.is_result || reading.end == 0 || undoing->walk.is_cut ? otherwise : reading.end;
}

/* What was kept only to be read by a repetition ends before. */
static void inputs_end(struct undoing *undoing, uint32_t remat_at)
{
    const struct graph *graph = undoing->variant->plan->graph;
    for (uint32_t nth = 0, operand; (operand = graph_operand(graph, remat_at, nth)) != HLO_NONE; nth++) {
        struct value made = value_origin(&undoing->walk, (struct value){operand, VALUE_WHOLE}, VALUE_BUFFER, NULL);
        for (uint32_t i = made.at == HLO_NONE ? PLAN_NONE : undoing->row_first[made.at]; i != PLAN_NONE;
             i = undoing->row_next[i]) {
            struct variant_row *row = &undoing->out->rows[i];
            arena_work(undoing->variant->arena, 1); /* one operand may be named often, and have many rows */
            uint32_t end = end_of(undoing, i, row->dies);
            if (end < row->dies && end > row->born)
                row->dies = end;
        }
    }
}

struct variant *remat_taken_out(const struct variant *variant)
{
    struct undoing undoing = {.variant = variant, .hlo = &variant->plan->hlo};
    uint32_t count = 0;
    if (variant->plan->graph == NULL || remat_find(&undoing) == 0)
        return NULL;
    value_walk_init(&undoing.walk, variant->plan->graph, 64 * (uint64_t)undoing.hlo->instruction_count, variant->arena);
    undoing.walk.of_buffers = true;
    rows_list(&undoing);
    undoing.out = arena_array(variant->arena, struct variant, 1);
    variant_copy(undoing.out, variant, variant->arena);
    for (uint32_t at = 0; at < undoing.hlo->instruction_count; at++)
        if (undoing.remat_of[at] != HLO_NONE)
            inputs_end(&undoing, at);
    for (uint32_t i = 0; i < variant->row_count; i++) {
        uint32_t at = variant->rows[i].instruction_at, first;
        if (hold_of(&undoing, i) == NULL || at == HLO_NONE || undoing.remat_of[at] == HLO_NONE ||
            (first = first_row(&undoing, i)) == PLAN_NONE)
            continue;
        uint32_t end = end_of(&undoing, i, variant->rows[i].dies);
        struct variant_row *row = &undoing.out->rows[first];
        row->dies = end > row->dies ? end : row->dies;
        undoing.out->rows[i].is_gone = true;
        count++;
    }
    if (count == 0)
        return NULL;
    variant->findings->remat_of = undoing.remat_of;
    return undoing.out;
}
