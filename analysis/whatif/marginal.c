/* SPDX-License-Identifier: Apache-2.0
 * marginal.c: see marginal.h. Where rows are gone, the curve is lower by a sum that changes only where one of them
 * begins or ends: the new peak is the largest of the maxima between these steps, each less its sum. */
#include "whatif/marginal.h"

#include "base/size_text.h"
#include "plan/describe.h"

#include <stdlib.h>

enum { BLOCK = 32 };
/* Walking this many steps in a row costs as much as searching for one. */
enum { LARGE_SET = 16 };

/* From `step` on `bytes` less are live (more, if negative). */
struct marginal_event {
    uint32_t step;
    int64_t bytes;
};

/* ---- the largest value of a range ---- */

static int64_t value_at(const struct marginal *marginal, uint32_t step)
{
    return marginal->space->heap.series[step + 1];
}

/* The larger one; of equal ones the first, which is `a`. */
static uint32_t higher(const struct marginal *marginal, uint32_t a, uint32_t b)
{
    return value_at(marginal, a) >= value_at(marginal, b) ? a : b;
}

/* The highest of the steps first … last of one block. */
static uint32_t highest_in_block(const struct marginal *marginal, uint32_t first, uint32_t last)
{
    return first + (uint32_t)__builtin_ctz(marginal->masks[last] >> first % BLOCK);
}

uint32_t marginal_highest(const struct marginal *marginal, uint32_t from, uint32_t to)
{
    uint32_t last = to - 1, first_block = from / BLOCK, last_block = last / BLOCK;
    if (first_block == last_block)
        return highest_in_block(marginal, from, last);
    uint32_t best = highest_in_block(marginal, from, first_block * BLOCK + BLOCK - 1);
    uint32_t between = last_block - first_block - 1;
    if (between > 0) {
        uint32_t level = 31 - (uint32_t)__builtin_clz(between);
        const uint32_t *steps = &marginal->levels[(size_t)level * marginal->block_count];
        best = higher(marginal, best, steps[first_block + 1]);
        best = higher(marginal, best, steps[last_block - ((uint32_t)1 << level)]);
    }
    return higher(marginal, best, highest_in_block(marginal, last_block * BLOCK, last));
}

static void masks_make(struct marginal *marginal)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < marginal->step_count; i++) {
        mask = i % BLOCK == 0 ? 0 : mask;
        while (mask != 0) {
            uint32_t behind = 31 - (uint32_t)__builtin_clz(mask);
            if (value_at(marginal, i - i % BLOCK + behind) >= value_at(marginal, i))
                break;
            mask &= ~((uint32_t)1 << behind);
        }
        mask |= (uint32_t)1 << i % BLOCK;
        marginal->masks[i] = mask;
    }
}

static void levels_make(struct marginal *marginal)
{
    uint32_t *level = marginal->levels, count = marginal->block_count;
    for (uint32_t i = 0; i < count; i++)
        level[i] =
            highest_in_block(marginal, i * BLOCK, i + 1 < count ? i * BLOCK + BLOCK - 1 : marginal->step_count - 1);
    for (uint32_t half = 1; 2 * half <= count; half *= 2, level += count)
        for (uint32_t i = 0; i + 2 * half <= count; i++)
            level[count + i] = higher(marginal, level[i], level[i + half]);
}

void marginal_build(struct marginal *marginal, const struct plan_space *space, struct arena *arena)
{
    const struct heap *heap = &space->heap;
    *marginal = (struct marginal){.space = space, .arena = arena};
    /* behind a failure the curve only repeats its last value */
    marginal->step_count = heap->failure == HEAP_FINE ? space->step_count : heap->failure_at;
    if (marginal->step_count == 0)
        return;
    marginal->block_count = (marginal->step_count - 1) / BLOCK + 1;
    uint32_t level_count = 32 - (uint32_t)__builtin_clz(marginal->block_count);
    arena_work(arena, marginal->step_count + (uint64_t)level_count * marginal->block_count);
    marginal->masks = arena_raw(arena, marginal->step_count * sizeof(*marginal->masks));
    marginal->levels = arena_alloc(arena, (size_t)level_count * marginal->block_count, sizeof(*marginal->levels));
    masks_make(marginal);
    levels_make(marginal);
}

/* ---- savings ---- */

