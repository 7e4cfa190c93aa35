/* SPDX-License-Identifier: Apache-2.0
 * pattern.c: see pattern.h. */
#include "plan/pattern.h"

#include "base/size_text.h"
#include "base/sum.h"
#include "plan/describe.h"
#include "plan/pattern_rules.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name, *words, *rule, *gone;
} patterns[] = {
#define PATTERN(constant, name, words, rule, gone) {name, words, rule, gone},
#include "plan/pattern.def"
#undef PATTERN
};

const char *pattern_name(enum pattern_kind kind) { return patterns[kind].name; }
const char *pattern_words(enum pattern_kind kind) { return patterns[kind].words; }
const char *pattern_rule(enum pattern_kind kind) { return patterns[kind].rule; }
const char *pattern_gone(enum pattern_kind kind) { return patterns[kind].gone; }

/* In percent of the peak: what is reported, and the least for saved activations and padding. */
enum { TOLD_PERCENT = 1, SAVED_PERCENT = 25, PADDING_PERCENT = 2 };
/* Spaces of flags or registers have no patterns worth reporting. */
enum { TOLD_BYTES_MIN = 4096 };

/* what is reported */

struct sized {
    int64_t bytes;
    uint32_t row;
    uint8_t category;
};

static int by_size(const void *left, const void *right)
{
    const struct sized *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: ORDER(a->category, b->category) ?: ORDER(a->row, b->row);
}

static uint64_t percent_of(int64_t bytes, int64_t whole)
{
    return whole > 0 && bytes > 0 ? (uint64_t)((unsigned __int128)bytes * 100 / (uint64_t)whole) : 0;
}

static bool is_told(const struct pattern_finding *finding, enum pattern_kind kind, int64_t bytes, uint64_t elements,
                    uint32_t matrix_count)
{
    uint64_t percent = bytes < TOLD_BYTES_MIN ? 0 : percent_of(bytes, finding->space->peak_bytes);
    switch (kind) {
    case PATTERN_SAVED_ACTIVATIONS: return percent >= SAVED_PERCENT;
    case PATTERN_PADDING: return percent >= PADDING_PERCENT;
    case PATTERN_ALL_GRADIENTS:
        return percent >= TOLD_PERCENT && matrix_count > 1 &&
               (elements > finding->parameter_elements / 2 || matrix_count > finding->matrix_count / 2);
    default: return percent >= TOLD_PERCENT;
    }
}

/* ---- the sentence ---- */

enum { ARRAY_TEXT_BYTES = 320 };

/* "bf16[16,16,2048,2048]"; "" of what is no array. */
static void array_text(const struct plan *plan, const struct plan_row *row, char text[ARRAY_TEXT_BYTES])
{
    struct shape_array shape;
    struct buf whole = BUF_INIT;
    text[0] = '\0';
    if (row->buffer_at == PLAN_NONE || !shape_array_read(plan->shapes[row->buffer_at], &shape))
        return;
    shape_text(plan->shapes[row->buffer_at], false, &whole);
    if (whole.data != NULL)
        snprintf(text, ARRAY_TEXT_BYTES, "%.*s", (int)whole.length, whole.data);
    buf_free(&whole);
}

/* "13 × 2.00 GiB bf16[16,16,2048,2048] and smaller ones"; of one alone, whose size was said, the shape. */
static const char *largest_of(const struct pattern_finding *finding, const struct sized *sized, uint32_t count)
{
    char size[SIZE_TEXT_BYTES], number[COUNT_TEXT_BYTES], shape[ARRAY_TEXT_BYTES], other[ARRAY_TEXT_BYTES];
    uint32_t alike_count = 0, equal_count = 0;
    array_text(finding->plan, &finding->space->rows[sized[0].row], shape);
    if (count == 1)
        return arena_format(finding->arena, "%s%s", shape[0] == '\0' ? "" : ": ", shape);
    for (; equal_count < count && sized[equal_count].bytes == sized[0].bytes; equal_count++) {
        array_text(finding->plan, &finding->space->rows[sized[equal_count].row], other);
        alike_count += strcmp(shape, other) == 0;
    }
    return arena_format(finding->arena, ": %s%s%s%s%s%s", alike_count == 1 ? "" : size_text_count(number, alike_count),
                        alike_count == 1 ? "" : " × ", size_text(size, (uint64_t)sized[0].bytes),
                        shape[0] == '\0' ? "" : " ", shape,
                        alike_count < equal_count ? " and others"
                        : equal_count < count     ? " and smaller ones"
                                                  : "");
}

static struct describe_source source_of(const struct pattern_finding *finding, const struct sized *sized)
{
    const struct plan_row *row = &finding->space->rows[sized->row];
    const uint32_t read[] = {row->named_by, row->buffer_at == PLAN_NONE
                                                ? HLO_NONE
                                                : finding->plan->hlo.buffers[row->buffer_at].instruction_at};
    for (int i = 0; i < 2; i++)
        if (read[i] != HLO_NONE)
            arena_work(finding->arena, finding->plan->hlo.instructions[read[i]].length);
    struct hlo_detail detail = describe_origin(finding->plan, row);
    return describe_source(&finding->plan->hlo, &detail);
}

