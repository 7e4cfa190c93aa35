/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_answer.c: the table of tools, asked: see analysis.h, "Tools and answers". */
#include "door/analysis_fit.h"
#include "door/analysis_subject.h"
#include "model/compare/programs.h"
#include "plan/person_rules.h"
#include "views/table.h"

#include <stdlib.h>

/* Answering needs little; these bound what a hostile file can make it take. A
 * step costs 1 to 10 ns. */
#define LIMIT_BYTES ((uint64_t)1 << 30)
#define WORK ((uint64_t)1 << 29)
#define USES_MAX 20000
#define MODULES_MAX 1000000

/* tool.h is in a lower layer than analysis.h and repeats its kinds in the same order. */
_Static_assert((int)TOOL_OF_MODULE == (int)ANALYSIS_MODULE && (int)TOOL_OF_TRACE == (int)ANALYSIS_TRACE &&
                   (int)TOOL_OF_PROFILES == (int)ANALYSIS_PROFILE && (int)TOOL_OF_TEXT == (int)ANALYSIS_TEXT &&
                   (int)TOOL_OF_MODULES == (int)ANALYSIS_FIGURES,
               "one order of kinds");

static enum analysis_subject_kind subject_kind_of(enum tool_model model)
{
    return model == TOOL_OF_TWO_MODULES    ? ANALYSIS_MODULE
           : model == TOOL_OF_TWO_PROFILES ? ANALYSIS_PROFILE
           : model == TOOL_OF_FLEET        ? ANALYSIS_FLEET
                                           : (enum analysis_subject_kind)model;
}

static bool is_of_two(enum tool_model model) { return model == TOOL_OF_TWO_MODULES || model == TOOL_OF_TWO_PROFILES; }

static const struct tool *const tools[] = {
#define TOOL(name) &tool_##name,
#include "views/tools.def"
#undef TOOL
};
enum { TOOL_COUNT = sizeof(tools) / sizeof(tools[0]) };

bool analysis_view_at(size_t at, struct analysis_view *view)
{
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        if (at < tools[i]->view_count) {
            *view = (struct analysis_view){.tool = tools[i]->name,
                                           .tool_title = tools[i]->title,
                                           .kind = subject_kind_of(tools[i]->model),
                                           .is_of_two = is_of_two(tools[i]->model),
                                           .view = tools[i]->views[at].name,
                                           .param_names = tools[i]->views[at].param_names,
                                           .repeatable_names = tools[i]->views[at].repeatable_names};
            return true;
        }
        at -= tools[i]->view_count;
    }
    return false;
}

bool analysis_view_find(const char *tool, const char *name, struct analysis_view *view)
{
    for (size_t at = 0; analysis_view_at(at, view); at++)
        if (strcmp(view->tool, tool) == 0 && strcmp(view->view, name) == 0)
            return true;
    return false;
}

static const struct tool_view *view_find(const struct analysis_question *question, enum tool_model *model,
                                         struct err *err)
{
    for (size_t i = 0; i < TOOL_COUNT; i++)
        for (size_t j = 0; strcmp(tools[i]->name, question->tool) == 0 && j < tools[i]->view_count; j++)
            if (strcmp(tools[i]->views[j].name, question->view) == 0) {
                *model = tools[i]->model;
                return &tools[i]->views[j];
            }
    err_set(err, ERR_notfound, ERR_NO_OFFSET, "no view \"%.40s\" of a tool \"%.40s\"", question->view, question->tool);
    return NULL;
}

static bool is_among(const char *const *names, const char *name)
{
    while (names != NULL && *names != NULL && strcmp(*names, name) != 0)
        names++;
    return names != NULL && *names != NULL;
}

static bool params_check(const struct tool_view *view, const struct analysis_param *params, size_t param_count,
                         struct err *err)
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
    json_key_object(json, "params");
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

static void view_answer(const struct tool_view *view, const struct analysis_question *question,
                        const struct tool_request *request, struct err *err)
{
    struct json json = JSON_INIT(request->out);
    const char *format = tool_param_text(request, "format");
    bool is_json = format == NULL || format[0] == '\0' || strcmp(format, "json") == 0;
    bool is_bare = view->is_bare || question->is_bare || !is_json;
    if (!is_bare) {
        json_object_begin(&json);
        json_key_text(&json, "tool", question->tool);
        json_key_text(&json, "view", view->name);
        params_write(&json, request);
        json_key(&json, "data");
    }
    if (view->answer(request, &json, err) && !is_bare) {
        note_write_list(&json, request->notes->items, request->notes->count);
        json_object_end(&json);
    }
    if (buf_is_whole(request->out, "the answer", err))
        buf_is_whole(request->scratch, "a text of the answer", err);
}

