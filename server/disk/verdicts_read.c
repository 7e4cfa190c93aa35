/* SPDX-License-Identifier: Apache-2.0
 * verdicts_read.c: one text, or the end of a long one, as far as a list wants to know it. */
#include "server/disk/verdicts.h"

#include "analysis/analysis.h"

#include <cjson/cJSON.h>
#include <stdio.h>

static const uint64_t MOST_BYTES = (uint64_t)256 << 20;

static void word_of(const cJSON *failure, const char *key, char *word, size_t size)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(failure, key);
    snprintf(word, size, "%s", cJSON_IsString(value) ? value->valuestring : "");
}

static int64_t number_of(const cJSON *failure, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(failure, key);
    bool fits = cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble < 9e15;
    return fits ? (int64_t)value->valuedouble : -1;
}

static void fill(const cJSON *failure, size_t failure_count, struct verdict *verdict)
{
    *verdict = (struct verdict){
        .failure_count = failure_count,
        .needed_bytes = number_of(failure, "needed_bytes"),
        .capacity_bytes = number_of(failure, "capacity_bytes"),
        .exceeded_bytes = number_of(failure, "exceeded_bytes"),
        .free_bytes = number_of(failure, "free_bytes"),
        .largest_free_bytes = number_of(failure, "largest_free_bytes"),
    };
    word_of(failure, "family", verdict->family, sizeof(verdict->family));
    word_of(failure, "form", verdict->form, sizeof(verdict->form));
    word_of(failure, "phase", verdict->phase, sizeof(verdict->phase));
    word_of(failure, "memory_space", verdict->memory_space, sizeof(verdict->memory_space));
    word_of(failure, "module", verdict->module, sizeof(verdict->module));
}

bool verdicts_read(const struct files_place *place, const atomic_bool *is_stopping, struct verdict *verdict,
                   struct err *err)
{
    struct buf out = BUF_INIT;
    struct analysis_explanation explanation;
    struct file *file = files_open(place, err);
    if (!file)
        return false;
    const struct source *whole = files_source(file);
    bool is_long = whole->size_bytes > MOST_BYTES && !files_is_gzip(file);
    struct files_tail tail = {whole, is_long ? whole->size_bytes - MOST_BYTES : 0, is_stopping};
    struct source source = files_tail_source(&tail);
    bool is_good = analysis_explain(&source, &out, &explanation, err);
    if (is_good) {
        cJSON *failures = cJSON_ParseWithLength(out.data, out.length);
        fill(cJSON_GetArrayItem(failures, 0), explanation.failure_count, verdict);
        cJSON_Delete(failures);
    } else {
        files_tail_fail(&tail, err);
    }
    buf_free(&out);
    files_close(file);
    return is_good;
}