/* ", models.py:11", where the largest is made; "and elsewhere" if others are made at other lines. */
static const char *place_of(const struct pattern_finding *finding, const struct sized *sized, uint32_t count)
{
    const struct describe_source source = source_of(finding, &sized[0]);
    struct str file = str_last_part(source.file);
    bool is_one_place = true;
    if (source.line <= 0)
        return "";
    for (uint32_t i = 1; i < count && is_one_place; i++) {
        const struct describe_source other = source_of(finding, &sized[i]);
        is_one_place = other.line <= 0 || (other.line == source.line && str_equal(other.file, source.file));
    }
    return arena_format(finding->arena, ", %.*s:%lld%s", (int)file.length, file.data, (long long)source.line,
                        is_one_place ? "" : " and elsewhere");
}

/* "Attention scores hold 26.00 GiB at the peak, 78 % of it: 13 × 2.00 GiB bf16[16,16,2048,2048], models.py:11." */
static const char *sentence_of(const struct pattern_finding *finding, enum pattern_kind kind, const struct sized *sized,
                               uint32_t count, int64_t bytes)
{
    char size[SIZE_TEXT_BYTES], share[SHARE_TEXT_BYTES];
    bool is_one = kind == PATTERN_PADDING || kind == PATTERN_MASK || kind == PATTERN_SCAN_RESIDUALS;
    return arena_format(finding->arena, "%s hold%s %s at the peak, %s of it%s%s.",
                        describe_capital(pattern_words(kind), finding->arena), is_one ? "s" : "",
                        size_text(size, (uint64_t)bytes), size_text_share(share, bytes, finding->space->peak_bytes),
                        largest_of(finding, sized, count), place_of(finding, sized, count));
}

/* ---- finding them ---- */

static void kind_find(struct pattern_finding *finding, enum pattern_kind kind, struct sized *room)
{
    struct plan_space *space = finding->space;
    int64_t bytes = 0;
    uint64_t elements = 0;
    uint32_t count = 0, matrix_count = 0;
    for (uint32_t i = 0; i < finding->live_count; i++) {
        const struct pattern_live *live = &finding->live[i];
        const struct plan_row *row = live->row;
        if (!pattern_rules_take(finding, kind, live))
            continue;
        int64_t held = kind == PATTERN_PADDING ? row->bytes - row->unpadded_bytes : row->bytes;
        int64_t element_count = live->has_shape ? shape_array_elements(&live->shape) : 0;
        matrix_count += live->has_shape && live->shape.rank > 1;
        bytes = sum_add(bytes, held);
        elements += element_count < INT64_MAX ? (uint64_t)element_count : 0;
        room[count++] = (struct sized){held, (uint32_t)(row - space->rows), row->choice.category};
    }
    if (!is_told(finding, kind, bytes, elements, matrix_count))
        return;
    qsort(room, count, sizeof(*room), by_size);
    struct plan_pattern *pattern = &space->patterns[space->pattern_count++];
    *pattern = (struct plan_pattern){.kind = (uint8_t)kind, .bytes = bytes, .row_count = count};
    pattern->rows = arena_array(finding->arena, uint32_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        pattern->rows[i] = room[i].row;
        space->rows[room[i].row].patterns |= 1u << kind;
    }
    pattern->sentence = sentence_of(finding, kind, room, count, bytes);
}

const char *pattern_remark(const struct plan *plan, const struct plan_space *space, struct arena *arena)
{
    if (space->pattern_count > 0)
        return "A change may save less than a pattern holds.";
    if (plan->graph == NULL)
        return "Patterns are found in the instructions of the program, which this file does not have.";
    return arena_format(arena, "No pattern holds %d %% of the peak. %d are looked for: %s, %s, %s, %s, …", TOLD_PERCENT,
                        PATTERN_COUNT, pattern_words(PATTERN_LOGITS), pattern_words(PATTERN_ATTENTION_SCORES),
                        pattern_words(PATTERN_NO_DONATION), pattern_words(PATTERN_PADDING));
}

static int by_bytes(const void *left, const void *right)
{
    const struct plan_pattern *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: ORDER(a->kind, b->kind);
}

static void live_collect(struct pattern_finding *finding)
{
    const struct plan_space *space = finding->space;
    finding->live_count = 0;
    for (uint32_t i = 0; i < space->row_count; i++)
        if (plan_row_is_alive(&space->rows[i], space->peak_step))
            pattern_facts_live(finding, &space->rows[i], &finding->live[finding->live_count++]);
}

void pattern_find_all(struct plan *plan, struct value_walk *walk, struct arena *arena, struct arena *scratch)
{
    struct pattern_finding finding = {
        .plan = plan, .graph = plan->graph, .walk = walk, .arena = arena, .scratch = scratch};
    pattern_facts_collect(&finding);
    for (uint32_t i = 0; i < plan->space_count; i++) {
        struct plan_space *space = finding.space = &plan->spaces[i];
        struct sized *room = arena_array(scratch, struct sized, (size_t)space->live_at_peak_count + 1);
        finding.live = arena_array(scratch, struct pattern_live, (size_t)space->live_at_peak_count + 1);
        space->patterns = arena_array(arena, struct plan_pattern, PATTERN_COUNT);
        live_collect(&finding);
        for (int kind = 0; kind < PATTERN_COUNT; kind++)
            kind_find(&finding, (enum pattern_kind)kind, room);
        qsort(space->patterns, space->pattern_count, sizeof(*space->patterns), by_bytes);
    }
}