static struct marginal_saving saving_of(const struct marginal *marginal, int64_t left_bytes, uint32_t step)
{
    const struct plan_space *space = marginal->space;
    left_bytes = left_bytes > 0 ? left_bytes : 0; /* a damaged trace may hold memory twice */
    return (struct marginal_saving){.bytes = space->peak_bytes - left_bytes,
                                    .next_peak_bytes = left_bytes,
                                    .next_peak_step = space->has_peak_step ? step : PLAN_NONE};
}

/* The peak is the first of the largest values: where the row is not, it is the largest before and the largest behind;
 * where it is, the old one. */
static struct marginal_saving saving_of_one(const struct marginal *marginal, const struct plan_row *row)
{
    const struct plan_space *space = marginal->space;
    uint32_t peak = space->peak_step, step = peak, count = marginal->step_count;
    if (row->is_indefinite)
        return saving_of(marginal, space->peak_bytes - row->bytes, peak);
    if (count == 0 || !plan_row_is_alive(row, peak))
        return saving_of(marginal, space->peak_bytes, peak);
    int64_t most = value_at(marginal, peak) - row->bytes;
    if (row->dies < count) {
        uint32_t behind = marginal_highest(marginal, row->dies, count);
        step = value_at(marginal, behind) > most ? behind : step;
        most = value_at(marginal, step) - (step == peak ? row->bytes : 0);
    }
    if (row->born > 0) {
        uint32_t before = marginal_highest(marginal, 0, row->born);
        step = value_at(marginal, before) >= most ? before : step;
        most = value_at(marginal, step) - (step == peak ? row->bytes : 0);
    }
    return saving_of(marginal, most + space->indefinite_bytes, step);
}

static int by_step(const void *left, const void *right)
{
    const struct marginal_event *a = left, *b = right;
    return ORDER(a->step, b->step);
}

/* The peak of what the events leave of the curve. */
static struct marginal_saving sweep(const struct marginal *marginal, uint32_t event_count, int64_t always_bytes)
{
    const struct marginal_event *events = marginal->events;
    uint32_t from = 0, next = 0, best_step = 0, count = marginal->step_count;
    int64_t gone_bytes = 0, best = INT64_MIN;
    while (from < count) {
        for (; next < event_count && events[next].step <= from; next++)
            gone_bytes += events[next].bytes;
        uint32_t to = next < event_count && events[next].step < count ? events[next].step : count;
        uint32_t step = marginal_highest(marginal, from, to);
        if (value_at(marginal, step) - gone_bytes > best) {
            best = value_at(marginal, step) - gone_bytes;
            best_step = step;
        }
        from = to;
    }
    best = count == 0 ? marginal->space->heap.peak_bytes : best;
    return saving_of(marginal, best + marginal->space->indefinite_bytes - always_bytes, best_step);
}

/* The same, a step at a time: no events are put in order. */
static struct marginal_saving marginal_walk(struct marginal *marginal, uint32_t event_count, int64_t always_bytes)
{
    uint32_t count = marginal->step_count, best_step = 0;
    int64_t gone_bytes = 0, best = INT64_MIN;
    if (marginal->changes == NULL)
        marginal->changes = arena_array(marginal->arena, int64_t, (size_t)count + 1);
    arena_work(marginal->arena, count / BLOCK);
    for (uint32_t i = 0; i < event_count; i++)
        if (marginal->events[i].step < count)
            marginal->changes[marginal->events[i].step] += marginal->events[i].bytes;
    for (uint32_t step = 0; step < count; step++) {
        gone_bytes += marginal->changes[step];
        marginal->changes[step] = 0;
        if (value_at(marginal, step) - gone_bytes > best) {
            best = value_at(marginal, step) - gone_bytes;
            best_step = step;
        }
    }
    return saving_of(marginal, best + marginal->space->indefinite_bytes - always_bytes, best_step);
}

struct marginal_saving marginal_of_rows(struct marginal *marginal, const uint32_t *rows, const int64_t *bytes,
                                        uint32_t count)
{
    int64_t always_bytes = 0;
    uint32_t event_count = 0;
    marginal->events = arena_grown(marginal->arena, marginal->events, (size_t)count * 2, &marginal->event_capacity,
                                   sizeof(*marginal->events));
    arena_work(marginal->arena, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_row *row = &marginal->space->rows[rows[i]];
        int64_t gone = bytes != NULL ? bytes[i] : row->bytes;
        if (row->is_indefinite) {
            always_bytes += gone;
        } else if (row->born < row->dies) {
            marginal->events[event_count++] = (struct marginal_event){row->born, gone};
            marginal->events[event_count++] = (struct marginal_event){row->dies, -gone};
        }
    }
    if (marginal->step_count > 0 && (uint64_t)event_count * LARGE_SET > marginal->step_count)
        return marginal_walk(marginal, event_count, always_bytes);
    if (event_count > 1)
        qsort(marginal->events, event_count, sizeof(*marginal->events), by_step);
    return sweep(marginal, event_count, always_bytes);
}

