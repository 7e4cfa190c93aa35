/* SPDX-License-Identifier: Apache-2.0
 * made.h: asking for a verdict, and looking into both of its forms. */
#pragma once

#include "asked.h"
#include "model/oom/model.h"

#define GIB (INT64_C(1) << 30)

struct made {
    cJSON *root;
    char *text;
};

static inline const char *text(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    ck_assert_msg(cJSON_IsString(item), "%s is no text", name);
    return item->valuestring;
}

/* What is absent is not known: null. */
static inline const cJSON *member(const cJSON *object, const char *name)
{
    static const cJSON not_known = {.type = cJSON_NULL};
    const cJSON *item = cJSON_GetObjectItem(object, name);
    return item != NULL ? item : &not_known;
}

/* Makes the verdict in both forms; rows that do not add up fail here. */
static inline struct made make(const struct analysis_verdict_parts *parts)
{
    struct made made;
    struct buf json = BUF_INIT, lines = BUF_INIT;
    const cJSON *row;
    double sum = 0, categories = 0;
    err = (struct err)ERR_INIT;
    ck_assert_msg(analysis_verdict(parts, ANALYSIS_VERDICT_JSON, &json, &err), "%s", err.text);
    ck_assert_msg(analysis_verdict(parts, ANALYSIS_VERDICT_TEXT, &lines, &err), "%s", err.text);
    made.root = cJSON_ParseWithLength(json.data, json.length);
    ck_assert_msg(made.root != NULL, "%.*s", (int)json.length, json.data);
    buf_char(&lines, '\0');
    size_t length;
    made.text = buf_take(&lines, &length);
    const cJSON *where = member(made.root, "where"), *whose = member(made.root, "categories");
    cJSON_ArrayForEach(row, where) sum += number(row, "bytes");
    cJSON_ArrayForEach(row, whose) categories += number(row, "bytes");
    ck_assert_double_eq(sum, number(made.root, "where_bytes"));
    if (cJSON_GetArraySize(whose) > 0)
        ck_assert_double_eq(categories, sum);
    size_t said_length = strcspn(made.text, "\n"), said_count = 0; /* the first line: no other section repeats it */
    made.text[said_length] = '\0';
    char *said = strdup(made.text);
    made.text[said_length] = '\n';
    for (const char *at = made.text; (at = strstr(at, said)) != NULL; at += said_length)
        said_count++;
    ck_assert_msg(said_length > 0 && said_count == 1, "%s", made.text);
    free(said);
    buf_free(&json);
    return made;
}

static inline void made_free(struct made *made)
{
    cJSON_Delete(made->root);
    free(made->text);
}

static inline const char *cause_of(const struct made *made) { return text(member(made->root, "cause"), "kind"); }

/* The first advice of a kind, or NULL. */
static inline const cJSON *advice_of(const struct made *made, const char *kind)
{
    const cJSON *advice = member(made->root, "advice"), *one;
    cJSON_ArrayForEach(one, advice) if (strcmp(text(one, "kind"), kind) == 0) return one;
    return NULL;
}

static inline const char *first_of(const struct made *made)
{
    const cJSON *first = cJSON_GetArrayItem(member(made->root, "advice"), 0);
    return first == NULL ? "" : text(first, "kind");
}

static inline struct analysis_subject *read_text(const char *content, struct bytes *bytes)
{
    bytes_open(bytes, content, strlen(content));
    err = (struct err)ERR_INIT;
    struct analysis_subject *subject = subject_text(&bytes->source, false, &err);
    ck_assert_msg(subject != NULL && analysis_text_report(subject)->found.failure_count >= 1, "%s", content);
    return subject;
}

/* The verdict of a text, with a module or without. */
static inline struct made make_of_text(const char *content, const struct analysis_subject *module)
{
    struct bytes bytes;
    struct analysis_subject *subject = read_text(content, &bytes);
    const struct analysis_verdict_parts parts = {.failure = &analysis_text_report(subject)->meanings[0],
                                                 .module = module};
    struct made made = make(&parts);
    analysis_subject_free(subject);
    bytes_close(&bytes);
    return made;
}
