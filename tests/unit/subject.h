/* SPDX-License-Identifier: Apache-2.0
 * subject.h: subjects of analysis.h, read and asked in one line. */
#pragma once

#include "analysis/analysis.h"

static inline struct analysis_subject *subject_module(const struct source *source,
                                                      const struct analysis_program *program, uint64_t limit_bytes,
                                                      struct err *report)
{
    const struct analysis_reading reading = {.kind = ANALYSIS_MODULE, .program = program, .limit_bytes = limit_bytes};
    return analysis_subject_read(source, &reading, report);
}

static inline struct analysis_subject *subject_trace(const struct source *source, const struct workers *workers,
                                                     uint64_t limit_bytes, struct err *report)
{
    const struct analysis_reading reading = {.kind = ANALYSIS_TRACE, .workers = workers, .limit_bytes = limit_bytes};
    return analysis_subject_read(source, &reading, report);
}

static inline struct analysis_subject *subject_profile(const struct source *source, uint64_t limit_bytes,
                                                       struct err *report)
{
    const struct analysis_reading reading = {.kind = ANALYSIS_PROFILE, .limit_bytes = limit_bytes};
    return analysis_subject_read(source, &reading, report);
}

static inline struct analysis_subject *subject_text(const struct source *source, bool with_mentions, struct err *report)
{
    const struct analysis_reading reading = {
        .kind = ANALYSIS_TEXT, .with_mentions = with_mentions, .limit_bytes = ANALYSIS_TEXT_MAX_BYTES};
    return analysis_subject_read(source, &reading, report);
}

static inline bool subject_answer(const struct analysis_subject *subject, const char *tool, const char *view,
                                  const struct analysis_param *params, size_t param_count, struct buf *out,
                                  struct err *report)
{
    const struct analysis_use use = {.subject = subject};
    const struct analysis_question question = {
        .tool = tool, .view = view, .uses = &use, .use_count = 1, .params = params, .param_count = param_count};
    return analysis_answer(&question, out, report);
}
