/* SPDX-License-Identifier: Apache-2.0
 * evidence_make.c: where each figure of a verdict comes from, block by block; the last thing that is made of it. */
#include "verdict/advice.h"
#include "verdict/evidence.h"
#include "verdict/torch_join.h"
#include "verdict/torch_moment.h"
#include "verdict/unplanned.h"

#include "model/memory_profile/model.h"
#include "plan/pattern.h"

static const char lost[] = "fragmentation, and what lives at other times";

static bool is_total_of_plan(const struct verdict_facts *facts, int64_t bytes)
{
    return facts->space != NULL && bytes >= 0 && bytes == facts->total_bytes && facts->space->row_count > 0;
}

/* ---- 1 Did it fit? ---- */

static struct verdict_evidence needed_of(const struct verdict_facts *facts)
{
    int64_t bytes = facts->out->fit.needed_bytes;
    if (bytes < 0)
        return (struct verdict_evidence){.space = -1, .sum_bytes = -1};
    if (is_total_of_plan(facts, bytes))
        return evidence_live(facts, bytes, lost);
    if (torch_moment_is_failure(facts))
        return torch_figure_evidence(facts, TORCH_REQUESTED);
    if (torch_segments_is_needed(facts))
        return torch_segments_evidence(facts);
    if (facts->failure == NULL && facts->moment != NULL)
        return torch_moment_evidence(facts, CATEGORY_COUNT, bytes);
    return facts->failure != NULL ? evidence_text(facts, oom_figure_key(OOM_needed_bytes), bytes) : evidence_trace();
}

/* As a text prints it, else what it is worked out of. */
static struct verdict_evidence over_of(const struct verdict_facts *facts)
{
    const struct verdict_fit *fit = &facts->out->fit;
    const struct oom_meaning *said = facts->parts->failure;
    if (torch_moment_is_failure(facts))
        return fit->over_bytes < 0 ? (struct verdict_evidence){.space = -1, .sum_bytes = -1}
                                   : torch_figure_evidence(facts, TORCH_MISSING);
    if (said != NULL && said->over_key != NULL && said->is_over_known && (int64_t)said->over_bytes == fit->over_bytes)
        return evidence_text(facts, said->over_key, fit->over_bytes);
    if (facts->out->fits == VERDICT_FITS_YES || fit->over_bytes <= 0)
        return (struct verdict_evidence){.space = -1, .sum_bytes = -1};
    bool is_of_share = fit->share_bytes >= 0 && fit->needed_bytes - fit->share_bytes == fit->over_bytes;
    bool is_of_capacity = fit->capacity_bytes >= 0 && fit->needed_bytes - fit->capacity_bytes == fit->over_bytes;
    const char *less = is_of_share                            ? facts_size(facts, fit->share_bytes)
                       : is_of_capacity                       ? facts_size(facts, fit->capacity_bytes)
                       : said != NULL && said->is_limit_known ? facts_size(facts, (int64_t)said->limit_bytes)
                                                              : NULL;
    if (fit->needed_bytes < 0 || less == NULL)
        return evidence_difference("What was requested, minus what was available.");
    return evidence_difference(arena_format(facts->arena, "%s needed − %s %s = %s.",
                                            facts_size(facts, fit->needed_bytes), less,
                                            is_of_share      ? "that JAX takes by default"
                                            : is_of_capacity ? "of capacity"
                                                             : "that there were",
                                            facts_size(facts, fit->over_bytes)));
}

static struct verdict_evidence free_of(const struct verdict_facts *facts)
{
    const struct verdict_fit *fit = &facts->out->fit;
    if (torch_moment_is_failure(facts) && facts->moment->failure->device_free_bytes >= 0)
        return torch_figure_evidence(facts, TORCH_DEVICE_FREE);
    const struct verdict_evidence stated = evidence_text(facts, oom_figure_key(OOM_free_bytes), fit->free_bytes);
    if (stated.kind == VERDICT_EVIDENCE_TEXT || fit->free_bytes < 0 || fit->needed_bytes < 0)
        return stated;
    if (facts->out->fits != VERDICT_FITS_YES)
        return evidence_difference("More is needed than is available.");
    bool is_of_share = fit->share_bytes >= 0;
    return evidence_difference(arena_format(facts->arena, "%s %s − %s needed = %s.",
                                            facts_size(facts, is_of_share ? fit->share_bytes : fit->capacity_bytes),
                                            is_of_share ? "that JAX takes by default" : "of capacity",
                                            facts_size(facts, fit->needed_bytes), facts_size(facts, fit->free_bytes)));
}

