/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/gcs_answer.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_in(const cJSON *object, const char *name)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(member) ? member->valuestring : NULL;
}

/* A number written as a text, as Google writes those of 64 bits. */
static bool number_in(const cJSON *object, const char *name, uint64_t *number)
{
    const char *text = text_in(object, name);
    char *end;
    if (!text || !isdigit((unsigned char)text[0]))
        return false;
    *number = strtoull(text, &end, 10);
    return *end == '\0' && *number <= INT64_MAX;
}

static bool object_read(const cJSON *item, struct remote_answer_object *object)
{
    const char *generation = text_in(item, "generation"), *created = text_in(item, "timeCreated");
    *object = (struct remote_answer_object){.modified_at_ns = created ? remote_answer_iso_ns(created) : 0};
    if (!number_in(item, "size", &object->size_bytes))
        return false;
    if (generation && strspn(generation, "0123456789") == strlen(generation))
        snprintf(object->etag, sizeof(object->etag), "%.32s", generation);
    return true;
}

static bool item_take(const cJSON *item, struct remote_service_page *page)
{
    struct remote_answer_object told;
    const char *name = text_in(item, "name");
    if (!name || !object_read(item, &told))
        return false;
    remote_service_page_object(page, &(struct remote_object){.path = name,
                                                             .etag = told.etag,
                                                             .size_bytes = told.size_bytes,
                                                             .modified_at_ns = told.modified_at_ns});
    return true;
}

static bool page_take(const cJSON *root, struct remote_service_page *page)
{
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(root, "items"),
                *prefixes = cJSON_GetObjectItemCaseSensitive(root, "prefixes"), *each;
    const char *next = text_in(root, "nextPageToken");
    bool is_good = cJSON_IsObject(root) && (!items || cJSON_IsArray(items)) && (!prefixes || cJSON_IsArray(prefixes));
    if (!is_good)
        return false;
    cJSON_ArrayForEach(each, items) is_good = is_good && item_take(each, page);
    cJSON_ArrayForEach(each, prefixes)
    {
        if (cJSON_IsString(each))
            remote_service_page_prefix(page, each->valuestring);
    }
    if (is_good && next && next[0])
        remote_service_page_next(page, next);
    return is_good;
}

bool gcs_answer_page(const char *json, size_t size, struct remote_service_page *page, struct err *err)
{
    cJSON *root = cJSON_ParseWithLength(json, size);
    bool is_good = page_take(root, page);
    cJSON_Delete(root);
    return is_good || err_set(err, ERR_malformed, ERR_NO_OFFSET, "the list of the bucket is not as it has to be");
}

bool gcs_answer_object(const char *json, size_t size, struct remote_answer_object *object, struct err *err)
{
    cJSON *root = cJSON_ParseWithLength(json, size);
    bool is_good = object_read(root, object);
    cJSON_Delete(root);
    return is_good || err_set(err, ERR_malformed, ERR_NO_OFFSET, "the server describes it in a form that cannot be");
}
