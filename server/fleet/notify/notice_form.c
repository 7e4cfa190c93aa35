/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/notice_form.h"

#include "base/json.h"
#include "server/files/remote/remote_address.h"
#include "server/fleet/catalog/rows.h"

#include <cjson/cJSON.h>
#include <string.h>

enum { TEXT_MAX = 6000, TITLE_MAX = NOTICE_FORM_SLACK_HEADER_MAX, TEAMS_PLACE_MAX = 1000 };
static const int64_t NS_PER_MS = 1000000, NS_PER_DAY = INT64_C(86400) * 1000000000;

static const struct {
    const char *name, *type;
} forms[] = {
#define NOTICE_FORM(constant, name, type) {name, type},
#include "server/fleet/notify/notice_form.def"
#undef NOTICE_FORM
};

bool notice_form_read(const char *name, enum notice_form *form)
{
    for (size_t at = 0; at < sizeof(forms) / sizeof(forms[0]); at++) {
        *form = (enum notice_form)at;
        if (strcmp(forms[at].name, name) == 0)
            return true;
    }
    return false;
}

const char *notice_form_names(void) { return "memviewd, slack, teams, alertmanager or cloudevents"; }

const char *notice_form_type(enum notice_form form) { return forms[form].type; }

/* ---- what a notice says ---- */

struct said {
    const cJSON *notice, *regression; /* regression NULL: of a failure */
    const struct kind *kind;
    const char *id, *job, *commit, *user_name, *logdir, *file; /* NULL: not known, but for the id */
    const char *cause;                                         /* a word of docs/use/verdict.md, or NULL */
    char at[ROWS_TIME_SIZE];                                   /* when it happened; "": not known */
    struct buf title, text, place;                             /* place: "FILE in LOGDIR" */
};

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text && text[0] ? text : NULL;
}

static void sentence_add(struct buf *out, const char *sentence)
{
    if (sentence)
        buf_format(out, "%s%s", out->length > 0 ? " " : "", sentence);
}

/* What to do first; of a program that fits, what is first in the list. NULL: there is none. */
static const cJSON *advice_of(const cJSON *verdict)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(verdict, "advice");
    const cJSON *best = cJSON_GetObjectItemCaseSensitive(verdict, "best");
    return cJSON_GetArrayItem(all, cJSON_IsNumber(best) ? best->valueint : 0);
}

static void failure_say(struct said *said)
{
    const cJSON *verdict = cJSON_GetObjectItemCaseSensitive(said->notice, "verdict");
    const cJSON *cause = cJSON_GetObjectItemCaseSensitive(verdict, "cause");
    const char *at = text_of(said->notice, "modified_at"), *title = text_of(advice_of(verdict), "title");
    said->cause = text_of(cause, "kind");
    if (at && strlen(at) < sizeof(said->at))
        memcpy(said->at, at, strlen(at) + 1);
    sentence_add(&said->text, text_of(verdict, "verdict"));
    sentence_add(&said->text, text_of(cause, "text"));
    sentence_add(&said->text, text_of(verdict, "advice_sentence"));
    if (title)
        buf_format(&said->text, " Advice: %s.", title);
    sentence_add(&said->text, text_of(said->notice, "error"));
    sentence_add(&said->text, text_of(cJSON_GetObjectItemCaseSensitive(said->notice, "hosts"), "sentence"));
}

static void regression_say(struct said *said)
{
    const cJSON *first = cJSON_GetObjectItemCaseSensitive(said->regression, "first_at_ms");
    if (cJSON_IsNumber(first))
        rows_time((int64_t)cJSON_GetNumberValue(first) * NS_PER_MS, said->at);
    sentence_add(&said->text, text_of(said->regression, "sentence"));
    sentence_add(&said->text, text_of(said->regression, "plans_sentence"));
}

