/* SPDX-License-Identifier: Apache-2.0
 * mentions.c: the sizes that stand in the sentences of a verdict, each with the evidence of the figure that is meant:
 * of the sentence's own figures first, then of the others of the verdict, those that decide before those that are
 * parts, and those as a text rounds them last. Where two parts that differ are printed alike, none is meant. */
#include "verdict/evidence.h"

#include "plan/pattern.h"
#include "plan/program_arrays.h"
#include "verdict/advice.h"
#include "verdict/torch_moment.h"

#include <ctype.h>
#include <stdlib.h>

enum { MENTIONS_MAX = 12, OWN_MAX = 20, ARRAY_SUMS = 6 };

enum rank { RANK_DECIDES, RANK_PART, RANK_OF_TEXT, RANK_COUNT };

struct mentions_known {
    const char *text;
    int64_t bytes;
    const struct verdict_evidence *evidence;
    enum rank rank;
    bool is_said; /* of the sentence's own: it was used once */
};

struct finder {
    const struct verdict_facts *facts;
    struct mentions_known *known, own[OWN_MAX];
    uint32_t count, capacity, own_count;
};

static void known_add(struct finder *finder, enum rank rank, int64_t bytes, const struct verdict_evidence *evidence)
{
    if (bytes < 0 || evidence->kind == VERDICT_EVIDENCE_NONE || finder->count == finder->capacity)
        return;
    finder->known[finder->count++] =
        (struct mentions_known){facts_size(finder->facts, bytes), bytes, evidence, rank, false};
}

static void own_add(struct finder *finder, int64_t bytes, const struct verdict_evidence *evidence)
{
    if (bytes >= 0 && evidence->kind != VERDICT_EVIDENCE_NONE && finder->own_count < OWN_MAX)
        finder->own[finder->own_count++] =
            (struct mentions_known){facts_size(finder->facts, bytes), bytes, evidence, RANK_DECIDES, false};
}

static const struct mentions_known *known_of(const struct finder *finder, struct str size, enum rank rank)
{
    const struct mentions_known *found = NULL;
    for (uint32_t i = 0; i < finder->count; i++) {
        const struct mentions_known *known = &finder->known[i];
        if (known->rank != rank || !str_equal(str_of(known->text), size))
            continue;
        if (found != NULL && rank != RANK_DECIDES && found->bytes != known->bytes)
            return NULL;
        if (found == NULL)
            found = known;
    }
    return found;
}

/* NULL: none. Among the sentence's own figures that read alike, the first that was not used yet. */
static const struct mentions_known *known_find(struct finder *finder, struct str size)
{
    const struct mentions_known *found = NULL;
    for (uint32_t i = 0; i < finder->own_count; i++) {
        struct mentions_known *own = &finder->own[i];
        if (!str_equal(str_of(own->text), size))
            continue;
        found = found != NULL ? found : own;
        if (!own->is_said) {
            own->is_said = true;
            return own;
        }
    }
    for (int rank = 0; rank < RANK_COUNT && found == NULL; rank++)
        found = known_of(finder, size, (enum rank)rank);
    return found;
}

/* "33.49 GiB" at the front of a text; length 0: there is none. */
static struct str size_at(const char *text)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t digits = strspn(text, "0123456789.");
    if (digits == 0 || text[digits] != ' ')
        return (struct str){text, 0};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t length = strlen(units[i]);
        if (strncmp(text + digits + 1, units[i], length) == 0 && !isalnum((unsigned char)text[digits + 1 + length]))
            return (struct str){text, digits + 1 + length};
    }
    return (struct str){text, 0};
}

/* Finds the figures of a sentence; its own figures were added before. */
static struct verdict_mentions mentions_find(struct finder *finder, const char *sentence)
{
    struct arena *arena = finder->facts->arena;
    struct verdict_mentions mentions = {.count = 0};
    mentions.items = arena_array(arena, struct verdict_mention, MENTIONS_MAX);
    for (const char *at = sentence; at != NULL && *at != '\0' && mentions.count < MENTIONS_MAX; at++) {
        if (!isdigit((unsigned char)*at) || (at > sentence && (isalnum((unsigned char)at[-1]) || at[-1] == '.')))
            continue;
        const struct str size = size_at(at);
        const struct mentions_known *known = size.length > 0 ? known_find(finder, size) : NULL;
        if (known != NULL)
            mentions.items[mentions.count++] = (struct verdict_mention){known->text, known->bytes, known->evidence};
        at += size.length > 0 ? size.length - 1 : 0;
    }
    finder->own_count = 0;
    return mentions;
}

