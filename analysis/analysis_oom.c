/* SPDX-License-Identifier: Apache-2.0
 * analysis_oom.c: see analysis.h, "Capacity" and "Out-of-memory texts". */
#include "analysis.h"

#include "base/json.h"
#include "input/oom_capacity.h"
#include "input/oom_json.h"
#include "input/oom_scan.h"
#include "job.h"

#define TEXT_LIMIT_BYTES ((uint64_t)48 << 20)

struct capacity_question {
    struct str text;
    bool has_capacity;
    struct oom_capacity found;
};

static void capacity_find(struct job *job, const void *in, void *out, struct err *err)
{
    (void)in;
    struct capacity_question *question = out;
    question->has_capacity = oom_capacity_read(question->text, &job->arena, &question->found, err);
}

bool analysis_capacity_from_text(const char *text, size_t length, struct analysis_capacity *capacity)
{
    struct job job = {.gzip = NULL};
    struct err err = ERR_INIT;
    struct capacity_question question = {.text = {text, length}};
    arena_init(&job.arena, TEXT_LIMIT_BYTES, &err);
    job_try(&job, capacity_find, NULL, &question, &err);
    arena_free(&job.arena);
    if (err_is_set(&err) || !question.has_capacity)
        return false;
    const struct oom_capacity *found = &question.found;
    *capacity = (struct analysis_capacity){
        .space = found->space,
        .available_bytes = (uint64_t)found->available_bytes,
        .half_unit_bytes = (uint64_t)found->half_unit_bytes,
        .has_needed = found->needed_bytes >= 0,
        .needed_bytes = found->needed_bytes >= 0 ? (uint64_t)found->needed_bytes : 0,
        .offset = found->offset,
        .length = found->length,
    };
    return true;
}

/* ---- error texts ---- */

struct explaining {
    struct buf *out;
    struct analysis_explanation *explanation;
};

static void explain(struct job *job, const void *in, void *out, struct err *err)
{
    const struct explaining *explaining = in;
    struct oom_result result;
    (void)out;
    if (!oom_scan(job->source, &job->arena, &result, err))
        return;
    struct json json = JSON_INIT(explaining->out);
    oom_json_write(&json, &result);
    *explaining->explanation = (struct analysis_explanation){result.failure_count, result.left_out_count, result.report_line_count};
    if (explaining->out->failed)
        err_set(err, ERR_limit, ERR_NO_OFFSET, "the answer is larger than allowed");
}

bool analysis_explain(const struct source *source, struct buf *out, struct analysis_explanation *explanation, struct err *err)
{
    struct job job;
    struct explaining explaining = {out, explanation};
    *explanation = (struct analysis_explanation){0, 0, 0};
    if (!job_run(&job, source, TEXT_LIMIT_BYTES, explain, &explaining, NULL, err))
        return false;
    arena_free(&job.arena);
    return true;
}

const char *analysis_explain_looked_for(size_t at)
{
    return oom_looked_for(at);
}
