/* SPDX-License-Identifier: Apache-2.0
 * verdicts_read.c: one text, or the end of a long one, as far as a list wants to know it. */
#include "server/disk/verdicts.h"

#include "analysis/analysis.h"

#include <stdio.h>

static const uint64_t MAX_BYTES = (uint64_t)256 << 20;

static void copy_word(struct str text, char *word, size_t size)
{
    snprintf(word, size, "%.*s", text.data ? (int)text.length : 0, text.data ? text.data : "");
}

static int64_t known(uint64_t value, bool is_known) { return is_known && value <= INT64_MAX ? (int64_t)value : -1; }

static void fill(const struct oom_report *report, struct verdict *verdict)
{
    const struct oom_verdict *first = &report->verdicts[0];
    const struct oom_failure *failure = first->failure;
    const struct oom_figure *figures = failure->figures;
    *verdict = (struct verdict){
        .failure_count = report->found.failure_count,
        .needed_bytes = known(figures[OOM_needed_bytes].value, figures[OOM_needed_bytes].is_known),
        .capacity_bytes = known(figures[OOM_capacity_bytes].value, figures[OOM_capacity_bytes].is_known),
        .exceeded_bytes = known(figures[OOM_exceeded_bytes].value, figures[OOM_exceeded_bytes].is_known),
        .free_bytes = known(figures[OOM_free_bytes].value, figures[OOM_free_bytes].is_known),
        .largest_free_bytes = known(figures[OOM_largest_free_bytes].value, figures[OOM_largest_free_bytes].is_known),
        .limit_bytes = known(first->limit_bytes, first->is_limit_known),
        .over_bytes = known(first->over_bytes, first->is_over_known),
    };
    copy_word(str_of(analysis_oom_family_name(failure)), verdict->family, sizeof(verdict->family));
    const char *memory = analysis_oom_memory_name(failure);
    copy_word(str_of(memory ? memory : ""), verdict->memory_class, sizeof(verdict->memory_class));
    copy_word(str_of(failure->phase ? failure->phase : ""), verdict->phase, sizeof(verdict->phase));
    copy_word(failure->memory_space.text, verdict->memory_space, sizeof(verdict->memory_space));
    copy_word(failure->module.text, verdict->module, sizeof(verdict->module));
    copy_word(str_of(first->title), verdict->title, sizeof(verdict->title));
    copy_word(str_of(first->limit_phrase ? first->limit_phrase : ""), verdict->limit_phrase,
              sizeof(verdict->limit_phrase));
    copy_word(str_of(first->over_text ? first->over_text : ""), verdict->over_text, sizeof(verdict->over_text));
}

bool verdicts_read(const struct files_place *place, const atomic_bool *is_stopping, struct verdict *verdict,
                   struct err *err)
{
    struct file *file = files_open(place, err);
    if (!file)
        return false;
    const struct source *whole = files_source(file);
    bool is_long = whole->size_bytes > MAX_BYTES && !files_is_gzip(file);
    struct files_tail tail = {whole, is_long ? whole->size_bytes - MAX_BYTES : 0, is_stopping};
    struct source source = files_tail_source(&tail);
    const struct analysis_reading reading = {.kind = ANALYSIS_TEXT, .limit_bytes = ANALYSIS_TEXT_MAX_BYTES};
    struct analysis_subject *text = analysis_subject_read(&source, &reading, err);
    *verdict = (struct verdict){0};
    if (!text)
        files_tail_fail(&tail, err);
    else if (analysis_text_report(text)->found.failure_count > 0)
        fill(analysis_text_report(text), verdict);
    analysis_subject_free(text);
    files_close(file);
    return text != NULL;
}
