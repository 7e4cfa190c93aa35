/* SPDX-License-Identifier: Apache-2.0
 * explain_answer.c: see explain.h: what the daemon answers about one text. The array of
 * failures is the one that --json prints. */
#include "server/store/explain.h"

#include "base/json.h"

#include <string.h>

/* A line that begins with two spaces is a command. */
static void write_step(struct json *json, const char *step)
{
    bool is_command = strncmp(step, "  ", 2) == 0;
    json_object_begin(json);
    json_key_text(json, "kind", is_command ? "command" : "text");
    json_key_text(json, "text", is_command ? step + 2 : step);
    json_object_end(json);
}

static void write_steps(struct json *json, const struct buf *failures)
{
    cJSON *list = cJSON_ParseWithLength(failures->data, failures->length);
    const cJSON *failure;
    json_key(json, "next_steps");
    json_array_begin(json);
    cJSON_ArrayForEach(failure, list)
    {
        json_array_begin(json);
        for (const char *const *step = explain_next_steps(failure); *step; step++)
            write_step(json, *step);
        json_array_end(json);
    }
    json_array_end(json);
    cJSON_Delete(list);
}

static void write_usage(struct json *json, const struct analysis_explanation *explanation)
{
    json_key_uint(json, "report_line_count", explanation->report_line_count);
    json_key(json, "usage");
    if (!explanation->has_usage) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_text(json, "memory_space", explanation->usage_space);
    json_key_uint(json, "used_bytes", explanation->usage_bytes);
    json_key_uint(json, "capacity_bytes", explanation->capacity_bytes);
    json_object_end(json);
}

static void write_looked_for(struct json *json)
{
    json_key(json, "looked_for");
    json_array_begin(json);
    for (size_t at = 0; analysis_explain_looked_for(at) != NULL; at++)
        json_text(json, analysis_explain_looked_for(at));
    json_array_end(json);
}

/* What a value of JSON that is written already is preceded by. */
static void write_ready(struct json *json, const char *key, const struct buf *value)
{
    json_key(json, key);
    if (value->length == 0)
        json_null(json);
    else
        buf_add(json->out, value->data, value->length);
    json->needs_comma = true;
}

bool explain_answer(const struct source *source, struct buf *out, struct err *err)
{
    struct analysis_explanation explanation;
    struct buf failures = BUF_INIT, mentions = BUF_INIT;
    bool is_good = analysis_explain(source, &failures, &explanation, err) &&
                   (explanation.failure_count > 0 || analysis_explain_mentions(source, &mentions, err));
    if (is_good) {
        struct json json = JSON_INIT(out);
        json_key_uint(&json, "size_bytes", explanation.size_bytes);
        json_key_text(&json, "encoding", explanation.encoding);
        write_ready(&json, "failures", &failures);
        json_key_uint(&json, "left_out_count", explanation.left_out_count);
        write_steps(&json, &failures);
        write_usage(&json, &explanation);
        write_ready(&json, "lines", &mentions);
        write_looked_for(&json);
        buf_char(out, '\0');
    }
    if (is_good && (out->failed || failures.failed || mentions.failed))
        is_good = err_set(err, ERR_limit, ERR_NO_OFFSET, "there is no memory for the answer");
    buf_free(&failures);
    buf_free(&mentions);
    return is_good;
}
