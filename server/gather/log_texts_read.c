/* SPDX-License-Identifier: Apache-2.0
 * log_texts_read.c: one text, or the end of a long one, as far as a list wants to know it. */
#include "server/gather/log_texts.h"

#include "analysis/analysis.h"

#include <stdio.h>

static const uint64_t MAX_BYTES = (uint64_t)256 << 20;

static void copy_word(struct str text, char *word, size_t size)
{
    snprintf(word, size, "%.*s", text.data ? (int)text.length : 0, text.data ? text.data : "");
}

static int64_t log_texts_read_known(uint64_t value, bool is_known)
{
    return is_known && value <= INT64_MAX ? (int64_t)value : -1;
}

static void log_texts_read_fill(const struct oom_report *report, struct log_text_failure *out)
{
    const struct oom_meaning *first = &report->meanings[0];
    const struct oom_failure *failure = first->failure;
    const struct oom_figure *figures = failure->figures;
    *out = (struct log_text_failure){
        .failure_count = report->found.failure_count,
        .needed_bytes = log_texts_read_known(figures[OOM_needed_bytes].value, figures[OOM_needed_bytes].is_known),
        .capacity_bytes = log_texts_read_known(figures[OOM_capacity_bytes].value, figures[OOM_capacity_bytes].is_known),
        .exceeded_bytes = log_texts_read_known(figures[OOM_exceeded_bytes].value, figures[OOM_exceeded_bytes].is_known),
        .free_bytes = log_texts_read_known(figures[OOM_free_bytes].value, figures[OOM_free_bytes].is_known),
        .largest_free_bytes =
            log_texts_read_known(figures[OOM_largest_free_bytes].value, figures[OOM_largest_free_bytes].is_known),
        .limit_bytes = log_texts_read_known(first->limit_bytes, first->is_limit_known),
        .over_bytes = log_texts_read_known(first->over_bytes, first->is_over_known),
    };
    for (size_t at = 0; at < report->found.failure_count; at++)
        out->may_be_of_xla |= analysis_verdict_may_be_of_xla(&report->meanings[at]);
    copy_word(str_of(analysis_oom_family_name(failure)), out->family, sizeof(out->family));
    const char *memory = analysis_oom_memory_name(failure);
    copy_word(str_of(memory ? memory : ""), out->memory_class, sizeof(out->memory_class));
    copy_word(str_of(failure->phase ? failure->phase : ""), out->phase, sizeof(out->phase));
    copy_word(failure->memory_space.text, out->memory_space, sizeof(out->memory_space));
    copy_word(failure->module.text, out->module, sizeof(out->module));
    copy_word(str_of(first->title), out->title, sizeof(out->title));
    copy_word(str_of(first->limit_phrase ? first->limit_phrase : ""), out->limit_phrase, sizeof(out->limit_phrase));
    copy_word(str_of(first->over_text ? first->over_text : ""), out->over_text, sizeof(out->over_text));
}

bool log_texts_read(const struct files_place *place, const atomic_bool *is_stopping, struct log_text_failure *failure,
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
    *failure = (struct log_text_failure){0};
    if (!text)
        files_tail_fail(&tail, err);
    else if (analysis_text_report(text)->found.failure_count > 0)
        log_texts_read_fill(analysis_text_report(text), failure);
    analysis_subject_free(text);
    files_close(file);
    return text != NULL;
}
