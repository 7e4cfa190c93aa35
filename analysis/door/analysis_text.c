/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_text.c: what an error text is to the door; the capacity that one states. */
#include "door/analysis_subject.h"

#include "model/oom/capacity.h"
#include "model/oom/meaning.h"
#include "read/oom/scan.h"
#include "views/oom/text.h"
#include "views/oom_write_json.h"

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
    arena_init(&job.arena, ANALYSIS_TEXT_MAX_BYTES, &err);
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
        .may_be_of_xla = found->may_be_of_xla,
    };
    return true;
}

/* ---- error texts ---- */

void analysis_text_fill(struct job *job, const void *in, void *to, struct err *err)
{
    struct oom_report *report = &((struct analysis_subject *)to)->report;
    if (!oom_scan(job->source, &job->arena, &report->found, err))
        return;
    report->meanings = oom_meanings_make(&report->found, &job->arena);
    if (((const struct analysis_reading *)in)->with_mentions && report->found.failure_count == 0) {
        struct oom_mentions *mentions = arena_array(&job->arena, struct oom_mentions, 1);
        if (oom_mentions_read(job->source, &job->arena, mentions, err))
            report->mentions = mentions;
    }
}

const struct oom_report *analysis_text_report(const struct analysis_subject *text) { return &text->report; }

size_t analysis_oom_count(const struct oom_report *report) { return report->found.failure_count; }

const struct oom_meaning *analysis_oom_at(const struct oom_report *report, size_t at) { return &report->meanings[at]; }

bool analysis_oom_is_recognised(const struct oom_report *report)
{
    return report->found.failure_count > 0 || report->found.report_line_count > 0 || report->found.given_up_count > 0;
}

static int64_t figure_known(uint64_t bytes, bool is_known)
{
    return is_known && bytes <= INT64_MAX ? (int64_t)bytes : -1;
}

static int64_t figure_bytes(const struct oom_failure *failure, enum oom_figure_at at)
{
    return figure_known(failure->figures[at].value, failure->figures[at].is_known);
}

void analysis_oom_facts(const struct oom_meaning *meaning, struct analysis_oom_facts *out)
{
    const struct oom_failure *failure = meaning->failure;
    *out = (struct analysis_oom_facts){
        .family = oom_family_name(failure->family),
        .title = meaning->title,
        .memory_class = oom_memory_name(failure->memory_class),
        .phase = failure->phase,
        .memory_space = failure->memory_space.text,
        .module = failure->module.text,
        .needed_bytes = figure_bytes(failure, OOM_needed_bytes),
        .capacity_bytes = figure_bytes(failure, OOM_capacity_bytes),
        .exceeded_bytes = figure_bytes(failure, OOM_exceeded_bytes),
        .free_bytes = figure_bytes(failure, OOM_free_bytes),
        .largest_free_bytes = figure_bytes(failure, OOM_largest_free_bytes),
        .needed_rounding_bytes = oom_figure_rounding(&failure->figures[OOM_needed_bytes]),
        .limit_bytes = figure_known(meaning->limit_bytes, meaning->is_limit_known),
        .limit_phrase = meaning->limit_phrase,
        .over_bytes = figure_known(meaning->over_bytes, meaning->is_over_known),
        .over_text = meaning->over_text,
    };
}

void analysis_oom_write_failures(const struct oom_report *report, const char *file, struct json *json)
{
    oom_write_json_failures(json, report, file);
}

void analysis_oom_write_failure(const struct oom_meaning *failure, const char *file, const struct buf *answer,
                                struct json *json)
{
    oom_write_json_failure(json, failure, file, answer);
}

void analysis_oom_write_text(const struct oom_report *report, const char *name, const struct buf *answers,
                             struct buf *out)
{
    oom_text(report, name, answers, out);
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
        buf_is_whole(out, "this part of the log", err);
        return;
    }
    int64_t got = job->source->read(job->source->context, window->from, into, size);
    if (got < 0)
        err_set(err, ERR_io, window->from, "the bytes cannot be read");
    else
        ((struct buf *)out)->length += (size_t)got;
}

bool analysis_oom_window(const struct source *source, uint64_t from, uint64_t to, struct buf *out, struct err *err)
{
    struct job job;
    const struct window window = {from, to};
    if (to <= from)
        return true;
    if (!job_run(&job, source, ANALYSIS_TEXT_MAX_BYTES, window_copy, &window, out, err))
        return false;
    arena_free(&job.arena);
    return true;
}

const char *analysis_oom_looked_for(size_t at) { return oom_looked_for(at); }
