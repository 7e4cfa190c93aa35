/* SPDX-License-Identifier: Apache-2.0
 * ask_trace.c: memory over time. */
#include "tests/fuzz/ask.h"
#include "tests/unit/subject.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_BYTES = 256 << 20, LARGE_BYTES = 20 << 10 };

static void broken(const char *promise, const char *where, const struct err *err)
{
    fprintf(stderr, "broken promise: %s (%s; %s: %s)\n", promise, where, err_name(err->code), err->text);
    abort();
}

/* What is live and the remainders add up to the curve, whatever the file says. */
static void check_live(const cJSON *tree, const struct err *err)
{
    const cJSON *data = cJSON_GetObjectItem(tree, "data");
    const cJSON *total = cJSON_GetObjectItem(data, "total_bytes"), *in_use = cJSON_GetObjectItem(data, "in_use_bytes");

    if (total && in_use && cJSON_GetNumberValue(total) != cJSON_GetNumberValue(in_use))
        broken("rows and remainders add up to the curve", "live", err);
}

static void ask(const struct analysis_subject *trace, const char *view, const struct analysis_param *params,
                size_t count)
{
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    bool is_csv = count > 0 && strcmp(params[count - 1].value, "csv") == 0;

    if (!subject_answer(trace, "memory_profile", view, params, count, &out, &err)) {
        if (err.code == ERR_none || err.code == ERR_internal || err.text[0] == '\0')
            broken("an error has a code and a text", view, &err);
    } else if (!is_csv) {
        cJSON *tree = cJSON_ParseWithLength(out.data, out.length);
        if (out.failed || !tree)
            broken("an answer is JSON", view, &err);
        check_live(tree, &err);
        cJSON_Delete(tree);
    }
    buf_free(&out);
}

/* A view, and one or two parameters of it. */
static const struct {
    const char *view;
    struct analysis_param params[3];
} questions[] = {
    {"summary", {{NULL, NULL}}},
    {"xprof", {{NULL, NULL}}},
    {"timeline", {{"details", "1"}, {NULL, NULL}}},
    {"timeline", {{"width", "2"}, {"from", "1000"}, {"to", "90000000"}}},
    {"whatif", {{"change", "expandable_segments"}, {NULL, NULL}}},
    {"whatif", {{"change", "max_split_size=64MiB"}, {NULL, NULL}}},
    {"whatif", {{"change", "memory_fraction=0.5"}, {"change", "gc_threshold=0.5"}, {"capacity_bytes", "40000000"}}},
    {"whatif", {{"change", "batch=0.5"}, {"change", "expandable_segments"}, {NULL, NULL}}},
    {"whatif", {{"change", "batch=3"}, {"change", "checkpoint"}, {"capacity_bytes", "40000000"}}},
    {"whatif", {{"change", "checkpoint"}, {NULL, NULL}}},
    {"whatif", {{"change", "checkpoint"}, {"change", "accumulate=2"}, {NULL, NULL}}},
    {"whatif", {{"change", "attention=sdpa"}, {NULL, NULL}}},
    {"whatif", {{"change", "sequence=0.5"}, {NULL, NULL}}},
    {"whatif", {{"change", "optimizer=sgd"}, {NULL, NULL}}},
    {"whatif", {{"change", "optimizer=8bit"}, {NULL, NULL}}},
    {"whatif", {{"change", "optimizer=adafactor"}, {NULL, NULL}}},
    {"lanes", {{NULL, NULL}}},
    {"lanes", {{"width", "2"}, {NULL, NULL}}},
    {"live", {{NULL, NULL}}},
    {"live", {{"group", "none"}, {"time", "5000000"}, {"filter", "size:>1 op:*a*"}}},
    {"live", {{"a", "0"}, {"b", "1000000000"}, {"group", "op,shape"}}},
    {"live", {{"format", "csv"}, {NULL, NULL}}},
    {"events", {{NULL, NULL}}},
    {"events", {{"sort", "-size,op"}, {"filter", "freed:never"}, {"limit", "3"}}},
    {"events", {{"sort", "address,-lifetime"}, {"limit", "2"}, {"format", "csv"}}},
    {"event", {{"id", "1"}, {NULL, NULL}}},
    {"timeline", {{"blocks", "3"}, {"stack", "category"}, {"width", "2"}}},
    {"block", {{"id", "0"}, {NULL, NULL}}},
    {"growth", {{NULL, NULL}}},
    {"growth", {{"boundary", "launch"}, {"sort", "-slope,verdict"}, {NULL, NULL}}},
    {"addresses", {{NULL, NULL}}},
    {"addresses", {{"width", "2"}, {"low", "0x1000"}, {"high", "99999999999"}}},
    {"fragmentation", {{NULL, NULL}}},
    {"holes", {{NULL, NULL}}},
    {"holes", {{"event", "0"}, {"request", "4096"}, {NULL, NULL}}},
    {"whose", {{NULL, NULL}}},
    {"fragmentation", {{"width", "1"}, {NULL, NULL}}},
};
enum { QUESTION_COUNT = sizeof(questions) / sizeof(questions[0]) };

static void run_backwards(void *context, size_t count, workers_work *work, void *task)
{
    (void)context;
    for (size_t at = count; at > 0; at--)
        work(task, at - 1);
}

