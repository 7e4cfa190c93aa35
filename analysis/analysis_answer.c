/* SPDX-License-Identifier: Apache-2.0
 * analysis_answer.c: see analysis_answer.h. */
#include "analysis_answer.h"

#include "job.h"
#include "tool/memory_viewer/plan.h"
#include "tool/tool.h"

/* Answering needs little; these bound what a hostile file can make it take. A
 * step costs 1 to 10 ns. */
#define LIMIT_BYTES ((uint64_t)1 << 30)
#define WORK ((uint64_t)1 << 29)

static const struct tool *const tools[] = {
#define TOOL(name) &tool_##name,
#include "tool/tools.def"
#undef TOOL
};
enum { TOOL_COUNT = sizeof tools / sizeof tools[0] };

bool analysis_view_at(size_t at, struct analysis_view *view)
{
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        if (at < tools[i]->view_count) {
            *view = (struct analysis_view){tools[i]->name, tools[i]->title, tools[i]->views[at].name,
                                           tools[i]->views[at].param_names};
            return true;
        }
        at -= tools[i]->view_count;
    }
    return false;
}

static const struct tool_view *view_find(const struct analysis_question *question, struct err *err)
{
    enum tool_model model = question->profiles != NULL ? TOOL_OF_PROFILES : question->trace != NULL ? TOOL_OF_TRACE : TOOL_OF_MODULE;
    for (size_t i = 0; i < TOOL_COUNT; i++)
        for (size_t j = 0; tools[i]->model == model && strcmp(tools[i]->name, question->tool) == 0 && j < tools[i]->view_count; j++)
            if (strcmp(tools[i]->views[j].name, question->view) == 0)
                return &tools[i]->views[j];
    err_set(err, ERR_notfound, ERR_NO_OFFSET, "no view \"%.40s\" of a tool \"%.40s\"", question->view, question->tool);
    return NULL;
}

static bool is_among(const char *const *names, const char *name)
{
    while (names != NULL && *names != NULL && strcmp(*names, name) != 0)
        names++;
    return names != NULL && *names != NULL;
}

static bool params_check(const struct tool_view *view, const struct analysis_param *params, size_t param_count, struct err *err)
{
    for (size_t i = 0; i < param_count; i++) {
        if (!is_among(view->param_names, params[i].name))
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "unknown parameter \"%.40s\"", params[i].name);
        for (size_t j = 0; j < i && !is_among(view->repeatable_names, params[i].name); j++)
            if (strcmp(params[j].name, params[i].name) == 0)
                return err_set(err, ERR_argument, ERR_NO_OFFSET, "parameter \"%.40s\" is given twice", params[i].name);
    }
    return true;
}

/* "params": each once; the values of one that is given several times are joined by line breaks. */
static void params_write(struct json *json, const struct tool_request *request)
{
    json_key(json, "params");
    json_object_begin(json);
    for (size_t i = 0; i < request->param_count; i++) {
        const char *name = request->params[i].name;
        bool is_first = true;
        for (size_t j = 0; j < i; j++)
            is_first &= strcmp(request->params[j].name, name) != 0;
        if (!is_first)
            continue;
        request->scratch->length = 0;
        for (size_t j = i; j < request->param_count; j++) {
            if (strcmp(request->params[j].name, name) != 0)
                continue;
            if (j > i)
                buf_char(request->scratch, '\n');
            buf_text(request->scratch, request->params[j].value);
        }
        json_key_string(json, name, (struct str){request->scratch->data, request->scratch->length});
    }
    json_object_end(json);
}

static void view_answer(const struct tool_view *view, const char *tool, const struct tool_request *request, struct err *err)
{
    struct json json = JSON_INIT(request->out);
    const char *format = tool_param_text(request, "format");
    bool is_bare = view->is_bare || (format != NULL && format[0] != '\0' && strcmp(format, "json") != 0);
    if (!is_bare) {
        json_object_begin(&json);
        json_key_text(&json, "tool", tool);
        json_key_text(&json, "view", view->name);
        params_write(&json, request);
        json_key(&json, "data");
    }
    if (view->answer(request, &json, err) && !is_bare) {
        tool_notes_write(&json, request->notes->items, request->notes->count);
        json_object_end(&json);
    }
    if (request->out->failed)
        err_set(err, ERR_limit, ERR_NO_OFFSET, "the answer is larger than allowed");
}

struct asked {
    const struct analysis_question *question;
    const struct tool_view *view;
    struct tool_request request;
};

static void answer(struct job *job, const void *in, void *out, struct err *err)
{
    (void)out;
    const struct asked *asked = in;
    struct tool_request request = asked->request;
    struct tool_notes notes = {0};
    struct tool_param *params = arena_array(&job->arena, struct tool_param, request.param_count + 1);
    for (size_t i = 0; i < request.param_count; i++)
        params[i] = (struct tool_param){asked->question->params[i].name, asked->question->params[i].value};
    request.params = params;
    request.arena = &job->arena;
    request.notes = &notes;
    for (uint32_t i = 0; request.plan != NULL && i < request.plan->note_count; i++)
        tool_note(&request, request.plan->notes[i].code, request.plan->notes[i].count, request.plan->notes[i].text);
    view_answer(asked->view, asked->question->tool, &request, err);
}

bool analysis_answer_write(const struct analysis_question *question, struct buf *out, struct err *err)
{
    struct asked asked = {.question = question, .view = view_find(question, err)};
    if (asked.view == NULL || !params_check(asked.view, question->params, question->param_count, err))
        return false;
    struct job job = {.gzip = NULL};
    struct buf scratch = BUF_INIT;
    asked.request = (struct tool_request){
        .plan = question->plan, .profiles = question->profiles, .trace = question->trace,
        .param_count = question->param_count, .scratch = &scratch, .out = out};
    if (out->limit_bytes == 0)
        out->limit_bytes = LIMIT_BYTES;
    arena_init(&job.arena, LIMIT_BYTES, err);
    arena_allot_work(&job.arena, WORK);
    job_try(&job, answer, &asked, NULL, err);
    buf_free(&scratch);
    arena_free(&job.arena);
    return !err_is_set(err);
}