static void fit_show(const struct verdict_facts *facts)
{
    struct verdict_fit *fit = &facts->out->fit;
    fit->needed = needed_of(facts);
    fit->capacity = evidence_capacity(facts);
    fit->over = over_of(facts);
    fit->free = free_of(facts);
}

/* ---- 2 Where did it all go? ---- */

static struct verdict_evidence fragmentation_of(const struct verdict_facts *facts)
{
    const struct plan_space *space = facts->space;
    return evidence_difference(arena_format(facts->arena, "The heap is %s, and at most %s of it are live at a time.",
                                            facts_size(facts, space->total_bytes - space->indefinite_bytes),
                                            facts_size(facts, space->heap.peak_bytes)));
}

static struct verdict_evidence of_plan(const struct verdict_facts *facts, const struct verdict_where *row)
{
    static const struct {
        const char *kind;
        enum plan_kind of;
    } kinds[] = {{"arguments", PLAN_PARAMETER},
                 {"outputs", PLAN_OUTPUT},
                 {"temporaries", PLAN_TEMPORARY},
                 {"constants", PLAN_CONSTANT}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(row->kind, kinds[i].kind) == 0)
            return evidence_kind(facts, kinds[i].of, row->bytes);
    return strcmp(row->kind, "fragmentation") == 0
               ? fragmentation_of(facts)
               : evidence_difference("What the rows above leave of the total of the plan.");
}

static struct verdict_evidence stretch_of(const struct verdict_facts *facts, const struct verdict_where *row)
{
    struct verdict_evidence evidence = {.kind = VERDICT_EVIDENCE_NONE};
    if (strcmp(row->source, "trace") == 0 && facts->moment != NULL && strcmp(row->kind, "reserved") == 0)
        return torch_segments_beside(facts);
    if (strcmp(row->source, "trace") == 0 && facts->moment != NULL)
        return torch_moment_evidence(facts, CATEGORY_COUNT, row->bytes);
    if (strcmp(row->source, "trace") == 0)
        return evidence_trace();
    if (strcmp(row->source, "plan") == 0)
        return of_plan(facts, row);
    if (strcmp(row->source, "device profile") == 0)
        return row->filter != NULL ? evidence_profile(facts, row->filter, row->bytes)
                                   : evidence_difference("Live arrays of the device profile, less the lines above.");
    if (row->key != NULL)
        evidence = evidence_text(facts, row->key, row->bytes);
    if (evidence.kind == VERDICT_EVIDENCE_TEXT)
        return evidence;
    if (strcmp(row->kind, "program") == 0)
        return evidence_difference(arena_format(facts->arena, "%s of the text − %s of the plan.",
                                                facts_size(facts, facts->out->fit.needed_bytes),
                                                facts_size(facts, facts->total_bytes)));
    return evidence_difference("What the other figures of the text leave of its total.");
}

static void where_show(const struct verdict_facts *facts)
{
    struct verdict *out = facts->out;
    for (uint32_t i = 0; i < out->where_count; i++)
        out->where[i].evidence = stretch_of(facts, &out->where[i]);
    out->where_evidence = out->where_bytes == out->fit.needed_bytes   ? out->fit.needed
                          : is_total_of_plan(facts, out->where_bytes) ? evidence_live(facts, out->where_bytes, lost)
                                                                      : evidence_difference("The sum of these rows.");
    for (uint32_t i = 0; i < out->category_count; i++) {
        enum category category;
        const char *name = out->categories[i].category;
        if (name != NULL && category_find(str_of(name), &category) && strcmp(out->categories[i].source, "trace") == 0)
            out->categories[i].evidence = torch_moment_evidence(facts, category, out->categories[i].bytes);
        else if (name != NULL && category_find(str_of(name), &category))
            out->categories[i].evidence = evidence_category(facts, category, out->categories[i].bytes);
        else
            out->categories[i].evidence = evidence_difference(
                arena_format(facts->arena, "%s in all − %s live at the peak.", facts_size(facts, out->where_bytes),
                             facts_size(facts, facts->space->peak_bytes)));
    }
}

/* ---- 3 What made the peak? ---- */

