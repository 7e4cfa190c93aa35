/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/hosts_told.h"

#include "server/base/output.h"
#include "server/store/all_modules.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

static cJSON *hosts_told_ask(struct store *store, const struct snapshot_session *session)
{
    struct all_modules all;
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    if (session->kind != SNAPSHOT_TRACE || session->host_count - session->allocator_count < 2)
        return NULL;
    all_modules_open(store, session, NULL, NULL, &all);
    all_modules_read(&all, -1);
    struct analysis_module_use *uses = all_modules_uses(&all);
    const struct analysis_question question = {.tool = "modules",
                                               .view = "summary",
                                               .modules = uses,
                                               .module_count = all.entry_count,
                                               .modules_read = all_modules_progress(&all)};
    bool is_answered = analysis_answer(&question, &out, &err);
    cJSON *answer = is_answered ? cJSON_ParseWithLength(out.data, out.length) : NULL;
    free(uses);
    all_modules_close(&all);
    buf_free(&out);
    return answer;
}

static const cJSON *hosts_told_data(struct hosts_told *told)
{
    if (!told->is_found)
        told->answer = hosts_told_ask(told->store, told->session);
    told->is_found = true;
    return cJSON_GetObjectItemCaseSensitive(told->answer, "data");
}

static const char *sentence_of(const cJSON *data)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(data, "hosts_sentence"));
}

void hosts_told_write(struct hosts_told *told, struct json *json)
{
    const cJSON *data = hosts_told_data(told), *outliers = cJSON_GetObjectItemCaseSensitive(data, "outliers");
    char *text = outliers ? cJSON_PrintUnformatted(outliers) : NULL;
    if (json_key_object_if(json, "hosts", text && sentence_of(data))) {
        json_key_text(json, "sentence", sentence_of(data));
        json_key_int(json, "outlier_count", (int64_t)cJSON_GetNumberValue(cJSON_GetObjectItem(data, "outlier_count")));
        json_key(json, "outliers");
        json_written(json, str_of(text));
        json_object_end(json);
    }
    cJSON_free(text);
}

void hosts_told_print(struct hosts_told *told, const char *before, bool is_odd_alone)
{
    const cJSON *data = hosts_told_data(told);
    const char *sentence = sentence_of(data);
    if (sentence && (!is_odd_alone || cJSON_GetNumberValue(cJSON_GetObjectItem(data, "outlier_count")) > 0)) {
        struct buf line = BUF_INIT;
        buf_text(&line, before);
        buf_printable(&line, str_of(sentence));
        buf_char(&line, '\n');
        output_text(line.data, line.length);
        buf_free(&line);
    }
}

void hosts_told_free(struct hosts_told *told)
{
    cJSON_Delete(told->answer);
    *told = (struct hosts_told){0};
}
