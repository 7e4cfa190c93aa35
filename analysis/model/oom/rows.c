/* SPDX-License-Identifier: Apache-2.0
 * rows.c: the figures of a failure with their names: on the page whether it did fit and what else the text states, on a
 * terminal all of them. */
#include "model/oom/meaning.h"

static const struct {
    const char *line, *word;
} names[] = {
#define FIGURE(name, line, word) {line, word},
#include "read/oom/figures.def"
#undef FIGURE
};

const char *oom_rows_allocated_word(const struct oom_failure *failure)
{
    bool is_torch = failure->family == OOM_FAMILY_torch_gpu || failure->family == OOM_FAMILY_torch_mps;
    return is_torch ? names[OOM_allocated_bytes].word : "allocated";
}

/* Of a buffer assignment some are figures of another kind than in a compiler's report. */
static const char *word_of(const struct oom_failure *failure, enum oom_figure_at at)
{
    if (at == OOM_others_bytes && failure->family == OOM_FAMILY_torch_mps)
        return "other allocations";
    if (at == OOM_allocated_bytes)
        return oom_rows_allocated_word(failure);
    if (!oom_has_assignment(failure))
        return names[at].word;
    return at == OOM_program_bytes         ? "temporaries"
           : at == OOM_fragmentation_bytes ? "fragmentation of the whole plan"
                                           : names[at].word;
}

static const char *line_of(const struct oom_failure *failure, enum oom_figure_at at)
{
    if (at == OOM_others_bytes && failure->family == OOM_FAMILY_torch_mps)
        return "other allocations";
    if (at == OOM_allocated_bytes)
        return oom_rows_allocated_word(failure);
    return at == OOM_program_bytes && oom_has_assignment(failure) ? "temporaries" : names[at].line;
}

static void row_add(struct oom_row *rows, size_t *count, const struct oom_failure *failure, enum oom_figure_at at)
{
    const struct oom_figure *figure = oom_figure(failure, at);
    if (figure != NULL)
        rows[(*count)++] = (struct oom_row){.word = word_of(failure, at),
                                            .line = line_of(failure, at),
                                            .key = oom_figure_key(at),
                                            .bytes = figure->value,
                                            .after = ""};
}

static void over_add(struct oom_row *rows, size_t *count, const struct oom_meaning *meaning)
{
    if (meaning->is_over_known)
        rows[(*count)++] = (struct oom_row){.word = oom_is_compile(meaning->failure) ? "over by" : "short by",
                                            .line = "over by",
                                            .key = meaning->over_key,
                                            .text = meaning->over_text,
                                            .after = meaning->over_key != NULL ? "" : "the difference",
                                            .bytes = meaning->over_bytes,
                                            .is_over = true};
}

static bool has_row(const struct oom_row *rows, size_t count, enum oom_figure_at at)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].key == oom_figure_key(at))
            return true;
    return false;
}

static bool is_in_bar(const struct oom_bar *bar, enum oom_figure_at at)
{
    for (size_t i = 0; i < bar->count; i++)
        if (bar->stretches[i].key == oom_figure_key(at) || bar->stretches[i].lost_key == oom_figure_key(at))
            return true;
    return bar->limit_key == oom_figure_key(at);
}

void oom_rows_set(struct oom_meaning *meaning, struct arena *arena)
{
    static const enum oom_figure_at fit[] = {OOM_needed_bytes, OOM_capacity_bytes, OOM_free_bytes, OOM_available_bytes,
                                             OOM_largest_free_bytes};
    static const enum oom_figure_at others[] = {
        OOM_total_bytes,       OOM_program_bytes,       OOM_requirement_bytes,
        OOM_arguments_bytes,   OOM_output_bytes,        OOM_shared_bytes,
        OOM_reserved_bytes,    OOM_fragmentation_bytes, OOM_temporary_fragmentation_bytes,
        OOM_available_bytes,   OOM_free_bytes,          OOM_allocated_bytes,
        OOM_unallocated_bytes, OOM_process_bytes,       OOM_others_bytes,
        OOM_peak_bytes};
    static const enum oom_figure_at before_over[] = {OOM_needed_bytes, OOM_capacity_bytes, OOM_available_bytes,
                                                     OOM_free_bytes, OOM_largest_free_bytes};
    static const enum oom_figure_at after_over[] = {OOM_program_bytes,
                                                    OOM_arguments_bytes,
                                                    OOM_output_bytes,
                                                    OOM_shared_bytes,
                                                    OOM_reserved_bytes,
                                                    OOM_fragmentation_bytes,
                                                    OOM_temporary_fragmentation_bytes,
                                                    OOM_allocated_bytes,
                                                    OOM_unallocated_bytes,
                                                    OOM_process_bytes,
                                                    OOM_others_bytes,
                                                    OOM_peak_bytes,
                                                    OOM_total_bytes};
    const struct oom_failure *failure = meaning->failure;
    bool is_compile = oom_is_compile(failure);
    for (size_t i = 0; i < sizeof(fit) / sizeof(fit[0]); i++)
        if (!is_compile || (fit[i] != OOM_free_bytes && fit[i] != OOM_available_bytes))
            row_add(meaning->rows, &meaning->row_count, failure, fit[i]);
    for (size_t i = 0; is_compile && i < meaning->row_count; i++)
        if (meaning->rows[i].key == oom_figure_key(OOM_capacity_bytes))
            meaning->rows[i].after = oom_space_name(failure, arena);
    over_add(meaning->rows, &meaning->row_count, meaning);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (!has_row(meaning->rows, meaning->row_count, others[i]) && !is_in_bar(&meaning->bar, others[i]))
            row_add(meaning->others, &meaning->other_count, failure, others[i]);
    for (size_t i = 0; i < sizeof(before_over) / sizeof(before_over[0]); i++)
        row_add(meaning->lines, &meaning->line_count, failure, before_over[i]);
    over_add(meaning->lines, &meaning->line_count, meaning);
    for (size_t i = 0; i < sizeof(after_over) / sizeof(after_over[0]); i++)
        row_add(meaning->lines, &meaning->line_count, failure, after_over[i]);
}