/* ---- buffers that hold memory more than once ---- */

struct holder {
    uint32_t buffer_at, row;
};

static int by_buffer(const void *left, const void *right)
{
    const struct holder *a = left, *b = right;
    return ORDER(a->buffer_at, b->buffer_at) ?: ORDER(a->row, b->row);
}

static bool bit_is_set(const uint64_t *bits, uint32_t at) { return bits[at / 64] >> at % 64 & 1; }

/* Rows of buffers that have several, by buffer. */
static struct holder *holders_find(const struct marginal *marginal, uint32_t *count)
{
    const struct plan_space *space = marginal->space;
    uint32_t end = 0, found = 0;
    for (uint32_t i = 0; i < space->row_count; i++)
        if (space->rows[i].buffer_at != PLAN_NONE && space->rows[i].buffer_at >= end)
            end = space->rows[i].buffer_at + 1;
    uint64_t *seen = arena_array(marginal->arena, uint64_t, (size_t)end / 64 + 1);
    uint64_t *again = arena_array(marginal->arena, uint64_t, (size_t)end / 64 + 1);
    for (uint32_t i = 0; i < space->row_count; i++) {
        uint32_t at = space->rows[i].buffer_at;
        if (at == PLAN_NONE)
            continue;
        if (bit_is_set(seen, at))
            again[at / 64] |= (uint64_t)1 << at % 64;
        seen[at / 64] |= (uint64_t)1 << at % 64;
    }
    *count = 0;
    for (uint32_t i = 0; i < space->row_count; i++)
        *count += space->rows[i].buffer_at != PLAN_NONE && bit_is_set(again, space->rows[i].buffer_at);
    struct holder *holders = arena_array(marginal->arena, struct holder, (size_t)*count + 1);
    for (uint32_t i = 0; i < space->row_count; i++)
        if (space->rows[i].buffer_at != PLAN_NONE && bit_is_set(again, space->rows[i].buffer_at))
            holders[found++] = (struct holder){space->rows[i].buffer_at, i};
    qsort(holders, found, sizeof(*holders), by_buffer);
    return holders;
}

static void row_set(struct marginal *marginal, uint32_t at, struct marginal_saving saving)
{
    marginal->row_bytes[at] = saving.bytes;
    marginal->row_steps[at] = saving.next_peak_step;
}

static void rows_find(struct marginal *marginal)
{
    const struct plan_space *space = marginal->space;
    uint32_t holder_count;
    arena_work(marginal->arena, space->row_count);
    marginal->row_bytes = arena_array(marginal->arena, int64_t, (size_t)space->row_count + 1);
    marginal->row_steps = arena_array(marginal->arena, uint32_t, (size_t)space->row_count + 1);
    for (uint32_t i = 0; i < space->row_count; i++)
        row_set(marginal, i, saving_of_one(marginal, &space->rows[i]));
    const struct holder *holders = holders_find(marginal, &holder_count);
    uint32_t *together = arena_array(marginal->arena, uint32_t, (size_t)holder_count + 1);
    for (uint32_t first = 0, end = 0; first < holder_count; first = end) {
        for (; end < holder_count && holders[end].buffer_at == holders[first].buffer_at; end++)
            together[end - first] = holders[end].row;
        struct marginal_saving saving = marginal_of_rows(marginal, together, NULL, end - first);
        for (uint32_t i = first; i < end; i++)
            row_set(marginal, holders[i].row, saving);
    }
}

struct marginal_saving marginal_of_row(struct marginal *marginal, uint32_t at)
{
    if (marginal->row_bytes == NULL)
        rows_find(marginal);
    return (struct marginal_saving){.bytes = marginal->row_bytes[at],
                                    .next_peak_bytes = marginal->space->peak_bytes - marginal->row_bytes[at],
                                    .next_peak_step = marginal->row_steps[at]};
}