static const struct kind {
    const char *name;          /* in a notice */
    const char *title, *since; /* "TITLE: JOB SINCE COMMIT" */
    const char *alert, *event; /* name for Alertmanager, type for CloudEvents */
    int shown_days;            /* of an alert */
    void (*say)(struct said *said);
} kinds[] = {
    {"failure", "Out of memory", "at", "OutOfMemory", "memviewd.failure", NOTICE_FORM_FAILURE_DAYS, failure_say},
    {"regression", "Memory regression", "since", "MemoryRegression", "memviewd.regression", NOTICE_FORM_REGRESSION_DAYS,
     regression_say},
    {"regression_gone", "Memory regression is gone", "since", "MemoryRegression", "memviewd.regression_gone", 0,
     regression_say},
};

/* NULL: there is none of that name. */
static const struct kind *kind_of(const char *name)
{
    for (size_t at = 0; name && at < sizeof(kinds) / sizeof(kinds[0]); at++)
        if (strcmp(kinds[at].name, name) == 0)
            return &kinds[at];
    return NULL;
}

static void title_say(struct said *said)
{
    buf_text(&said->title, said->kind->title);
    if (said->job)
        buf_format(&said->title, ": %s", said->job);
    else if (said->file)
        buf_format(&said->title, ": %s", said->file);
    if (said->commit)
        buf_format(&said->title, " %s %s", said->kind->since, said->commit);
}

/* False: it is no notice. */
static bool notice_read(const cJSON *notice, struct said *said)
{
    *said = (struct said){.notice = notice,
                          .kind = kind_of(text_of(notice, "kind")),
                          .id = text_of(notice, "id"),
                          .job = text_of(notice, "job"),
                          .commit = text_of(notice, "commit"),
                          .user_name = text_of(notice, "user_name"),
                          .logdir = text_of(notice, "logdir"),
                          .file = text_of(notice, "file"),
                          .regression = cJSON_GetObjectItemCaseSensitive(notice, "regression")};
    if (!said->kind || !said->id)
        return false;
    said->kind->say(said);
    title_say(said);
    if (said->file)
        buf_format(&said->place, "%s%s%s", said->file, said->logdir ? " in " : "", said->logdir ? said->logdir : "");
    return true;
}

static void said_free(struct said *said)
{
    buf_free(&said->title);
    buf_free(&said->text);
    buf_free(&said->place);
}

/* ---- texts of a length ---- */

/* How much of the text has at most that many UTF-16 code units: whole letters. */
static size_t units_fit(struct str text, size_t units_max)
{
    size_t at = 0, units = 0;
    while (at < text.length) {
        size_t size = str_utf8_length(text.data + at, text.length - at), here = size == 4 ? 2 : 1;
        if (units + here > units_max)
            break;
        units += here;
        at += size > 0 ? size : 1; /* a byte of no letter */
    }
    return at;
}

/* "…" in the place of what is too long. */
static void cut_write(struct json *json, const char *key, const struct buf *text, size_t units_max)
{
    struct buf out = BUF_INIT;
    struct str whole = {text->data, text->length};
    if (units_fit(whole, units_max) == whole.length) {
        json_key_string(json, key, whole);
        return;
    }
    buf_add(&out, whole.data, units_fit(whole, units_max - 1));
    buf_text(&out, "\xE2\x80\xA6");
    json_key_string(json, key, (struct str){out.data, out.length});
    buf_fail_with(json->out, &out);
    buf_free(&out);
}

/* ---- Slack: the body of an incoming webhook ---- */

static void slack_text(struct json *json, const struct buf *text, size_t units_max)
{
    json_key_object(json, "text");
    json_key_text(json, "type", "plain_text");
    cut_write(json, "text", text, units_max);
    json_key_bool(json, "emoji", false);
    json_object_end(json);
}

static void slack_section(struct json *json, const char *type, const struct buf *text, size_t units_max)
{
    if (text->length == 0) /* it takes no empty text */
        return;
    json_object_begin(json);
    json_key_text(json, "type", type);
    slack_text(json, text, units_max);
    json_object_end(json);
}

