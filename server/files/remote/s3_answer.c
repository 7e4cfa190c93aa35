/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/s3_answer.h"

#include "base/buf.h"
#include "server/base/memory.h"
#include "server/files/remote/remote_address.h"
#include "server/files/remote/remote_answer.h"

#include <expat.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX_BYTES = 16384 }; /* a key has at most 1,024 bytes, three times that when encoded */

struct s3_answer_reading {
    struct remote_service_page *page;
    XML_Parser parser;
    struct buf text; /* of the element that is open */
    unsigned depth;
    bool is_list, is_in_object, is_in_prefixes, is_encoded, is_restored;
    char *key, *etag, *token;
    struct remote_object object;
    struct err *err;
};

static void s3_answer_fail(struct s3_answer_reading *reading, const char *reason)
{
    err_set(reading->err, ERR_malformed, ERR_NO_OFFSET, "the list of the bucket: %s", reason);
    XML_StopParser(reading->parser, XML_FALSE);
}

static void XMLCALL element_begin(void *context, const char *name, const char **attributes)
{
    struct s3_answer_reading *reading = context;
    (void)attributes;
    reading->text.length = 0;
    if (reading->depth == 0)
        reading->is_list = strcmp(name, "ListBucketResult") == 0;
    if (reading->depth == 1) {
        reading->is_in_object = strcmp(name, "Contents") == 0;
        reading->is_in_prefixes = strcmp(name, "CommonPrefixes") == 0;
        reading->object = (struct remote_object){.path = NULL};
        reading->is_restored = false;
    }
    reading->depth++;
}

static void XMLCALL text_take(void *context, const char *text, int length)
{
    struct s3_answer_reading *reading = context;
    buf_add(&reading->text, text, (size_t)length);
    if (reading->text.failed)
        s3_answer_fail(reading, "an element is too long");
}

/* The text of the element that ends, NUL-terminated; free(). */
static char *text_of(const struct s3_answer_reading *reading)
{
    return memory_format("%.*s", (int)reading->text.length, reading->text.length ? reading->text.data : "");
}

/* In XML what is encoded has + for spaces. */
static char *name_of(struct s3_answer_reading *reading)
{
    char *name = text_of(reading);
    for (char *plus = reading->is_encoded ? strchr(name, '+') : NULL; plus; plus = strchr(plus, '+'))
        *plus = ' ';
    if (reading->is_encoded && !remote_address_decode(name))
        s3_answer_fail(reading, "a key is not encoded as it has to be");
    return name;
}

static void s3_answer_keep(char **kept, char *text)
{
    free(*kept);
    *kept = text;
}

static void object_take(struct s3_answer_reading *reading)
{
    if (!reading->key) {
        s3_answer_fail(reading, "an object has no key");
        return;
    }
    reading->object.path = reading->key;
    reading->object.etag = reading->etag ? reading->etag : "";
    reading->object.is_archived &= !reading->is_restored;
    remote_service_page_object(reading->page, &reading->object);
    s3_answer_keep(&reading->key, NULL);
    s3_answer_keep(&reading->etag, NULL);
}

/* What cannot be read before it is restored; of the other classes that are named so it can. */
static bool is_archive(const char *class)
{
    return strcmp(class, "GLACIER") == 0 || strcmp(class, "DEEP_ARCHIVE") == 0;
}

static void object_part(struct s3_answer_reading *reading, const char *name)
{
    char *text = text_of(reading), *end;
    if (strcmp(name, "Key") == 0)
        s3_answer_keep(&reading->key, name_of(reading));
    else if (strcmp(name, "ETag") == 0)
        s3_answer_keep(&reading->etag, memory_text(strlen(text) < REMOTE_ANSWER_ETAG_SIZE ? text : ""));
    else if (strcmp(name, "LastModified") == 0)
        reading->object.modified_at_ns = remote_answer_iso_ns(text);
    else if (strcmp(name, "StorageClass") == 0)
        reading->object.is_archived = is_archive(text);
    else if (strcmp(name, "Size") == 0) {
        reading->object.size_bytes = strtoull(text, &end, 10);
        if (end == text || *end || reading->object.size_bytes > INT64_MAX)
            s3_answer_fail(reading, "a size is no number");
    }
    free(text);
}

static void list_part(struct s3_answer_reading *reading, const char *name)
{
    char *text = text_of(reading);
    if (strcmp(name, "EncodingType") == 0)
        reading->is_encoded = strcmp(text, "url") == 0;
    if (strcmp(name, "NextContinuationToken") == 0)
        s3_answer_keep(&reading->token, memory_text(text));
    free(text);
}

static void XMLCALL element_end(void *context, const char *name)
{
    struct s3_answer_reading *reading = context;
    reading->depth--;
    if (reading->depth == 1 && reading->is_in_object)
        object_take(reading);
    else if (reading->depth == 1)
        list_part(reading, name);
    else if (reading->depth == 2 && reading->is_in_object)
        object_part(reading, name);
    else if (reading->depth == 3 && reading->is_in_object && strcmp(name, "RestoreExpiryDate") == 0)
        reading->is_restored = true; /* until then there is a copy */
    else if (reading->depth == 2 && reading->is_in_prefixes && strcmp(name, "Prefix") == 0) {
        char *prefix = name_of(reading);
        remote_service_page_prefix(reading->page, prefix);
        free(prefix);
    }
    reading->text.length = 0;
}

/* Nobody who means well sends one; entities could make much of little. */
static void XMLCALL refuse_doctype(void *context, const char *name, const char *system, const char *public, int has_own)
{
    (void)name, (void)system, (void)public, (void)has_own;
    s3_answer_fail(context, "has a document type");
}

static bool s3_answer_parse(struct s3_answer_reading *reading, const char *xml, size_t size)
{
    XML_SetUserData(reading->parser, reading);
    XML_SetElementHandler(reading->parser, element_begin, element_end);
    XML_SetCharacterDataHandler(reading->parser, text_take);
    XML_SetStartDoctypeDeclHandler(reading->parser, refuse_doctype);
    if (XML_Parse(reading->parser, xml, size < INT_MAX ? (int)size : INT_MAX, XML_TRUE) != XML_STATUS_OK)
        return err_set(
            reading->err, ERR_malformed,
            XML_GetCurrentByteIndex(reading->parser) < 0 ? 0 : (uint64_t)XML_GetCurrentByteIndex(reading->parser),
            "the list of the bucket: %s", XML_ErrorString(XML_GetErrorCode(reading->parser)));
    return reading->is_list || err_set(reading->err, ERR_malformed, 0, "the list of the bucket: is none");
}

/* Some services put the encoding behind the keys, so it is searched for first. */
static bool is_encoded(const char *xml, size_t size)
{
    static const char SAID[] = "<EncodingType>url<";
    return size > 0 && memmem(xml, size, SAID, sizeof(SAID) - 1) != NULL;
}

bool s3_answer_read(const char *xml, size_t size, struct remote_service_page *page, struct err *err)
{
    struct s3_answer_reading reading = {.page = page,
                                        .parser = XML_ParserCreate(NULL),
                                        .text = {.limit_bytes = TEXT_MAX_BYTES},
                                        .is_encoded = is_encoded(xml, size),
                                        .err = err};
    if (!reading.parser)
        return err_exhausted(err);
    bool is_good = s3_answer_parse(&reading, xml, size);
    if (is_good && reading.token)
        remote_service_page_next(page, reading.token);
    XML_ParserFree(reading.parser);
    buf_free(&reading.text);
    free(reading.key);
    free(reading.etag);
    free(reading.token);
    return is_good;
}
