/* SPDX-License-Identifier: Apache-2.0
 * oom.c: any bytes as a log: every failure in it as JSON, every range inside the input. */
#include "tests/fuzz/ask.h"

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
static void check_mentions(const struct source *source, uint64_t size)
{
    struct buf out = BUF_INIT, window = BUF_INIT;
    struct err err = ERR_INIT;
    const cJSON *line;
    if (!analysis_explain_mentions(source, &out, &err))
        abort();
    cJSON *found = cJSON_ParseWithLength(out.data, out.length);
    if (!found)
        abort();
    cJSON_ArrayForEach(line, cJSON_GetObjectItemCaseSensitive(found, "mentions"))
    {
        double begin = cJSON_GetObjectItemCaseSensitive(line, "begin_bytes")->valuedouble;
        double end = cJSON_GetObjectItemCaseSensitive(line, "end_bytes")->valuedouble;
        if (begin > end || end > (double)size)
            abort();
        if (!analysis_explain_window(source, (uint64_t)begin, (uint64_t)end, &window, &err))
            abort();
    }
    if (window.length > 0 && window.failed)
        abort();
    cJSON_Delete(found);
    buf_free(&window);
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source = ask_source(data, size);
    struct analysis_explanation explanation;
    struct analysis_capacity capacity;
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;

    for (size_t at = 0; at < 100 && analysis_explain_looked_for(at) != NULL; at++) {
        if (analysis_explain_looked_for(at)[0] == '\0')
            abort();
    }
    if (analysis_capacity_from_text((const char *)data, size, &capacity) &&
        (capacity.offset > size || capacity.length > size - capacity.offset))
        abort();
    if (analysis_explain(&source, &out, &explanation, &err)) {
        cJSON *failures = cJSON_ParseWithLength(out.data, out.length), *failure;
        bool is_packed = size > 1 && data[0] == 0x1f && data[1] == 0x8b;
        if (!failures || (size_t)cJSON_GetArraySize(failures) != explanation.failure_count)
            abort();
        cJSON_ArrayForEach(failure, failures)
        {
            if (!is_packed)
                check_ranges(cJSON_GetObjectItemCaseSensitive(failure, "ranges"), size);
        }
        cJSON_Delete(failures);
        check_mentions(&source, is_packed ? UINT64_MAX : size);
    } else if (err.code == ERR_none || err.text[0] == '\0') {
        abort();
    }
    buf_free(&out);
    return 0;
}