/* Notifications show it; `<`, `>` and `&` are markup there. */
static void slack_fallback(const struct said *said, struct json *json)
{
    struct buf plain = BUF_INIT, out = BUF_INIT;
    buf_format(&plain, "%.*s\n%.*s", (int)said->title.length, said->title.data, (int)said->text.length,
               said->text.length > 0 ? said->text.data : "");
    size_t length = units_fit((struct str){plain.data, plain.length}, NOTICE_FORM_SLACK_SECTION_MAX);
    for (size_t at = 0; at < length; at++) {
        char letter = plain.data[at];
        if (letter == '&' || letter == '<' || letter == '>')
            buf_text(&out, letter == '&' ? "&amp;" : letter == '<' ? "&lt;" : "&gt;");
        else
            buf_char(&out, letter);
    }
    json_key_string(json, "text", (struct str){out.data, out.length});
    buf_fail_with(json->out, &plain);
    buf_fail_with(json->out, &out);
    buf_free(&plain);
    buf_free(&out);
}

static void slack_write(const struct said *said, struct json *json)
{
    json_object_begin(json);
    slack_fallback(said, json);
    json_key_array(json, "blocks");
    slack_section(json, "header", &said->title, NOTICE_FORM_SLACK_HEADER_MAX);
    slack_section(json, "section", &said->text, NOTICE_FORM_SLACK_SECTION_MAX);
    slack_section(json, "section", &said->place, NOTICE_FORM_SLACK_SECTION_MAX);
    json_array_end(json);
    json_object_end(json);
}

/* ---- Teams: a message with an Adaptive Card, as Workflows take it ---- */

/* Runs of text are no Markdown, as blocks of text are. */
static void teams_line(struct json *json, const struct buf *text, bool is_title, size_t units_max)
{
    if (text->length == 0)
        return;
    json_object_begin(json);
    json_key_text(json, "type", "RichTextBlock");
    json_key_array(json, "inlines");
    json_object_begin(json);
    json_key_text(json, "type", "TextRun");
    cut_write(json, "text", text, units_max);
    if (is_title) {
        json_key_text(json, "size", "Large");
        json_key_text(json, "weight", "Bolder");
    }
    json_object_end(json);
    json_array_end(json);
    json_object_end(json);
}

static void teams_write(const struct said *said, struct json *json)
{
    json_object_begin(json);
    json_key_text(json, "type", "message");
    json_key_array(json, "attachments");
    json_object_begin(json);
    json_key_text(json, "contentType", "application/vnd.microsoft.card.adaptive");
    json_key_object(json, "content");
    json_key_text(json, "$schema", "http://adaptivecards.io/schemas/adaptive-card.json");
    json_key_text(json, "type", "AdaptiveCard");
    json_key_text(json, "version", "1.4");
    json_key_array(json, "body");
    teams_line(json, &said->title, true, TITLE_MAX);
    teams_line(json, &said->text, false, NOTICE_FORM_SLACK_SECTION_MAX);
    teams_line(json, &said->place, false, TEAMS_PLACE_MAX);
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
    json_array_end(json);
    json_object_end(json);
}

/* ---- Alertmanager: POST /api/v2/alerts ---- */

/* From when it happened until it is gone, or for as many days as it is shown. */
static void times_write(const struct said *said, int64_t now_ns, struct json *json)
{
    char now[ROWS_TIME_SIZE], end[ROWS_TIME_SIZE];
    rows_time(now_ns, now);
    rows_time(now_ns + said->kind->shown_days * NS_PER_DAY, end);
    json_key_text(json, "startsAt", said->at[0] && strcmp(said->at, now) < 0 ? said->at : now);
    json_key_text(json, "endsAt", end);
}

/* What is gone has the labels of what it was: they tell Alertmanager which alert it is. */
static void alert_labels_write(const struct said *said, struct json *json)
{
    const char *regression_id = text_of(said->notice, "regression_id");
    json_key_object(json, "labels");
    json_key_text(json, "alertname", said->kind->alert);
    json_key_text(json, "id", regression_id ? regression_id : said->id);
    json_key_text(json, "job", said->job);
    json_key_text(json, "commit", said->commit);
    json_key_text(json, "user", said->user_name);
    json_key_text(json, "cause", said->cause);
    json_key_text(json, "module", text_of(said->regression, "module"));
    json_object_end(json);
}

