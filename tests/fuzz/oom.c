/* SPDX-License-Identifier: Apache-2.0
 * oom.c: any bytes as a log: every failure in it as JSON, every range inside the input. */
#include "tests/fuzz/ask.h"

#include "base/json.h"
#include "model/oom/model.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* [begin, end] pairs anywhere below `ranges`. */
static void check_ranges(const cJSON *ranges, size_t size)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, ranges)
    {
        const cJSON *begin = cJSON_GetArrayItem(item, 0), *end = cJSON_GetArrayItem(item, 1);
        if (!cJSON_IsArray(item) || !cJSON_IsNumber(begin))
            check_ranges(item, size);
        else if (!cJSON_IsNumber(end) || begin->valuedouble >= end->valuedouble || end->valuedouble > (double)size)
            abort();
    }
}

/* Every line that is named lies inside the input, and can be had as it is. */
static void check_mentions(const struct source *source, const struct oom_mentions *mentions, uint64_t size)
{
    struct buf window = BUF_INIT;
    struct err err = ERR_INIT;
    for (size_t at = 0; at < mentions->count; at++) {
        const struct oom_mention *line = &mentions->items[at];
        if (line->begin_at > line->end_at || line->end_at > size)
            abort();
        if (!analysis_oom_window(source, line->begin_at, line->end_at, &window, &err))
            abort();
    }
    if (window.length > 0 && window.failed)
        abort();
    buf_free(&window);
}

/* Stretches are the whole, and nothing is said of memory that is not. */
static void check_verdict(const struct oom_meaning *meaning)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < meaning->bar.count; at++) {
        if (meaning->bar.stretches[at].lost_bytes > meaning->bar.stretches[at].bytes)
            abort();
        sum = sum > UINT64_MAX - meaning->bar.stretches[at].bytes ? UINT64_MAX : sum + meaning->bar.stretches[at].bytes;
    }
    if (sum != meaning->bar.whole_bytes || !meaning->title || !meaning->heading || meaning->answer.count == 0 ||
        meaning->step_count == 0)
        abort();
    if (meaning->is_over_known != (meaning->over_text != NULL))
        abort();
}

static cJSON *failures_of(const struct analysis_subject *text)
{
    const struct analysis_use use = {.subject = text};
    const struct analysis_question question = {.tool = "oom", .view = "report", .uses = &use, .use_count = 1};
    const struct oom_report *report = analysis_text_report(text);
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    if (!analysis_answer(&question, &out, &err))
        abort();
    cJSON *answer = cJSON_ParseWithLength(out.data, out.length);
    cJSON *failures = cJSON_DetachItemFromObjectCaseSensitive(answer, "failures");
    if (!failures || (size_t)cJSON_GetArraySize(failures) != report->found.failure_count)
        abort();
    cJSON_Delete(answer);
    buf_free(&out);
    return failures;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source = ask_source(data, size);
    enum { ASKED_FAILURES = 8 };
    struct analysis_capacity capacity;
    struct err err = ERR_INIT;

    for (size_t at = 0; at < 100 && analysis_oom_looked_for(at) != NULL; at++) {
        if (analysis_oom_looked_for(at)[0] == '\0')
            abort();
    }
    if (analysis_capacity_from_text((const char *)data, size, &capacity) &&
        (capacity.offset > size || capacity.length > size - capacity.offset))
        abort();
    const struct analysis_reading reading = {
        .kind = ANALYSIS_TEXT, .with_mentions = true, .limit_bytes = ANALYSIS_TEXT_MAX_BYTES};
    struct analysis_subject *text = analysis_subject_read(&source, &reading, &err);
    if (text) {
        const struct oom_report *report = analysis_text_report(text);
        cJSON *failures = failures_of(text), *failure;
        bool is_packed = size > 1 && data[0] == 0x1f && data[1] == 0x8b;
        cJSON_ArrayForEach(failure, failures)
        {
            if (!is_packed)
                check_ranges(cJSON_GetObjectItemCaseSensitive(failure, "ranges"), size);
        }
        for (size_t at = 0; at < report->found.failure_count; at++)
            check_verdict(&report->meanings[at]);
        for (size_t at = 0; at < report->found.failure_count && at < ASKED_FAILURES; at++)
            ask_verdict(&(struct analysis_verdict_parts){.failure = &report->meanings[at]});
        if (report->mentions)
            check_mentions(&source, report->mentions, is_packed ? UINT64_MAX : size);
        cJSON_Delete(failures);
        analysis_subject_free(text);
    } else if (err.code == ERR_none || err.text[0] == '\0') {
        abort();
    }
    return 0;
}
