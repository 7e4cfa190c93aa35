/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote_answer.h"

#include "base/str.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t NS_PER_S = 1000000000;

/* Letters, digits and a few marks of `from` up to any other: names come from servers. */
static void word_copy(char word[64], const char *from, size_t length)
{
    size_t count = 0;
    while (count < length && count < 63 && (isalnum((unsigned char)from[count]) || strchr("._- ", from[count])))
        count++;
    memcpy(word, from, count);
    word[count] = '\0';
}

static void word_of_json(char word[64], const struct buf *body)
{
    cJSON *root = cJSON_ParseWithLength(body->data, body->length);
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(error, "status"),
                *message = cJSON_GetObjectItemCaseSensitive(error, "message");
    const cJSON *told = cJSON_IsString(error) ? error : cJSON_IsString(status) ? status : message;
    if (cJSON_IsString(told))
        word_copy(word, told->valuestring, strlen(told->valuestring));
    cJSON_Delete(root);
}

void remote_answer_word(const struct http_client_answer *answer, char word[64])
{
    const struct buf *body = &answer->body;
    const char *code = body->length > 0 ? memmem(body->data, body->length, "<Code>", 6) : NULL;
    word[0] = '\0';
    if (code)
        word_copy(word, code + 6, (size_t)(body->data + body->length - code - 6));
    else if (body->length > 0 && body->data[0] == '{')
        word_of_json(word, body);
}

bool remote_answer_is_good(const struct http_client_answer *answer, struct err *err)
{
    char word[64];
    if (answer->status >= 200 && answer->status < 300)
        return true;
    remote_answer_word(answer, word);
    const char *space = word[0] ? " " : "";
    if (answer->status == 412)
        return err_set(err, ERR_changed, ERR_NO_OFFSET, "the file changed while it was read; ask again");
    if (answer->status == 404)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "is not there: 404%s%s", space, word);
    if (answer->status == 401 || answer->status == 403)
        return err_set(err, ERR_io, ERR_NO_OFFSET, "may not be read: %d%s%s", answer->status, space, word);
    return err_set(err, ERR_io, ERR_NO_OFFSET, "the server answers %d%s%s", answer->status, space, word);
}

/* The size of the whole, of a part too. */
static bool size_of(const struct http_client_answer *answer, uint64_t *size_bytes)
{
    char value[80];
    const char *total = value;
    if (http_client_header(answer, "content-range", value, sizeof(value)))
        total = strchr(value, '/') ? strchr(value, '/') + 1 : "";
    else if (!http_client_header(answer, "content-length", value, sizeof(value)))
        return false;
    char *end;
    *size_bytes = strtoull(total, &end, 10);
    return isdigit((unsigned char)*total) && *end == '\0' && *size_bytes <= INT64_MAX;
}

bool remote_answer_object(const struct http_client_answer *answer, struct remote_answer_object *object, struct err *err)
{
    char time[64];
    *object = (struct remote_answer_object){.size_bytes = 0};
    http_client_header(answer, "etag", object->etag, sizeof(object->etag));
    if (http_client_header(answer, "last-modified", time, sizeof(time)))
        object->modified_at_ns = remote_answer_http_ns(time);
    return size_of(answer, &object->size_bytes) ||
           err_set(err, ERR_unsupported, ERR_NO_OFFSET, "the server does not tell its size");
}

/* "Z", "+01:00": seconds before the time in Greenwich. False: it is neither. */
static bool zone_read(const char *text, int64_t *offset_s)
{
    int hours = 0, minutes = 0, length = 0;
    if (strcmp(text, "Z") == 0)
        return true;
    if ((text[0] != '+' && text[0] != '-') || sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &length) != 2 ||
        length != 5 || text[6] != '\0' || hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
        return false;
    *offset_s = (text[0] == '+' ? 1 : -1) * (hours * 3600 + minutes * 60);
    return true;
}

int64_t remote_answer_iso_ns(const char *text)
{
    struct tm parts = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    int64_t fraction_ns = 0, offset_s = 0;
    if (!end || parts.tm_year < 70)
        return 0;
    if (*end == '.') {
        int64_t scale = NS_PER_S / 10;
        for (end++; isdigit((unsigned char)*end); end++, scale /= 10)
            fraction_ns += (*end - '0') * scale;
    }
    if (!zone_read(end, &offset_s) || parts.tm_year >= 300)
        return 0;
    return ((int64_t)timegm(&parts) - offset_s) * NS_PER_S + fraction_ns;
}

int64_t remote_answer_http_ns(const char *text)
{
    struct tm parts = {0};
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return end && *end == '\0' && parts.tm_year >= 70 && parts.tm_year < 300 ? (int64_t)timegm(&parts) * NS_PER_S : 0;
}
