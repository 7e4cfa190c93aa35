/* SPDX-License-Identifier: Apache-2.0
 * oom.h: asking about an error text, and looking into the answer. */
#pragma once

#include "analysis/analysis.h"

#include "base/json.h"
#include "bytes.h"
#include "model/oom/model.h"
#include "subject.h"

#include <cjson/cJSON.h>

struct oom_answer {
    struct oom_result explanation; /* counts only: what it points to is freed */
    cJSON *failures;
};

static inline struct oom_answer oom_ask(const char *text, size_t length)
{
    struct oom_answer answer;
    struct bytes bytes;
    struct buf out = BUF_INIT;
    struct json json = JSON_INIT(&out);
    struct err err = ERR_INIT;
    bytes_open(&bytes, text, length);
    struct analysis_subject *subject = subject_text(&bytes.source, false, &err);
    ck_assert_msg(subject != NULL, "%s", err.text);
    const struct oom_report *report = analysis_text_report(subject);
    json_array_begin(&json);
    analysis_oom_write_failures(report, NULL, &json);
    json_array_end(&json);
    answer.explanation = report->found;
    analysis_subject_free(subject);
    answer.failures = cJSON_ParseWithLength(out.data, out.length);
    ck_assert_msg(answer.failures != NULL, "%.*s", (int)out.length, out.data);
    ck_assert_uint_eq((size_t)cJSON_GetArraySize(answer.failures), answer.explanation.failure_count);
    buf_free(&out);
    bytes_close(&bytes);
    return answer;
}

/* The value of `key` as text: the string, the whole number, "null" when it is absent. */
static inline const char *oom_value(const cJSON *object, const char *key, char out[128])
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsNumber(value))
        snprintf(out, 128, "%.0f", value->valuedouble);
    else
        snprintf(out, 128, "%s", cJSON_IsString(value) ? value->valuestring : "null");
    return out;
}