static void moment_show(const struct verdict_facts *facts)
{
    struct verdict *out = facts->out;
    out->peak = torch_moment_evidence(facts, CATEGORY_COUNT, out->peak_bytes);
    out->rest_bytes = out->peak_bytes;
    for (uint32_t i = 0; i < out->group_count; i++) {
        struct verdict_evidence *evidence = &out->groups[i].evidence;
        *evidence = torch_moment_evidence(facts, CATEGORY_COUNT, out->groups[i].bytes);
        evidence->filter =
            out->groups[i].source[0] == '\0'
                ? arena_format(facts->arena, "cat:%s", out->groups[i].category)
                : arena_format(facts->arena, "op:\"%s\" cat:%s", out->groups[i].source, out->groups[i].category);
        evidence->sum_bytes = out->groups[i].bytes;
        evidence->rest_bytes = 0;
        evidence->rest = NULL;
        out->rest_bytes -= out->groups[i].bytes;
    }
    out->rest = evidence_difference("Memory from before the recording that is freed in it, and lines with less.");
}

static void peak_show(const struct verdict_facts *facts)
{
    struct verdict *out = facts->out;
    if (out->peak_bytes <= 0)
        return;
    if (facts->space == NULL) {
        moment_show(facts);
        return;
    }
    out->peak = evidence_live(facts, out->peak_bytes, lost);
    for (uint32_t i = 0; i < out->pattern_count; i++) {
        const struct plan_pattern *pattern = &facts->space->patterns[i];
        out->patterns[i].evidence = evidence_pattern(facts, pattern, out->patterns[i].bytes);
        out->patterns[i].saves = evidence_pattern(facts, pattern, out->patterns[i].saves_bytes);
    }
    out->rest_bytes = out->peak_bytes;
    for (uint32_t i = 0; i < out->group_count; i++) {
        out->groups[i].evidence = evidence_group(facts, &out->groups[i]);
        out->rest_bytes -= out->groups[i].bytes;
    }
    out->rest = evidence_other_groups(facts);
}

/* ---- the ledger ---- */

static void ledger_show(const struct verdict_facts *facts)
{
    struct verdict_ledger *ledger = &facts->out->ledger;
    for (uint32_t i = 0; i < ledger->bar_count; i++) {
        struct verdict_bar *bar = &ledger->bars[i];
        bar->evidence = strcmp(bar->kind, "plan") == 0             ? evidence_live(facts, bar->bytes, lost)
                        : strcmp(bar->kind, "allocator_peak") == 0 ? evidence_trace()
                        : strcmp(bar->kind, "live_arrays") == 0
                            ? evidence_profile(facts, facts->live.array_filter, bar->bytes)
                            : evidence_profile(facts, facts->live.program_filter, bar->bytes);
    }
    ledger->capacity =
        facts->out->fit.capacity_bytes == ledger->capacity_bytes ? facts->out->fit.capacity : evidence_trace();
}

/* ---- the cause ---- */

static const struct plan_row *row_of(const struct plan_space *space, int64_t bytes)
{
    for (uint32_t i = 0; i < space->row_count; i++)
        if (space->rows[i].bytes == bytes && plan_row_is_alive(&space->rows[i], space->peak_step))
            return &space->rows[i];
    return NULL;
}

/* Evidence from the plan: the pattern, category or array that the cause is about. */
static bool cause_of_plan(const struct verdict_facts *facts, struct verdict_cause *cause)
{
    struct verdict *out = facts->out;
    const struct plan_row *row =
        (cause->kind == VERDICT_CAUSE_ONE_BUFFER || cause->kind == VERDICT_CAUSE_SCAN_OUTPUTS) && facts->space != NULL
            ? row_of(facts->space, cause->bytes)
            : NULL;
    for (uint32_t i = 0; i < out->pattern_count; i++)
        if (out->patterns[i].bytes == cause->bytes && strcmp(out->patterns[i].sentence, cause->text) == 0) {
            cause->evidence = out->patterns[i].evidence;
            return true;
        }
    for (uint32_t i = 0; i < out->category_count; i++)
        if (row == NULL && out->categories[i].category != NULL && out->categories[i].bytes == cause->bytes) {
            cause->evidence = out->categories[i].evidence;
            return true;
        }
    if (row != NULL)
        cause->evidence = evidence_row(facts, row, cause->bytes);
    return row != NULL;
}

