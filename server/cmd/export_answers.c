/* SPDX-License-Identifier: Apache-2.0
 * export_answers.c: the answers of the Memory Viewer about modules, as JSON, and the page that shows them with nothing
 * else: web/report, compiled in, with its styles, its script and the same JSON inside. */
#include "server/cmd/export.h"

#include "base/json.h"
#include "server/api/api.h"
#include "server/api/web_files.h"
#include "server/base/log.h"
#include "server/base/version.h"
#include "server/store/verdict_parts.h"

#include <string.h>

/* ---- JSON ---- */

static void begin_json(struct buf *out) { buf_format(out, "{\"version\":\"%s\",\"modules\":[", version_number); }
static void end_json(struct buf *out, const struct unread_files *unread) { unread_files_add_end(unread, out); }

/* The views that the page shows, as they answer. A page lists 1,000 buffers; CSV has all. */
static const struct {
    const char *name;
    struct analysis_param params[2];
    size_t param_count;
} VIEWS[] = {
    {"summary", {{NULL, NULL}}, 0},
    {"curve", {{"stack", "category"}}, 1},
    {"strips", {{NULL, NULL}}, 0},
    {"whose", {{NULL, NULL}}, 0},
    {"groups", {{"by", "whose"}, {"limit", "1000"}}, 2},
    {"buffers", {{"limit", "1000"}}, 1},
};

/* What the first text of the session says that tells of a lack of memory; error texts are read here, for no scanner
 * runs. */
static bool failure_find(const struct snapshot_session *session, struct log_text_failure *failure)
{
    const atomic_bool is_stopping = false;
    for (size_t at = 0; at < session->text_count; at++) {
        const struct snapshot_text *text = &session->texts[at];
        struct err err = ERR_INIT;
        *failure = text->failure;
        bool is_read = text->is_read || log_texts_read(&text->file->place, &is_stopping, NULL, failure, &err);
        if (is_read && failure->failure_count > 0)
            return true;
    }
    return false;
}

/* What the module's verdict is, as GET /api/v1/verdict answers, or null: the page shows its advice. */
static void verdict_add(const struct export_module *module, struct buf *out)
{
    const struct verdict_parts_wanted wanted = {.session = module->session, .module = module->entry};
    const struct verdict_parts_about about = {0};
    struct verdict_parts parts = {0};
    struct buf verdict = BUF_INIT;
    struct err err = ERR_INIT;
    if (verdict_parts_open(module->store, &wanted, &parts, &err) && verdict_parts_write(&parts, &about, &verdict, &err))
        buf_add(out, verdict.data, verdict.length);
    else
        buf_text(out, "null");
    verdict_parts_close(&parts);
    buf_free(&verdict);
}

static bool module_add(const struct export_module *module, bool is_page, struct buf *out)
{
    struct json json = JSON_INIT(out);
    struct log_text_failure failure;
    if (!module->is_first)
        buf_char(out, ',');
    json_object_begin(&json);
    json_key_text(&json, "session", module->session->name);
    json_key_text(&json, "module", module->entry->program->name);
    json_key_text(&json, "file", module->entry->file->file->path);
    json_key_text(&json, "modified_at", module->modified_at[0] ? module->modified_at : NULL);
    api_write_failure(&json, failure_find(module->session, &failure) ? &failure : NULL);
    for (size_t at = 0; at < sizeof(VIEWS) / sizeof(VIEWS[0]); at++) {
        json_key(&json, VIEWS[at].name);
        if (!export_ask(module, VIEWS[at].name, VIEWS[at].params, VIEWS[at].param_count, out))
            return false;
        json.needs_comma = true; /* the answer was written past the writer */
    }
    if (is_page) {
        json_key(&json, "verdict");
        verdict_add(module, out);
    }
    json_object_end(&json);
    return true;
}

static bool module_json(const struct export_module *module, struct buf *out) { return module_add(module, false, out); }

const struct export_form export_json = {"json", begin_json, module_json, end_json};

/* ---- the page ---- */

static void file_add(struct buf *out, const char *path)
{
    const struct web_file *file = web_files_find(path);
    if (file)
        web_files_add(file, out);
    else
        log_line("%s is not compiled in", path);
}

/* The part of the page up to the mark `to`, behind the mark `from` (NULL: from its beginning, to its end). */
static void page_add(struct buf *out, const char *from, const char *to)
{
    struct buf page = BUF_INIT;
    file_add(&page, "report/report.html");
    const char *at = page.data ? page.data : "", *end = at + page.length;
    const char *begin = from ? memmem(at, (size_t)(end - at), from, strlen(from)) : at;
    begin = begin && from ? begin + strlen(from) : begin;
    const char *until = to && begin ? memmem(begin, (size_t)(end - begin), to, strlen(to)) : end;
    if (begin && until)
        buf_add(out, begin, (size_t)(until - begin));
    buf_fail_with(out, &page);
    buf_free(&page);
}

static const char STYLES[] = "<!-- styles -->", ANSWERS[] = "<!-- answers -->", SCRIPTS[] = "<!-- scripts -->";

static void begin_html(struct buf *out)
{
    page_add(out, NULL, STYLES);
    buf_text(out, "<style>\n");
    file_add(out, "report/report.css");
    buf_text(out, "</style>\n");
    page_add(out, STYLES, ANSWERS);
    buf_text(out, "<script type=\"application/json\" id=\"answers\">");
    begin_json(out);
}

/* Escapes "<", so that no text of a file can end the surrounding element. Takes `json` over. */
static void json_add(struct buf *out, struct buf *json)
{
    for (size_t at = 0; at < json->length; at++) {
        if (json->data[at] == '<')
            buf_text(out, "\\u003c");
        else
            buf_char(out, json->data[at]);
    }
    buf_fail_with(out, json);
    buf_free(json);
}

static bool module_html(const struct export_module *module, struct buf *out)
{
    struct buf json = BUF_INIT;
    bool is_good = module_add(module, true, &json);
    if (!is_good)
        json.length = 0;
    json_add(out, &json);
    return is_good;
}

static void end_html(struct buf *out, const struct unread_files *unread)
{
    struct buf json = BUF_INIT;
    end_json(&json, unread);
    json_add(out, &json);
    buf_text(out, "</script>\n");
    page_add(out, ANSWERS, SCRIPTS);
    buf_text(out, "<script>\n");
    file_add(out, "vendor/uPlot.js");
    buf_text(out, "</script>\n<script type=\"module\">\n");
    file_add(out, "report/report.js");
    buf_text(out, "</script>\n");
    page_add(out, SCRIPTS, NULL);
}

const struct export_form export_html = {"html", begin_html, module_html, end_html};