/* The state of an answer, kept while parts are still to be written. */
struct analysis_pieces {
    const struct analysis_question *question;
    const struct tool_view *view;
    enum tool_model model;
    struct tool_request request;
    struct job job;
    struct buf scratch;
    struct table_lines *rest; /* NULL: all is written */
};

/* What the model becomes: a plan, or two of them. */
static const void *model_ruled(struct tool_request *request, enum tool_model model)
{
    if (model == TOOL_OF_MODULE)
        return person_rules_apply(request->person_rules, request->model, request->scratch);
    struct compare_programs *ruled = arena_array(request->arena, struct compare_programs, 1);
    const struct compare_programs *programs = request->model;
    for (int i = 0; i < 2; i++)
        ruled->plans[i] = person_rules_apply(request->person_rules, programs->plans[i], request->scratch);
    return ruled;
}

/* A question's own lines are part of an address, which servers and browsers keep short: longer ones belong into a
 * file. */
enum { OWN_RULES_MAX = 4096 };

static size_t characters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80; /* what continues a character counts with it */
    return count;
}

static bool own_rules_are_short(const char *own, struct err *err)
{
    return characters(own) <= OWN_RULES_MAX ||
           err_set(err, ERR_argument, ERR_NO_OFFSET,
                   "category_rules: longer than %d characters; more stand in the file of --category-rules",
                   OWN_RULES_MAX);
}

/* The lines of the question's parameter, then those that hold for every question. */
static bool rules_apply(struct tool_request *request, enum tool_model model, const struct analysis_question *question,
                        struct err *err)
{
    const char *everywhere = question->category_rules;
    const char *own = tool_param_text(request, "category_rules");
    if (own == NULL && everywhere == NULL)
        return true;
    if (own != NULL && !own_rules_are_short(own, err))
        return false;
    const char *text = own == NULL          ? everywhere
                       : everywhere == NULL ? own
                                            : arena_format(request->arena, "%s\n%s", own, everywhere);
    request->person_rules = person_rules_read(str_of(text), request->arena, err);
    if (request->person_rules == NULL)
        return false;
    if (analysis_question_needs_owners(question))
        request->model = model_ruled(request, model);
    return true;
}

static void rules_check(struct job *job, const void *in, void *out, struct err *err)
{
    (void)out;
    person_rules_read(str_of(in), &job->arena, err);
}

bool analysis_category_rules_check(const char *lines, struct err *err)
{
    struct job job = {.source = NULL};
    arena_init(&job.arena, LIMIT_BYTES, err);
    arena_allot_work(&job.arena, WORK);
    job_try(&job, rules_check, lines, NULL, err);
    arena_free(&job.arena);
    return !err_is_set(err);
}

bool analysis_own_rules_check(const char *lines, struct err *err)
{
    return own_rules_are_short(lines, err) && analysis_category_rules_check(lines, err);
}

/* What was live at the moments of snapshots becomes profiles. */
static bool moments_make(struct analysis_pieces *pieces, struct err *err)
{
    const struct profile_set *set = pieces->request.model;
    const struct analysis_question *question = pieces->question;
    struct profile_set *made = arena_array(&pieces->job.arena, struct profile_set, 1);
    struct profile_set_item *items = arena_array(&pieces->job.arena, struct profile_set_item, set->count);
    memcpy(items, set->items, set->count * sizeof(*items));
    for (uint32_t i = 0; i < set->count; i++) {
        const struct analysis_use *use = &question->uses[i];
        if (use->subject != NULL && use->subject->kind == ANALYSIS_TRACE &&
            !analysis_profile_of_moment(use, &pieces->job.arena, &items[i], err))
            return false;
    }
    *made = *set;
    made->items = items;
    pieces->request.model = made;
    return true;
}

static const struct tool_capacity *capacities_of(const struct analysis_question *question, struct arena *arena)
{
    struct tool_capacity *capacities = arena_array(arena, struct tool_capacity, question->capacity_count + 1);
    for (size_t i = 0; i < question->capacity_count; i++)
        capacities[i] =
            (struct tool_capacity){question->capacities[i].space, analysis_fit_capacity(&question->capacities[i])};
    return capacities;
}