static void cause_show(const struct verdict_facts *facts)
{
    struct verdict *out = facts->out;
    struct verdict_cause *cause = &out->cause;
    cause->evidence = (struct verdict_evidence){.space = -1, .sum_bytes = -1};
    if (facts->moment != NULL && cause->kind == VERDICT_CAUSE_FRAGMENTATION) {
        cause->evidence = facts->moment->segments.is_fragmented ? torch_segments_beside(facts)
                                                                : torch_figure_evidence(facts, TORCH_FREE);
        return;
    }
    if (cause->bytes < 0)
        return;
    if (facts->moment != NULL && torch_named_of_cause(facts) != TORCH_NAMED_COUNT) {
        cause->evidence = torch_named_evidence(facts, torch_named_of_cause(facts));
        return;
    }
    if (cause->kind == VERDICT_CAUSE_EARLIER_STEPS) {
        cause->evidence =
            evidence_difference("Saved activations, without those of the current pass and the one before it.");
        return;
    }
    if (cause_of_plan(facts, cause))
        return;
    if (cause->kind == VERDICT_CAUSE_EQUAL_ARRAYS || cause->kind == VERDICT_CAUSE_EXAMPLE_GRADIENTS ||
        cause->kind == VERDICT_CAUSE_TABLE_GRADIENTS || cause->kind == VERDICT_CAUSE_SCAN_INPUTS) {
        cause->evidence =
            evidence_difference("Rows of the Memory Viewer at the peak, added up: those of the shapes and "
                                "lines that the sentence names.");
        return;
    }
    if (facts->moment != NULL &&
        (cause->kind == VERDICT_CAUSE_ATTENTION_LOGITS || cause->kind == VERDICT_CAUSE_LOGITS)) {
        cause->evidence = evidence_difference("Blocks of the lines that call it, as memviewd whose lists them.");
        return;
    }
    if (unplanned_is_cause(facts)) {
        cause->evidence = evidence_difference(EVIDENCE_OF_SHAPES);
        return;
    }
    if (cause->kind == VERDICT_CAUSE_LEAK) {
        cause->evidence = evidence_profile(facts, NULL, cause->bytes);
        return;
    }
    for (uint32_t i = 0; i < out->ledger.bar_count; i++)
        if (out->ledger.bars[i].bytes == cause->bytes) {
            cause->evidence = out->ledger.bars[i].evidence;
            return;
        }
    for (int i = 0; facts->failure != NULL && i < OOM_FIGURE_COUNT; i++)
        if (facts_figure(facts, (enum oom_figure_at)i) == cause->bytes) {
            cause->evidence = evidence_text(facts, oom_figure_key((enum oom_figure_at)i), cause->bytes);
            return;
        }
    cause->evidence = cause->bytes == out->fit.needed_bytes ? out->fit.needed
                      : out->fit.free_bytes >= 0            ? evidence_difference("The capacity, less what was free.")
                                                            : evidence_difference("Computed from what the text lists.");
}

/* ---- 4 What will make it fit? ---- */

/* What the sentence of a piece of advice is about. */
static struct verdict_evidence open_of(const struct verdict_facts *facts, const struct verdict_advice *advice)
{
    const struct verdict *out = facts->out;
    const char *filter = advice->filter == NULL ? "" : advice->filter;
    if (torch_advice_is(advice)) {
        enum category category;
        bool is_of_one = str_starts(str_of(filter), STR("cat:")) && category_find(str_of(filter + 4), &category);
        return torch_moment_evidence(facts, is_of_one ? category : CATEGORY_COUNT,
                                     is_of_one ? facts->moment->sums[category].bytes : facts->moment->in_use_bytes);
    }
    for (uint32_t i = 0; i < out->pattern_count; i++)
        if (strcmp(filter, out->patterns[i].evidence.filter) == 0)
            return out->patterns[i].evidence;
    for (uint32_t i = 0; i < out->category_count; i++)
        if (out->categories[i].evidence.filter != NULL && strcmp(filter, out->categories[i].evidence.filter) == 0)
            return out->categories[i].evidence;
    if (advice->tool != NULL && strcmp(advice->tool, "device_memory") == 0)
        return advice->filter == NULL ? evidence_profile(facts, NULL, -1)
                                      : evidence_profile(facts, filter, advice_line_bytes(facts, filter));
    if (advice->change != NULL)
        return evidence_change(facts, advice->change);
    return evidence_text(facts, oom_figure_key(OOM_needed_bytes), facts_figure(facts, OOM_needed_bytes));
}