/* Read in pieces, a trace is the same. */
static void check_pieces(const struct source *source, const struct analysis_subject *whole)
{
    static const char *const views[] = {"summary", "xprof", "lanes", "live", "events", "growth"};
    struct err err = ERR_INIT;
    struct workers workers = {.run = run_backwards, .count = 2 + source->size_bytes % 3, .min_bytes = 64};
    struct analysis_subject *trace = subject_trace(source, &workers, LIMIT_BYTES, &err);

    if (!trace)
        broken("a trace can be read in pieces", "trace", &err);
    for (size_t at = 0; at < sizeof(views) / sizeof(views[0]); at++) {
        struct buf one = BUF_INIT, other = BUF_INIT;
        bool is_one = subject_answer(whole, "memory_profile", views[at], NULL, 0, &one, &err);
        bool is_other = subject_answer(trace, "memory_profile", views[at], NULL, 0, &other, &err);
        if (is_one != is_other || one.length != other.length ||
            (one.length > 0 && memcmp(one.data, other.data, one.length) != 0))
            broken("a trace that is read in pieces is the same", views[at], &err);
        buf_free(&one);
        buf_free(&other);
    }
    analysis_subject_free(trace);
}

/* ---- what is live at a moment, by call stack ---- */

/* All stacks together hold what is in use. */
static void check_sum(const cJSON *tree, const struct err *err)
{
    const cJSON *data = cJSON_GetObjectItem(tree, "data");
    const cJSON *profile = cJSON_GetArrayItem(cJSON_GetObjectItem(data, "profiles"), 0);
    const cJSON *moment = cJSON_GetObjectItem(profile, "moment");
    const cJSON *total = cJSON_GetObjectItem(data, "total"), *in_use = cJSON_GetObjectItem(moment, "in_use_bytes");

    if (!total || !in_use || cJSON_GetNumberValue(total) != cJSON_GetNumberValue(in_use))
        broken("stacks add up to the bytes in use", "summary", err);
}

static void ask_moment(const struct analysis_use *uses, size_t use_count, const char *view)
{
    const struct analysis_question question = {
        .tool = "device_memory", .view = view, .uses = uses, .use_count = use_count};
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    bool is_json = strcmp(view, "profile") != 0;

    if (!analysis_answer(&question, &out, &err)) {
        if (err.code == ERR_none || err.code == ERR_internal || err.text[0] == '\0')
            broken("an error has a code and a text", view, &err);
    } else if (is_json) {
        cJSON *tree = cJSON_ParseWithLength(out.data, out.length);
        if (out.failed || !tree)
            broken("an answer is JSON", view, &err);
        if (use_count == 1 && strcmp(view, "summary") == 0)
            check_sum(tree, &err);
        cJSON_Delete(tree);
    }
    buf_free(&out);
}

static void ask_stacks(const struct analysis_subject *trace)
{
    static const char *const views[] = {"summary", "flame", "top", "buffers", "series", "profile"};
    static const char *const moments[] = {"peak", "end", "start", "e0", "1us", "step0.peak", "9999s"};
    enum { MOMENT_COUNT = sizeof(moments) / sizeof(moments[0]) };
    struct analysis_moment moment;

    for (size_t at = 0; at < MOMENT_COUNT; at++) {
        const struct analysis_use uses[] = {
            {.subject = trace, .name = "a", .moment = moments[at]},
            {.subject = trace, .name = "b", .moment = moments[(at + 1) % MOMENT_COUNT], .is_base = true}};
        for (size_t view = 0; view < sizeof(views) / sizeof(views[0]); view++)
            ask_moment(uses, 1 + (at + view) % 2, views[view]);
        ask_moment(uses, 1, "summary");
    }
    for (size_t at = 0; analysis_trace_series_at(trace, 0, at, &moment); at++) {
        const struct analysis_use use = {.subject = trace, .name = "a", .moment = moment.text};
        ask_moment(&use, 1, "summary");
    }
}

/* What was taken, alone or beside a failure. */
static void ask_trace_verdict(const struct source *source, const struct analysis_subject *trace)
{
    struct analysis_verdict_parts parts = {.trace = trace};

    if (source->size_bytes % 2 == 1)
        parts = (struct analysis_verdict_parts){.trace = trace,
                                                .around.capacity.bytes = 1 << 20,
                                                .around.capacity.source = "as chosen",
                                                .around.capacity.is_physical = true};
    ask_verdict(&parts);
    ask_verdict_of_failure(parts, analysis_trace_has_stacks(trace) ? ASK_FAILURE_OF_TORCH : ASK_FAILURE_OF_PLAN);
}

void ask_trace(const struct source *source)
{
    struct err err = ERR_INIT;
    struct analysis_subject *trace = subject_trace(source, NULL, LIMIT_BYTES, &err);
    struct analysis_trace_pool pool;
    const char *code, *text;

    ask_modules(source, NULL);
    if (!trace) {
        if (err.code == ERR_none || err.code == ERR_internal || err.text[0] == '\0')
            broken("an error has a code and a text", "trace", &err);
        return;
    }
    if (analysis_trace_reason(trace, &code, &text) == analysis_trace_pool_at(trace, 0, &pool))
        broken("there is a pool, or a reason", "trace", &err);
    size_t step = source->size_bytes > LARGE_BYTES ? 3 : 1; /* large answers take long to check */
    for (size_t at = 0; at < QUESTION_COUNT; at += step) {
        size_t count = 0;
        while (count < 3 && questions[at].params[count].name)
            count++;
        ask(trace, questions[at].view, questions[at].params, count);
    }
    if (analysis_trace_has_stacks(trace))
        ask_stacks(trace);
    ask_trace_verdict(source, trace);
    if (step == 1 && source->size_bytes != UINT64_MAX)
        check_pieces(source, trace);
    analysis_subject_free(trace);
}