static void alertmanager_write(const struct said *said, int64_t now_ns, struct json *json)
{
    json_array_begin(json);
    json_object_begin(json);
    alert_labels_write(said, json);
    json_key_object(json, "annotations");
    cut_write(json, "summary", &said->title, TEXT_MAX);
    cut_write(json, "description", &said->text, TEXT_MAX);
    json_key_text(json, "logdir", said->logdir);
    json_key_text(json, "file", said->file);
    json_key_text(json, "page", text_of(said->notice, "page"));
    json_object_end(json);
    times_write(said, now_ns, json);
    json_object_end(json);
    json_array_end(json);
}

/* ---- CloudEvents 1.0, structured JSON ---- */

/* A reference of RFC 3986: of a folder, "/profiles", its path; of a bucket its address. */
static void source_write(const char *logdir, struct json *json)
{
    struct buf out = BUF_INIT;
    const char *path = logdir ? logdir : "/memviewd", *scheme = strstr(path, "://");
    if (scheme && remote_address_is(path)) {
        buf_format(&out, "%.*s", (int)(scheme + 3 - path), path);
        path = scheme + 3;
    }
    remote_address_encode(&out, path, true);
    json_key_string(json, "source", (struct str){out.data, out.length});
    buf_fail_with(json->out, &out);
    buf_free(&out);
}

static void cloudevents_write(const struct said *said, const struct buf *notice, struct json *json)
{
    const char *gone_at = text_of(said->notice, "gone_at");
    json_object_begin(json);
    json_key_text(json, "specversion", "1.0");
    json_key_text(json, "id", said->id);
    source_write(said->logdir, json);
    json_key_text(json, "type", said->kind->event);
    json_key_text(json, "time", gone_at ? gone_at : said->at[0] ? said->at : NULL);
    json_key_text(json, "subject", said->job ? said->job : said->file);
    json_key_text(json, "datacontenttype", "application/json");
    json_key(json, "data");
    json_written(json, (struct str){notice->data, notice->length});
    json_object_end(json);
}

/* ---- all of them ---- */

static bool said_write(enum notice_form form, const struct said *said, const struct buf *notice, int64_t now_ns,
                       struct buf *out, struct err *err)
{
    struct json json = JSON_INIT(out);
    switch (form) {
    case NOTICE_FORM_MEMVIEWD: break;
    case NOTICE_FORM_SLACK: slack_write(said, &json); break;
    case NOTICE_FORM_TEAMS: teams_write(said, &json); break;
    case NOTICE_FORM_ALERTMANAGER: alertmanager_write(said, now_ns, &json); break;
    case NOTICE_FORM_CLOUDEVENTS: cloudevents_write(said, notice, &json); break;
    }
    buf_fail_with(out, &said->title);
    buf_fail_with(out, &said->text);
    buf_fail_with(out, &said->place);
    return buf_is_whole(out, "the message", err);
}

bool notice_form_write(enum notice_form form, const struct buf *notice, int64_t now_ns, struct buf *out,
                       struct err *err)
{
    if (form == NOTICE_FORM_MEMVIEWD) {
        buf_add(out, notice->data, notice->length);
        return buf_is_whole(out, "the message", err);
    }
    struct said said;
    cJSON *tree = cJSON_ParseWithLength(notice->data, notice->length);
    bool is_good = false;
    if (tree && notice_read(tree, &said)) {
        is_good = said_write(form, &said, notice, now_ns, out, err);
        said_free(&said);
    } else {
        err_set(err, ERR_argument, ERR_NO_OFFSET, "a message that cannot be sent as %s", forms[form].name);
    }
    cJSON_Delete(tree);
    return is_good;
}