/* A change that saves just as much: what cannot be predicted itself saves no more than it. */
static const char *change_like(const struct verdict *out, const struct verdict_advice *advice)
{
    if (torch_advice_is(advice)) /* what was not replayed has a figure of its own */
        return advice->allocated_bytes < 0 ? NULL : advice->change;
    for (uint32_t i = 0; advice->change == NULL && i < out->advice_count; i++)
        if (out->advice[i].kind == advice->kind && out->advice[i].saves_bytes == advice->saves_bytes)
            if (out->advice[i].change != NULL)
                return out->advice[i].change;
    return advice->change;
}

static struct verdict_evidence saves_of(const struct verdict_facts *facts, const struct verdict_advice *advice)
{
    const struct verdict *out = facts->out;
    const char *change = change_like(out, advice);
    if (change != NULL)
        return evidence_change(facts, change);
    if (advice->saves_bytes <= 0)
        return (struct verdict_evidence){.space = -1, .sum_bytes = -1};
    if (advice->kind == VERDICT_ADVICE_RETURN_LESS && facts->space != NULL)
        return evidence_kind(facts, PLAN_OUTPUT, advice->saves_bytes);
    if (advice->kind == VERDICT_ADVICE_LEAK && facts->growth.grows)
        return evidence_profile(facts, NULL, advice->saves_bytes);
    if (advice->kind == VERDICT_ADVICE_LEAK && advice->filter != NULL &&
        advice->saves_bytes == advice_line_bytes(facts, advice->filter))
        return evidence_profile(facts, advice->filter, advice->saves_bytes);
    if (advice->saves_bytes == out->fit.over_bytes)
        return out->fit.over;
    return evidence_difference(advice->reason);
}

/* The replay takes what the plan does, but for allocations that it does not move. */
static struct verdict_evidence landing_of(const struct verdict_facts *facts, const char *change, int64_t bytes)
{
    struct verdict_evidence evidence = evidence_change(facts, change);
    if (facts->out->replayed_bytes < 0) /* of a recording: it is what the replay says */
        return evidence;
    evidence.rest_bytes = facts->total_bytes - facts->out->replayed_bytes;
    evidence.sum_bytes = bytes - evidence.rest_bytes;
    evidence.rest = evidence.rest_bytes == 0 ? NULL : "of the plan's total, which the replay leaves out";
    return evidence;
}

static struct verdict_evidence lands_of(const struct verdict_facts *facts, const struct verdict_advice *advice)
{
    const struct verdict_fit *fit = &facts->out->fit;
    const char *change = change_like(facts->out, advice);
    if (change != NULL)
        return landing_of(facts, change, advice->lands_at_bytes);
    if (advice->lands_at_bytes < 0)
        return (struct verdict_evidence){.space = -1, .sum_bytes = -1};
    if (advice->lands_at_bytes == fit->needed_bytes)
        return fit->needed;
    if (advice->lands_at_bytes == fit->capacity_bytes)
        return fit->capacity;
    return evidence_difference(arena_format(facts->arena, "%s needed − %s saved.", facts_size(facts, fit->needed_bytes),
                                            facts_size(facts, advice->saves_bytes)));
}

static void advice_show(const struct verdict_facts *facts)
{
    struct verdict *out = facts->out;
    for (uint32_t i = 0; i < out->advice_count; i++) {
        out->advice[i].open = open_of(facts, &out->advice[i]);
        out->advice[i].saves = saves_of(facts, &out->advice[i]);
        out->advice[i].lands = lands_of(facts, &out->advice[i]);
    }
}

/* All of the heap, as a text and its comparison with the plan call it. */
static void further_show(const struct verdict_facts *facts)
{
    const struct plan_space *space = facts->space;
    struct verdict *out = facts->out;
    if (space == NULL || out->peak_bytes <= 0 || space->total_bytes <= space->indefinite_bytes)
        return;
    struct verdict_mention *item = arena_array(facts->arena, struct verdict_mention, 1);
    struct verdict_evidence *evidence = arena_array(facts->arena, struct verdict_evidence, 1);
    item->bytes = space->total_bytes - space->indefinite_bytes;
    item->text = facts_size(facts, item->bytes);
    *evidence = evidence_kind(facts, PLAN_TEMPORARY, item->bytes);
    if (evidence->rest_bytes > 0)
        evidence->rest = lost;
    item->evidence = evidence;
    out->further = (struct verdict_mentions){item, 1};
}

void evidence_make(const struct verdict_facts *facts)
{
    fit_show(facts);
    where_show(facts);
    if (facts->join != NULL)
        torch_beside_show(facts);
    peak_show(facts);
    ledger_show(facts);
    cause_show(facts);
    advice_show(facts);
    further_show(facts);
    mentions_make(facts);
}