static void analysis_answer_answer(struct job *job, const void *in, void *to, struct err *err)
{
    (void)in;
    struct analysis_pieces *pieces = to;
    struct tool_request *request = &pieces->request;
    const struct analysis_question *question = pieces->question;
    struct tool_param *params = arena_array(&job->arena, struct tool_param, request->param_count + 1);
    for (size_t i = 0; i < request->param_count; i++)
        params[i] = (struct tool_param){question->params[i].name, question->params[i].value};
    request->params = params;
    request->capacities = capacities_of(pieces->question, &job->arena);
    request->capacity_count = pieces->question->capacity_count;
    request->notes = arena_array(&job->arena, struct notes, 1);
    const struct plan *plan = pieces->model == TOOL_OF_MODULE ? request->model : NULL;
    bool is_of_profiles = subject_kind_of(pieces->model) == ANALYSIS_PROFILE;
    if (is_of_profiles && !moments_make(pieces, err))
        return;
    bool is_of_plans = plan != NULL || pieces->model == TOOL_OF_TWO_MODULES;
    if (is_of_plans && !rules_apply(request, pieces->model, question, err))
        return;
    bool has_notes = plan != NULL && analysis_question_needs_owners(question); /* a completed plan alone has them */
    for (uint32_t i = 0; has_notes && i < plan->note_count; i++)
        tool_note(request, plan->notes[i].code, plan->notes[i].count, plan->notes[i].text);
    view_answer(pieces->view, question, request, err);
    request->param_count = 0; /* they are the asker's */
    request->params = NULL;
}

void analysis_pieces_free(struct analysis_pieces *pieces)
{
    if (pieces == NULL)
        return;
    buf_free(&pieces->scratch);
    arena_free(&pieces->job.arena);
    free(pieces);
}

/* `rest` NULL: nothing is left to be written. */
static bool answer_about(const struct analysis_pieces *asked, const void *model, struct buf *out,
                         struct analysis_pieces **rest, struct err *err)
{
    struct analysis_pieces *pieces = malloc(sizeof(*pieces));
    if (pieces == NULL)
        return err_exhausted(err);
    *pieces = *asked;
    const struct analysis_groundwork *groundwork = pieces->question->groundwork;
    pieces->request = (struct tool_request){.model = model,
                                            .groundwork = groundwork != NULL ? &groundwork->groundwork : NULL,
                                            .param_count = pieces->question->param_count,
                                            .arena = &pieces->job.arena,
                                            .scratch = &pieces->scratch,
                                            .lead = pieces->question->lead,
                                            .lead_count = pieces->question->lead_count,
                                            .is_headless = pieces->question->is_headless,
                                            .rest = rest != NULL ? &pieces->rest : NULL,
                                            .out = out};
    if (out->limit_bytes == 0)
        out->limit_bytes = LIMIT_BYTES;
    arena_init(&pieces->job.arena, LIMIT_BYTES, err);
    arena_allot_work(&pieces->job.arena, WORK);
    arena_watch(&pieces->job.arena, pieces->question->wanted);
    job_try(&pieces->job, analysis_answer_answer, NULL, pieces, err);
    arena_watch(&pieces->job.arena, NULL); /* pieces outlive the question */
    if (rest != NULL && pieces->rest != NULL && !err_is_set(err))
        *rest = pieces;
    else
        analysis_pieces_free(pieces);
    return !err_is_set(err);
}

struct piece {
    struct analysis_pieces *pieces;
    uint64_t at;
    size_t size_bytes;
};

static void piece_write(struct job *job, const void *in, void *out, struct err *err)
{
    struct piece *piece = out;
    struct buf *bytes = piece->pieces->request.out;
    (void)job, (void)in;
    table_lines_next(piece->pieces->rest, &piece->at, piece->size_bytes, bytes);
    if (buf_is_whole(bytes, "the answer", err))
        buf_is_whole(piece->pieces->request.scratch, "a text of the answer", err);
}

bool analysis_pieces_next(struct analysis_pieces *pieces, uint64_t *at, size_t size_bytes, struct buf *out,
                          struct err *err)
{
    struct piece piece = {pieces, *at, size_bytes};
    pieces->request.out = out;
    pieces->job.arena.err = err;
    job_try(&pieces->job, piece_write, NULL, &piece, err);
    *at = piece.at;
    return !err_is_set(err);
}

