/* SPDX-License-Identifier: Apache-2.0
 * analysis_oom.c: see analysis.h, "Capacity" and "Out-of-memory texts". */
#include "analysis.h"

#include "base/json.h"
#include "input/oom_capacity.h"
#include "input/oom_json.h"
#include "input/oom_mentions.h"
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
    const char *space = result.usage.memory_space.text.data;
    *explaining->explanation = (struct analysis_explanation){
        .failure_count = result.failure_count,
        .left_out_count = result.left_out_count,
        .report_line_count = result.report_line_count,
        .has_usage = result.usage.used.is_known && result.usage.capacity.is_known,
        .usage_bytes = result.usage.used.value,
        .capacity_bytes = result.usage.capacity.value,
        .usage_space = space,
        .size_bytes = result.size_bytes,
        .encoding = result.encoding,
    };
    if (explaining->out->failed)
        err_set(err, ERR_limit, ERR_NO_OFFSET, "the answer is larger than allowed");
}

bool analysis_explain(const struct source *source, struct buf *out, struct analysis_explanation *explanation, struct err *err)
{
    struct job job;
    struct explaining explaining = {out, explanation};
    *explanation = (struct analysis_explanation){.encoding = "utf-8"};
    if (!job_run(&job, source, TEXT_LIMIT_BYTES, explain, &explaining, NULL, err))
        return false;
    arena_free(&job.arena);
    return true;
}

static void find_mentions(struct job *job, const void *in, void *out, struct err *err)
{
    struct json json = JSON_INIT(out);
    (void)in;
    oom_mentions_write(job->source, &job->arena, &json, err);
}

bool analysis_explain_mentions(const struct source *source, struct buf *out, struct err *err)
{
    struct job job;
    if (!job_run(&job, source, TEXT_LIMIT_BYTES, find_mentions, NULL, out, err))
        return false;
    arena_free(&job.arena);
    return true;
}

struct window {
    uint64_t from, to;
};

static void window_copy(struct job *job, const void *in, void *out, struct err *err)
{
    const struct window *window = in;
    size_t size = (size_t)(window->to - window->from);
    char *into = buf_reserve(out, size);
    if (into == NULL) {
        err_set(err, ERR_limit, ERR_NO_OFFSET, "there is no memory for so many bytes");
        return;
    }
    int64_t got = job->source->read(job->source->context, window->from, into, size);
    if (got < 0)
        err_set(err, ERR_io, window->from, "the bytes cannot be read");
    else
        ((struct buf *)out)->length += (size_t)got;
}

bool analysis_explain_window(const struct source *source, uint64_t from, uint64_t to, struct buf *out, struct err *err)
{
    struct job job;
    const struct window window = {from, to};
    if (to <= from)
        return true;
    if (!job_run(&job, source, TEXT_LIMIT_BYTES, window_copy, &window, out, err))
        return false;
    arena_free(&job.arena);
    return true;
}

const char *analysis_explain_looked_for(size_t at)
{
    return oom_looked_for(at);
}