/* ---- in words ---- */

static void size_add(struct buf *out, int64_t bytes)
{
    char size[SIZE_TEXT_BYTES];
    buf_text(out, size_text(size, (uint64_t)bytes));
}

/* "step 2,204", or "position 2,204" of a schedule. */
static void step_add(const struct marginal *marginal, struct buf *out, uint32_t step)
{
    char number[COUNT_TEXT_BYTES];
    buf_format(out, "%s %s", marginal->space->unit == PLAN_UNIT_SCHEDULE ? "position" : "step",
               size_text_count(number, step));
}

/* "0.40 of its 2.00 GiB": in one unit, where that leaves a figure. */
static void part_add(struct buf *out, int64_t part, int64_t whole)
{
    char small[SIZE_TEXT_BYTES], large[SIZE_TEXT_BYTES];
    uint64_t unit_bytes = 1;
    while (unit_bytes <= (uint64_t)whole / 1024)
        unit_bytes *= 1024;
    size_text(large, (uint64_t)whole);
    size_text_coarse(small, (uint64_t)part, (uint64_t)part >= unit_bytes / 100 ? unit_bytes / 100 : 0);
    char *unit = strchr(small, ' ');
    const char *large_unit = strchr(large, ' ');
    if (unit != NULL && large_unit != NULL && strcmp(unit, large_unit) == 0)
        *unit = '\0';
    buf_format(out, "%s of its %s", part == 0 ? "nothing" : part == whole ? "all" : small, large);
}

/* What is left, and where. */
static void next_peak_add(const struct marginal *marginal, struct buf *out, const struct marginal_subject *subject,
                          const struct marginal_saving *saving)
{
    bool has_step = saving->next_peak_step != PLAN_NONE, is_all = saving->bytes == subject->bytes;
    if (is_all) {
        buf_text(out, "the peak is then ");
        size_add(out, saving->next_peak_bytes);
        if (has_step)
            buf_text(out, saving->next_peak_step == marginal->space->peak_step ? ", still at " : ", at ");
    } else {
        buf_text(out, saving->bytes == 0 ? "another peak of the same height is at " : "another peak is at ");
    }
    if (has_step)
        step_add(marginal, out, saving->next_peak_step);
}

void marginal_sentence(const struct marginal *marginal, const struct marginal_subject *subject,
                       const struct marginal_saving *saving, struct buf *out)
{
    const struct plan_space *space = marginal->space;
    out->length = 0;
    buf_text(out, "Cutting ");
    buf_printable(out, subject->name);
    if (subject->is_live_at_peak) {
        buf_text(out, subject->is_set ? " saves " : " alone saves ");
        part_add(out, saving->bytes, subject->bytes);
        buf_text(out, subject->is_set ? " at the peak: " : ": ");
        next_peak_add(marginal, out, subject, saving);
    } else {
        buf_format(out, " saves nothing: %s at the peak", subject->is_set ? "none of it is live" : "it is not live");
        if (space->has_peak_step) {
            buf_text(out, ", ");
            step_add(marginal, out, space->peak_step);
        }
    }
    buf_char(out, '.');
}

void marginal_formula(const struct marginal *marginal, const struct marginal_saving *saving, struct buf *out)
{
    out->length = 0;
    buf_text(out, "peak ");
    size_add(out, marginal->space->peak_bytes);
    buf_text(out, " \xE2\x88\x92 ");
    size_add(out, saving->next_peak_bytes);
    buf_text(out, ", the most that is live without it");
    if (saving->next_peak_step != PLAN_NONE) {
        buf_text(out, ", at ");
        step_add(marginal, out, saving->next_peak_step);
    }
    buf_text(out, ", = ");
    size_add(out, saving->bytes);
}

void marginal_reason(const struct marginal *marginal, const struct marginal_saving *saving, struct buf *out)
{
    out->length = 0;
    buf_text(out, marginal->space->unit == PLAN_UNIT_SCHEDULE
                      ? "Lifetimes come from the schedule, because there is no heap trace."
                      : "Exact for the live bytes of this program, if everything else stays as it is.");
    if (saving->next_peak_bytes > marginal->space->total_bytes)
        return;
    buf_text(out, " The total, with fragmentation, is then at least ");
    size_add(out, saving->next_peak_bytes);
    buf_text(out, "; how the compiler would pack the rest is not known.");
}
