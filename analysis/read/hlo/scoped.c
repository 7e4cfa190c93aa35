/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/scoped.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

static const char key[] = "used_scoped_memory_configs";

static const char *after_spaces(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

bool scoped_is_used(struct str config)
{
    if (config.length == 0)
        return false; /* data may be NULL then */
    const char *at = config.data, *end = config.data + config.length;
    while ((size_t)(end - at) >= sizeof(key) - 1 &&
           (at = memmem(at, (size_t)(end - at), key, sizeof(key) - 1)) != NULL) {
        static const char empty[] = "\":[]";
        at += sizeof(key) - 1;
        const char *p = at;
        size_t matched = 0;
        while (matched < sizeof(empty) - 1 && (p = after_spaces(p, end)) < end && *p == empty[matched]) {
            matched++;
            p++;
        }
        if (matched < sizeof(empty) - 1)
            return true;
    }
    return false;
}

/* A JSON number or a quoted decimal; 0 for other values. */
static int64_t number_of(const cJSON *entry, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(entry, name);
    if (cJSON_IsString(item)) {
        char *end;
        long long value = strtoll(item->valuestring, &end, 10);
        return end != item->valuestring && *end == '\0' ? value : 0;
    }
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= -9e18 && item->valuedouble <= 9e18))
        return 0;
    return (int64_t)item->valuedouble;
}

int64_t scoped_bytes(struct str config, int64_t space)
{
    int64_t max = 0;
    cJSON *json = cJSON_ParseWithLength(config.data, config.length);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, key), *entry;
    cJSON_ArrayForEach(entry, list)
    {
        if (!cJSON_IsArray(list) || !cJSON_IsObject(entry) || number_of(entry, "memory_space") != space)
            continue;
        int64_t size = number_of(entry, "size");
        if (size > max)
            max = size;
    }
    cJSON_Delete(json);
    return max;
}