/* For a program without a buffer assignment: no page shows more than the shapes of its arrays. */
static void arrays_add(struct finder *finder)
{
    const struct program_arrays *arrays = finder->facts->out->arrays;
    int64_t capacity = finder->facts->out->fit.capacity_bytes;
    struct verdict_evidence *evidence = arena_array(finder->facts->arena, struct verdict_evidence, 1);
    if (arrays == NULL)
        return;
    *evidence = evidence_difference(EVIDENCE_OF_SHAPES);
    const int64_t sums[ARRAY_SUMS] = {
        arrays->least_bytes,  arrays->argument_bytes,      arrays->result_bytes - arrays->shared_bytes,
        arrays->listed_bytes, arrays->fused_largest_bytes, capacity < 0 ? -1 : arrays->least_bytes - capacity};
    for (uint32_t i = 0; i < arrays->count; i++)
        known_add(finder, RANK_PART, arrays->items[i].bytes, evidence);
    for (int i = 0; i < ARRAY_SUMS; i++)
        known_add(finder, RANK_PART, sums[i] > 0 ? sums[i] : -1, evidence);
}

static void known_gather(struct finder *finder)
{
    const struct verdict *out = finder->facts->out;
    known_add(finder, RANK_DECIDES, out->fit.needed_bytes, &out->fit.needed);
    known_add(finder, RANK_DECIDES, out->fit.capacity_bytes, &out->fit.capacity);
    known_add(finder, RANK_DECIDES, out->fit.over_bytes, &out->fit.over);
    known_add(finder, RANK_DECIDES, out->fit.free_bytes, &out->fit.free);
    known_add(finder, RANK_DECIDES, out->peak_bytes > 0 ? out->peak_bytes : -1, &out->peak);
    known_add(finder, RANK_DECIDES, out->cause.bytes, &out->cause.evidence);
    for (uint32_t i = 0; i < out->ledger.bar_count; i++)
        known_add(finder, RANK_DECIDES, out->ledger.bars[i].bytes, &out->ledger.bars[i].evidence);
    for (uint32_t i = 0; i < out->category_count; i++)
        known_add(finder, RANK_PART, out->categories[i].bytes, &out->categories[i].evidence);
    for (uint32_t i = 0; i < out->where_count; i++)
        known_add(finder, RANK_PART, out->where[i].bytes, &out->where[i].evidence);
    for (uint32_t i = 0; i < out->pattern_count; i++)
        known_add(finder, RANK_PART, out->patterns[i].bytes, &out->patterns[i].evidence);
    arrays_add(finder);
    for (int i = 0; finder->facts->failure != NULL && i < OOM_FIGURE_COUNT; i++) {
        int64_t bytes = facts_figure(finder->facts, (enum oom_figure_at)i);
        struct verdict_evidence *evidence = arena_array(finder->facts->arena, struct verdict_evidence, 1);
        *evidence = evidence_text(finder->facts, oom_figure_key((enum oom_figure_at)i), bytes);
        known_add(finder, RANK_OF_TEXT, bytes, evidence);
    }
}

static void row_add(struct finder *finder, const struct plan_row *row, int64_t bytes, bool is_padding)
{
    struct verdict_evidence *evidence = arena_array(finder->facts->arena, struct verdict_evidence, 1);
    *evidence = is_padding ? evidence_padding(finder->facts, row) : evidence_row(finder->facts, row, bytes);
    own_add(finder, bytes, evidence);
}

/* "13 × 2.00 GiB": of one of the largest; of padding also what the array takes, and what it would take without. */
static void largest_add(struct finder *finder, const struct plan_pattern *pattern)
{
    const struct plan_row *row = &finder->facts->space->rows[pattern->rows[0]];
    if (pattern->kind == PATTERN_PADDING && row->unpadded_bytes >= 0) {
        row_add(finder, row, row->bytes - row->unpadded_bytes, true);
        row_add(finder, row, row->unpadded_bytes, false);
    }
    row_add(finder, row, row->bytes, false);
}

/* That a sentence, or the rows beside it, are of; NULL. */
static const struct plan_pattern *pattern_said(const struct verdict_facts *facts, const char *sentence,
                                               const struct verdict_evidence *evidence)
{
    const struct verdict *out = facts->out;
    for (uint32_t i = 0; i < out->pattern_count; i++)
        if (strcmp(out->patterns[i].sentence, sentence) == 0 ||
            (evidence->filter != NULL && strcmp(evidence->filter, out->patterns[i].evidence.filter) == 0))
            return &facts->space->patterns[i];
    return NULL;
}

static struct verdict_mentions find_in(struct finder *finder, const char *sentence, int64_t bytes,
                                       const struct verdict_evidence *evidence)
{
    const struct plan_pattern *pattern = pattern_said(finder->facts, sentence, evidence);
    own_add(finder, bytes, evidence);
    if (evidence->step != NULL)
        own_add(finder, finder->facts->out->peak_bytes, &finder->facts->out->peak);
    if (pattern != NULL && pattern->row_count > 0)
        largest_add(finder, pattern);
    return mentions_find(finder, sentence);
}

/* Figures of a moment in the order of a sentence, up to TORCH_FIGURES. One that stands beside another may be written as
 * bytes. */
