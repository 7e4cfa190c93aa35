/* SPDX-License-Identifier: Apache-2.0
 * log_texts_fact.c: what was read of a text, as a fact that is kept: JSON, "{}" of a text without a failure. */
#include "server/gather/log_texts.h"

#include "base/json.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

struct log_texts_member {
    const char *name;
    size_t offset, size; /* of a word; 0: a number */
};

#define WORD(name) {#name, offsetof(struct log_text_failure, name), sizeof(((struct log_text_failure *)NULL)->name)}
#define NUMBER(name) {#name, offsetof(struct log_text_failure, name), 0}
static const struct log_texts_member MEMBERS[] = {
    WORD(family),
    WORD(memory_class),
    WORD(phase),
    WORD(memory_space),
    WORD(module),
    WORD(title),
    WORD(over_text),
    WORD(limit_phrase),
    NUMBER(needed_bytes),
    NUMBER(capacity_bytes),
    NUMBER(exceeded_bytes),
    NUMBER(free_bytes),
    NUMBER(largest_free_bytes),
    NUMBER(limit_bytes),
    NUMBER(over_bytes),
};
enum { MEMBER_COUNT = sizeof(MEMBERS) / sizeof(MEMBERS[0]) };

static void failure_write(struct json *json, const struct log_text_failure *failure)
{
    const char *bytes = (const char *)failure;
    json_key_uint(json, "failures", failure->failure_count);
    json_key_bool(json, "xla", failure->may_be_of_xla);
    for (size_t at = 0; at < MEMBER_COUNT; at++) {
        int64_t number;
        memcpy(&number, bytes + MEMBERS[at].offset, sizeof(number));
        if (MEMBERS[at].size > 0 && bytes[MEMBERS[at].offset])
            json_key_text(json, MEMBERS[at].name, bytes + MEMBERS[at].offset);
        else if (MEMBERS[at].size == 0 && number >= 0)
            json_key_int(json, MEMBERS[at].name, number);
    }
}

static void fact_write(struct buf *out, const struct log_text_failure *failure, const struct err *err)
{
    struct json json = JSON_INIT(out);
    json_object_begin(&json);
    if (err_is_set(err)) {
        json_key_text(&json, "error_code", err_name(err->code));
        json_key_text(&json, "error", err->text);
        if (err->offset_bytes != ERR_NO_OFFSET)
            json_key_uint(&json, "error_at", err->offset_bytes);
    } else if (failure->failure_count > 0) {
        failure_write(&json, failure);
    }
    json_object_end(&json);
}

/* -1: there is none. */
static int64_t log_texts_fact_number(const cJSON *object, const char *name)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(member) && member->valuedouble >= 0 && member->valuedouble < 9e18
               ? (int64_t)member->valuedouble
               : -1;
}

static const char *log_texts_fact_word(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

static void failure_read(const cJSON *object, struct log_text_failure *failure)
{
    char *bytes = (char *)failure;
    int64_t count = log_texts_fact_number(object, "failures");
    *failure = (struct log_text_failure){.failure_count = count > 0 ? (size_t)count : 0};
    failure->may_be_of_xla = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, "xla"));
    for (size_t at = 0; at < MEMBER_COUNT && count > 0; at++) {
        int64_t number = log_texts_fact_number(object, MEMBERS[at].name);
        if (MEMBERS[at].size > 0)
            snprintf(bytes + MEMBERS[at].offset, MEMBERS[at].size, "%s", log_texts_fact_word(object, MEMBERS[at].name));
        else
            memcpy(bytes + MEMBERS[at].offset, &number, sizeof(number));
    }
}

static bool err_read(const cJSON *object, struct err *err)
{
    const char *name = log_texts_fact_word(object, "error_code");
    for (int code = ERR_none + 1; code <= ERR_internal; code++) {
        int64_t at = log_texts_fact_number(object, "error_at");
        if (strcmp(name, err_name((enum err_code)code)) == 0)
            return !err_set(err, (enum err_code)code, at < 0 ? ERR_NO_OFFSET : (uint64_t)at, "%s",
                            log_texts_fact_word(object, "error"));
    }
    return false;
}

bool log_texts_read_once(const struct facts *facts, const struct files_place *place,
                         const struct files_identity *identity, const atomic_bool *is_stopping,
                         struct log_texts_kept *kept, struct log_text_failure *failure, struct err *err)
{
    struct buf fact = BUF_INIT;
    bool is_read;
    cJSON *known = facts_find(facts, FACTS_TEXT, place, identity, &fact) ? cJSON_Parse(fact.data) : NULL;
    fact.length = 0;
    if (cJSON_IsObject(known)) {
        failure_read(known, failure);
        is_read = !err_read(known, err);
    } else {
        is_read = log_texts_read(place, is_stopping, kept, failure, err);
        fact_write(&fact, failure, err);
        if (!err_is_transient(err->code))
            facts_keep(facts, FACTS_TEXT, place, identity, &fact);
    }
    cJSON_Delete(known);
    buf_free(&fact);
    return is_read;
}
