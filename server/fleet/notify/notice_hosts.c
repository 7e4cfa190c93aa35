/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/notice_hosts.h"

#include "analysis/analysis.h"
#include "base/json.h"
#include "base/sum.h"
#include "server/base/memory.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

static const char *text_of(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static int64_t bytes_of(const cJSON *object, const char *name)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, name);
    double bytes = cJSON_IsNumber(number) ? cJSON_GetNumberValue(number) : -1;
    return bytes >= 0 && bytes <= (double)SUM_MAX_BYTES ? (int64_t)bytes : -1;
}

/* Those of the array; *are_files: some are known by their file alone. */
static size_t hosts_read(const cJSON *array, struct odd_host *hosts, bool *are_files)
{
    size_t count = 0;
    const cJSON *item;
    *are_files = false;
    cJSON_ArrayForEach(item, array)
    {
        const char *host = text_of(item, "host"), *name = host ? host : text_of(item, "file");
        *are_files |= !host;
        if (name)
            hosts[count++] = (struct odd_host){.name = name,
                                               .program = text_of(item, "program"),
                                               .needed_bytes = bytes_of(item, "needed_bytes"),
                                               .capacity_bytes = bytes_of(item, "capacity_bytes")};
    }
    return count;
}

static void odd_write(const struct odd_host *hosts, size_t count, struct json *json)
{
    json_key_array(json, "odd");
    for (size_t at = 0; at < count; at++) {
        if (hosts[at].reason == ODD_HOST_NOT)
            continue;
        json_object_begin(json);
        json_key_text(json, "name", hosts[at].name);
        json_key_text(json, "reason", analysis_odd_hosts_reason(hosts[at].reason));
        json_key_text(json, "program", hosts[at].program);
        json_key_known(json, "needed_bytes", hosts[at].needed_bytes);
        json_key_known(json, "capacity_bytes", hosts[at].capacity_bytes);
        json_object_end(json);
    }
    json_array_end(json);
}

/* Into the object that the notice is, before its last brace. */
static void member_write(const struct buf *notice, struct odd_host *hosts, size_t count, bool are_files,
                         struct buf *out)
{
    struct buf sentence = BUF_INIT;
    int64_t *scratch = memory_new(2 * count * sizeof(*scratch));
    analysis_odd_hosts_judge(hosts, count, scratch);
    analysis_odd_hosts_say(hosts, count, are_files ? "file" : "host", &sentence);
    buf_add(out, notice->data, notice->length - 1);
    buf_text(out, ",\"hosts\":");
    struct json json = JSON_INIT(out);
    json_object_begin(&json);
    json_key_uint(&json, "count", count);
    json_key_string(&json, "sentence", (struct str){sentence.data, sentence.length});
    odd_write(hosts, count, &json);
    json_object_end(&json);
    buf_text(out, "}");
    buf_fail_with(out, &sentence);
    buf_free(&sentence);
    free(scratch);
}

bool notice_hosts_write(const struct buf *notice, const struct buf *hosts, struct buf *out, struct err *err)
{
    cJSON *array = hosts->length > 0 ? cJSON_ParseWithLength(hosts->data, hosts->length) : NULL;
    size_t count = array ? (size_t)cJSON_GetArraySize(array) : 0;
    bool are_files;
    struct odd_host *read = memory_new((count + 1) * sizeof(*read));
    count = hosts_read(array, read, &are_files);
    if (count > 1 && notice->length > 1 && notice->data[notice->length - 1] == '}')
        member_write(notice, read, count, are_files, out);
    else
        buf_add(out, notice->data, notice->length);
    free(read);
    cJSON_Delete(array);
    return buf_is_whole(out, "the message", err);
}