static void moment_add(struct finder *finder, const enum torch_figure *figures)
{
    const struct verdict_facts *facts = finder->facts;
    const int64_t in_use = torch_figure_bytes(facts, TORCH_IN_USE), largest = torch_figure_bytes(facts, TORCH_LARGEST);
    for (; *figures != TORCH_FIGURES; figures++) {
        int64_t bytes = torch_figure_bytes(facts, *figures);
        struct verdict_evidence *evidence = arena_array(facts->arena, struct verdict_evidence, 1);
        *evidence = torch_figure_evidence(facts, *figures);
        own_add(finder, bytes, evidence);
        if (bytes >= 0 && (*figures == TORCH_IN_USE || *figures == TORCH_LARGEST) && finder->own_count > 0)
            finder->own[finder->own_count - 1].text =
                facts_size_beside(facts, bytes, *figures == TORCH_IN_USE ? largest : in_use);
    }
}

/* Those of the sentences that torch_moment, cause and torch_advice write. */
static void moment_add_all(struct finder *finder)
{
    static const enum torch_figure of_failure[] = {TORCH_REQUESTED, TORCH_DEVICE_FREE, TORCH_FREE,
                                                   TORCH_RESERVED,  TORCH_HOLE,        TORCH_MISSING,
                                                   TORCH_IN_USE,    TORCH_LARGEST,     TORCH_FIGURES},
                                   of_peak[] = {TORCH_IN_USE, TORCH_IN_USE, TORCH_LARGEST, TORCH_FIGURES};
    moment_add(finder, finder->facts->moment->failure != NULL ? of_failure : of_peak);
}

static const enum torch_figure of_cause[] = {TORCH_FREE, TORCH_REQUESTED, TORCH_HOLE, TORCH_FIGURES},
                               of_pieces[] = {TORCH_REQUESTED, TORCH_FREE, TORCH_HOLE, TORCH_FIGURES},
                               of_fit[] = {TORCH_REQUESTED, TORCH_DEVICE_FREE, TORCH_FREE, TORCH_HOLE, TORCH_FIGURES},
                               of_free[] = {TORCH_FREE, TORCH_FIGURES};

static bool is_of_failure(const struct verdict_facts *facts)
{
    return facts->moment != NULL && facts->moment->failure != NULL;
}

/* For the sentence on one run of a program that fit.c writes. */
static void plan_add(struct finder *finder)
{
    static const enum plan_kind kinds[] = {PLAN_PARAMETER, PLAN_OUTPUT, PLAN_TEMPORARY};
    const struct verdict_facts *facts = finder->facts;
    const struct plan_space *space = facts->space;
    if (facts->failure == NULL || facts->is_compile || space == NULL || facts->total_bytes <= 0)
        return;
    const int64_t bytes[] = {space->parameter_bytes, facts_outputs_bytes(space),
                             space->total_bytes - space->indefinite_bytes};
    struct verdict_evidence *evidence = arena_array(facts->arena, struct verdict_evidence, 4);
    evidence[3] = evidence_live(facts, facts->total_bytes, "fragmentation, and what lives at other times");
    own_add(finder, facts->total_bytes, &evidence[3]);
    for (int i = 0; i < 3; i++) {
        evidence[i] = evidence_kind(facts, kinds[i], bytes[i]);
        own_add(finder, bytes[i], &evidence[i]);
    }
}

void mentions_make(const struct verdict_facts *facts)
{
    struct verdict *out = facts->out;
    uint32_t capacity = 7 + PROGRAM_ARRAYS_MAX + ARRAY_SUMS + out->category_count + out->where_count +
                        out->pattern_count + out->ledger.bar_count + OOM_FIGURE_COUNT;
    struct finder finder = {
        .facts = facts, .known = arena_array(facts->arena, struct mentions_known, capacity), .capacity = capacity};
    known_gather(&finder);
    if (torch_moment_is_failure(facts))
        moment_add(&finder, of_fit);
    plan_add(&finder);
    out->fit.mentions = mentions_find(&finder, out->fit.sentence);
    if (is_of_failure(facts) && out->cause.kind == VERDICT_CAUSE_FRAGMENTATION)
        moment_add(&finder, of_cause);
    out->cause.mentions = find_in(&finder, out->cause.text, out->cause.bytes, &out->cause.evidence);
    for (uint32_t i = 0; i < out->pattern_count; i++)
        out->patterns[i].mentions =
            find_in(&finder, out->patterns[i].sentence, out->patterns[i].bytes, &out->patterns[i].evidence);
    for (uint32_t i = 0; i < out->advice_count; i++) {
        struct verdict_advice *advice = &out->advice[i];
        int64_t bytes = advice->open.sum_bytes < 0 ? -1 : advice->open.sum_bytes + advice->open.rest_bytes;
        if (is_of_failure(facts) && torch_advice_is(advice) && advice->kind == VERDICT_ADVICE_FRAGMENTATION)
            moment_add(&finder, of_pieces);
        advice->mentions = find_in(&finder, advice->evidence, bytes, &advice->open);
    }
    out->ledger.mentions = mentions_find(&finder, out->ledger.sentence);
    if (is_of_failure(facts))
        moment_add(&finder, of_free);
    out->arrays_mentions = mentions_find(&finder, out->arrays_sentence);
    out->advice_mentions = mentions_find(&finder, out->advice_sentence);
    if (facts->moment != NULL && facts->space == NULL)
        moment_add_all(&finder);
    out->mentions = mentions_find(&finder, out->sentence);
}