static bool answer_about_profiles(const struct analysis_pieces *asked, struct buf *out, struct err *err)
{
    const struct analysis_question *question = asked->question;
    if (question->use_count == 0 || question->use_count > USES_MAX)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "from 1 to %d profiles can be looked at together", USES_MAX);
    struct profile_set_item *items = calloc(question->use_count, sizeof(*items));
    if (items == NULL)
        return err_exhausted(err);
    for (size_t i = 0; i < question->use_count; i++) {
        items[i] = analysis_profile_item(&question->uses[i]);
        if (asked->model == TOOL_OF_TWO_PROFILES)
            items[i].is_base = i == 0;
    }
    const struct profile_set set = {items, (uint32_t)question->use_count, question->has_source};
    bool is_answered = answer_about(asked, &set, out, NULL, err);
    free(items);
    return is_answered;
}

static bool answer_about_modules(const struct analysis_pieces *asked, struct buf *out, struct err *err)
{
    const struct analysis_question *question = asked->question;
    if (question->module_count > MODULES_MAX)
        return err_set(err, ERR_limit, ERR_NO_OFFSET, "a session of more than %d modules is not looked at as a whole",
                       MODULES_MAX);
    struct module_item *items = calloc(question->module_count + 1, sizeof(*items));
    if (items == NULL)
        return err_exhausted(err);
    for (size_t i = 0; i < question->module_count; i++)
        items[i] = analysis_module_item(&question->modules[i]);
    const struct analysis_modules_read *read = &question->modules_read;
    const struct module_set set = {.items = items,
                                   .count = (uint32_t)question->module_count,
                                   .host_count = read->host_count,
                                   .runs_count = read->runs_count,
                                   .runs_known_count = read->runs_known_count,
                                   .distinct_count = read->distinct_count};
    bool is_answered = answer_about(asked, &set, out, NULL, err);
    free(items);
    return is_answered;
}

/* All are of the kind that the view is about; of profiles some may not have been read. */
static bool uses_check(const struct analysis_question *question, enum tool_model model, struct err *err)
{
    bool is_of_any = model == TOOL_OF_PROFILES || model == TOOL_OF_MODULES;
    bool is_fit = is_of_any || question->use_count == (is_of_two(model) ? 2 : 1);
    if (model == TOOL_OF_FLEET)
        is_fit = question->use_count == 0 && question->fleet != NULL;
    for (size_t i = 0; i < question->use_count && is_fit; i++) {
        const struct analysis_subject *subject = question->uses[i].subject;
        bool may_be_trace = subject_kind_of(model) == ANALYSIS_PROFILE; /* of a snapshot: see analysis_use */
        is_fit = subject == NULL
                     ? is_of_any
                     : subject->kind == subject_kind_of(model) || (may_be_trace && subject->kind == ANALYSIS_TRACE);
    }
    return is_fit || err_set(err, ERR_argument, ERR_NO_OFFSET,
                             "the view \"%s\" of \"%s\" does not apply to such a file", question->view, question->tool);
}

static bool answer_about_two(const struct analysis_pieces *asked, struct buf *out, struct err *err)
{
    const struct analysis_use *uses = asked->question->uses;
    const struct compare_programs programs = {{&uses[0].subject->plan, &uses[1].subject->plan}};
    return answer_about(asked, &programs, out, NULL, err);
}

static const void *model_of(const struct analysis_subject *subject)
{
    return subject->kind == ANALYSIS_MODULE  ? (const void *)&subject->plan
           : subject->kind == ANALYSIS_TRACE ? (const void *)&subject->trace
                                             : (const void *)&subject->report;
}

bool analysis_answer_begin(const struct analysis_question *question, struct buf *out, struct analysis_pieces **rest,
                           struct err *err)
{
    struct analysis_pieces asked = {.question = question};
    asked.view = view_find(question, &asked.model, err);
    if (asked.view == NULL || !params_check(asked.view, question->params, question->param_count, err) ||
        !uses_check(question, asked.model, err))
        return false;
    switch (asked.model) {
    case TOOL_OF_PROFILES:
    case TOOL_OF_TWO_PROFILES: return answer_about_profiles(&asked, out, err);
    case TOOL_OF_MODULES: return answer_about_modules(&asked, out, err);
    case TOOL_OF_TWO_MODULES: return answer_about_two(&asked, out, err);
    case TOOL_OF_FLEET: return answer_about(&asked, analysis_fleet_model(question->fleet), out, NULL, err);
    default: return answer_about(&asked, model_of(question->uses[0].subject), out, rest, err);
    }
}

bool analysis_answer(const struct analysis_question *question, struct buf *out, struct err *err)
{
    return analysis_answer_begin(question, out, NULL, err);
}
