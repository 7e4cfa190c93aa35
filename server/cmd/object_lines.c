/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/object_lines.h"

#include "server/base/memory.h"
#include "server/files/remote/remote_address.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 4 }; /* of events in the texts of other events */

struct object_lines_reading {
    object_lines_take *take;
    void *context;
    size_t *removed_count, found_count;
    struct err *err;
};

static const cJSON *object_lines_member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_at(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(object_lines_member(object, name));
}

/* "ObjectRemoved:Delete", "Object Deleted", "OBJECT_DELETE": what came after may be another event, in any order. */
static bool is_removal(const char *type)
{
    return type && (strstr(type, "ObjectRemoved") || strstr(type, "Object Deleted") || strstr(type, "OBJECT_DELETE") ||
                    strstr(type, "OBJECT_ARCHIVE") || strstr(type, "LifecycleExpiration"));
}

static bool object_give(struct object_lines_reading *reading, const char *scheme, const char *bucket, const char *key,
                        const char *type)
{
    reading->found_count++;
    if (is_removal(type)) {
        ++*reading->removed_count;
        return true;
    }
    if (!bucket || !bucket[0] || !key || !key[0])
        return err_set(reading->err, ERR_malformed, ERR_NO_OFFSET, "an event without a bucket or a key");
    char *address = memory_format("%s://%s/%s", scheme, bucket, key);
    reading->take(reading->context, address);
    free(address);
    return true;
}

/* In notifications of S3 itself a key is encoded as in a form. */
static bool record_read(struct object_lines_reading *reading, const cJSON *record)
{
    const cJSON *s3 = object_lines_member(record, "s3");
    const char *coded = text_at(object_lines_member(s3, "object"), "key");
    char *key = memory_text(coded ? coded : "");
    for (char *plus = strchr(key, '+'); plus; plus = strchr(plus, '+'))
        *plus = ' ';
    bool is_good = remote_address_decode(key)
                       ? object_give(reading, "s3", text_at(object_lines_member(s3, "bucket"), "name"), key,
                                     text_at(record, "eventName"))
                       : err_set(reading->err, ERR_malformed, ERR_NO_OFFSET, "the key of an event is not encoded");
    free(key);
    return is_good;
}

static bool event_read(struct object_lines_reading *reading, const cJSON *event, int depth);

/* An event that another one has in it as a text. */
static bool text_read(struct object_lines_reading *reading, const char *text, int depth)
{
    cJSON *inner = depth < DEPTH_MAX ? cJSON_Parse(text) : NULL;
    bool is_good = inner ? event_read(reading, inner, depth + 1)
                         : err_set(reading->err, ERR_malformed, ERR_NO_OFFSET, "the message of an event is no JSON");
    cJSON_Delete(inner);
    return is_good;
}

static bool records_read(struct object_lines_reading *reading, const cJSON *records, int depth)
{
    bool is_good = true;
    const cJSON *record;
    cJSON_ArrayForEach(record, records)
    {
        const char *body = text_at(record, "body"); /* of SQS, as Lambda gets it */
        const char *message = text_at(object_lines_member(record, "Sns"), "Message");
        if (object_lines_member(record, "s3"))
            is_good &= record_read(reading, record);
        else
            is_good &= body || message ? text_read(reading, body ? body : message, depth)
                                       : err_set(reading->err, ERR_malformed, ERR_NO_OFFSET, "a record of no object");
    }
    return is_good;
}

static bool event_read(struct object_lines_reading *reading, const cJSON *event, int depth)
{
    const cJSON *records = object_lines_member(event, "Records"), *detail = object_lines_member(event, "detail");
    const cJSON *message = object_lines_member(event, "message");
    const cJSON *attributes = object_lines_member(cJSON_IsObject(message) ? message : event, "attributes");
    const char *body = text_at(event, "Body"), *inner = text_at(event, "Message");
    if (cJSON_IsArray(records))
        return records_read(reading, records, depth);
    if (cJSON_IsObject(detail)) /* of EventBridge, where keys are as they are */
        return object_give(reading, "s3", text_at(object_lines_member(detail, "bucket"), "name"),
                           text_at(object_lines_member(detail, "object"), "key"), text_at(event, "detail-type"));
    if (cJSON_IsObject(attributes)) /* of Pub/Sub */
        return object_give(reading, "gs", text_at(attributes, "bucketId"), text_at(attributes, "objectId"),
                           text_at(attributes, "eventType"));
    if (body || inner)
        return text_read(reading, body ? body : inner, depth);
    if (text_at(event, "bucket") && text_at(event, "name")) /* an object of GCS, as its JSON interface has it */
        return object_give(reading, "gs", text_at(event, "bucket"), text_at(event, "name"), NULL);
    if (text_at(event, "Event") && strcmp(text_at(event, "Event"), "s3:TestEvent") == 0)
        return true; /* S3 sends one when notifications are set up */
    return err_set(reading->err, ERR_malformed, ERR_NO_OFFSET, "JSON that is no event of S3 or GCS");
}

bool object_lines_read(const char *line, size_t length, object_lines_take *take, void *context, size_t *removed_count,
                       struct err *err)
{
    struct object_lines_reading reading = {take, context, removed_count, 0, err};
    while (length > 0 && strchr(" \t\r\n", line[length - 1]))
        length--;
    for (; length > 0 && (*line == ' ' || *line == '\t'); line++)
        length--;
    if (length == 0)
        return true;
    if (memchr(line, '\0', length))
        return err_set(err, ERR_malformed, ERR_NO_OFFSET, "holds a NUL");
    if (line[0] != '{') {
        char *address = memory_format("%.*s", (int)length, line);
        take(context, address);
        free(address);
        return true;
    }
    cJSON *event = cJSON_ParseWithLength(line, length);
    bool is_good = event ? event_read(&reading, event, 0) : err_set(err, ERR_malformed, ERR_NO_OFFSET, "is no JSON");
    cJSON_Delete(event);
    return is_good;
}
