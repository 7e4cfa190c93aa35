/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/choice.h"

#include "server/api/listing.h"
#include "server/store/profile_series.h"

#include <stdlib.h>
#include <string.h>

/* Rows of a table in one answer. */
enum { MAX_ROWS = 1000 };

/* ---- subjects that are held: profiles, and an uploaded text ----------------------------- */

size_t choice_add(struct choice *choice)
{
    size_t capacity = choice->capacity, needed = choice->count + 1;
    choice->subjects = memory_grow(choice->subjects, &choice->capacity, needed, sizeof(*choice->subjects));
    size_t same = capacity, again = capacity; /* all four grow alike */
    choice->uses = memory_grow(choice->uses, &same, needed, sizeof(*choice->uses));
    choice->errs = memory_grow(choice->errs, &capacity, needed, sizeof(*choice->errs));
    choice->files = memory_grow(choice->files, &again, needed, sizeof(*choice->files));
    choice->files[needed - 1] = NULL;
    choice->subjects[needed - 1] = (struct subject){0};
    choice->uses[needed - 1] = (struct analysis_use){0};
    choice->errs[needed - 1] = (struct err)ERR_INIT;
    return choice->count++;
}

/* Opens one; what cannot be read stays with its reason. */
static void choice_add_one(struct choice *choice, const char *id, const struct snapshot_profile *profile, bool is_base)
{
    struct store *store = choice->server->store;
    size_t at = choice_add(choice);
    const struct subjects_place place = {.kind = choice->kind, .file = profile ? &profile->file->place : NULL};
    struct subject *subject = &choice->subjects[at];
    if (profile)
        subjects_open(store, &place, subject, &choice->errs[at]);
    else
        subjects_find(store, choice->kind, id, subject, &choice->errs[at]);
    choice->uses[at] = (struct analysis_use){
        .subject = subject->core,
        .id = id,
        .name = profile         ? profile->file->name
                : subject->name ? subject->name
                                : id,
        .size_bytes = subject->core ? subject->size_bytes
                      : profile     ? profile->file->identity.size_bytes
                                    : 0,
        .modified_at_ms = subject->modified_at_ms,
        .is_base = is_base,
        .code = choice->errs[at].code,
    };
    choice->files[at] = choice->uses[at].name;
}

/* Opens what profile= and base= name. NULL, or the refusal. */
static struct response *add_named(struct choice *choice, const struct request *request)
{
    for (size_t at = 0; at < request->param_count; at++) {
        const struct request_param *param = &request->params[at];
        bool is_base = strcmp(param->name, "base") == 0;
        if ((!is_base && strcmp(param->name, "profile") != 0) || param->value[0] == '\0')
            continue;
        if (choice_is_moment(choice->about.session, param->value)) {
            struct response *refusal = choice_add_moment(choice, choice->about.session, param->value, is_base);
            if (refusal)
                return refusal;
            continue;
        }
        const struct snapshot_session *session = choice->about.session;
        const struct snapshot_profile *profile = session ? snapshot_profile(session, param->value) : NULL;
        if (!profile && !subjects_is_id(ANALYSIS_PROFILE, param->value))
            return choice->about.session ? response_problem(404, "notfound", "the session has no profile of that id")
                                         : response_problem(400, "argument", "the parameter session is missing");
        choice_add_one(choice, param->value, profile, is_base);
    }
    return NULL;
}

/* Names one that is beside a series: it can be chosen by profile=. */
static void add_other(struct choice *choice, const struct snapshot_profile *profile)
{
    size_t at = choice_add(choice);
    choice->uses[at] = (struct analysis_use){.id = profile->id, .name = profile->file->name};
}

static void add_series(struct choice *choice)
{
    const struct snapshot_session *session = choice->about.session;
    bool *is_chosen = memory_new(session->profile_count * sizeof(*is_chosen));
    profile_series_choose(session, is_chosen);
    for (size_t at = 0; at < session->profile_count; at++) {
        if (is_chosen[at])
            choice_add_one(choice, session->profiles[at].id, &session->profiles[at], false);
    }
    for (size_t at = 0; at < session->profile_count; at++) {
        if (!is_chosen[at])
            add_other(choice, &session->profiles[at]);
    }
    free(is_chosen);
}

/* Without profile=: those of a series, else the last one. */
static struct response *add_default(struct choice *choice, bool is_series)
{
    const struct snapshot_session *session = choice->about.session;
    for (size_t at = 0; at < choice->count; at++) {
        if (!choice->uses[at].is_base)
            return NULL;
    }
    if (!session)
        return response_problem(400, "argument", "name a session, or a profile by its hash");
    if (session->profile_count == 0 && session->allocator_count > 0) {
        choice_add_moments(choice, session, is_series);
        return NULL;
    }
    if (session->profile_count == 0)
        return response_problem(404, "notfound", "the session has no device profile");
    const struct snapshot_profile *last = snapshot_profile(session, NULL);
    if (is_series)
        add_series(choice);
    else
        choice_add_one(choice, last->id, last, false);
    return NULL;
}

/* A view of one profile that cannot be read says why; a series goes on without it. */
static struct response *check_read(struct choice *choice)
{
    size_t read_count = 0;
    for (size_t at = 0; at < choice->count; at++) {
        choice->uses[at].reason = choice->errs[at].text;
        read_count += choice->uses[at].subject && !choice->uses[at].is_base;
    }
    for (size_t at = 0; at < choice->count; at++) {
        bool is_needed = choice->uses[at].is_base || read_count == 0;
        if (!choice->uses[at].subject && is_needed)
            return response_failure(&choice->errs[at], choice->subjects[at].hold.is_transient, choice->files[at]);
    }
    return NULL;
}

/* For one that cannot be read, everything that an answer says about it. */
static void key_write(const void *context, struct buf *keys)
{
    const struct choice *choice = context;
    for (size_t at = 0; at < choice->count; at++) {
        const struct analysis_use *use = &choice->uses[at];
        buf_format(keys, "%s%s=%s:%zu:%s,", use->is_base ? "-" : "+", use->id,
                   use->subject ? choice->subjects[at].key : "", strlen(use->name), use->name);
        if (!use->subject)
            buf_format(keys, "%d:%llu:%zu:%s,", (int)use->code, (unsigned long long)use->size_bytes,
                       strlen(use->reason), use->reason);
    }
    buf_char(keys, '\0');
}

static char *key_of(const struct choice *choice)
{
    struct buf keys = BUF_INIT;
    memory_write(&keys, key_write, choice);
    return keys.data;
}

static struct response *choose_profiles(struct choice *choice, const struct request *request,
                                        const struct analysis_view *view)
{
    const char *id = request_param(request, "session", NULL), *format = request_param(request, "format", "json");
    struct response *response = NULL;
    size_t id_count = 0;
    if (strcmp(format, "json") == 0 && strtol(request_param(request, "limit", "0"), NULL, 10) > MAX_ROWS)
        return response_problem(400, "argument", "limit must be a whole number up to %d", MAX_ROWS);
    for (size_t at = 0; at < request->param_count; at++)
        id_count += strcmp(request->params[at].name, "session") == 0;
    if (id_count > 1)
        return response_problem(400, "argument", "the parameter \"session\" is given more than once");
    if (id && id[0])
        response = api_open(choice->server, id, NULL, &choice->about);
    if (!response)
        response = add_named(choice, request);
    if (!response)
        response = add_default(choice, strcmp(view->view, "series") == 0);
    if (!response)
        response = check_read(choice);
    if (!response) {
        choice->key = key_of(choice);
        choice->file = choice->count == 1 ? choice->files[0] : NULL;
    }
    return response;
}

/* ---- one of a session -------------------------------------------------------------- */

static struct response *open_session(struct choice *choice, const struct request *request,
                                     const struct analysis_view *view)
{
    struct response *refusal = listing_check_once_but(request, view->repeatable_names);
    return refusal ? refusal
                   : api_open(choice->server, request_param(request, "session", NULL),
                              request_param(request, "host", NULL), &choice->about);
}

/* The summary and the what-if say whether it fits: in what is known of its device, or in capacity=. */
static struct response *fit_choose(struct choice *choice, const struct request *request,
                                   const struct analysis_view *view)
{
    choice->has_fit = strcmp(view->view, "summary") == 0 || strcmp(view->view, "whatif") == 0;
    return choice->has_fit ? api_capacity_read(request, &choice->capacity_chosen) : NULL;
}

static struct response *choose_module(struct choice *choice, const struct request *request,
                                      const struct analysis_view *view)
{
    const char *id = request_param(request, "module", ""), *file;
    struct err err = ERR_INIT;
    struct response *refusal = open_session(choice, request, view);
    if (refusal)
        return refusal;
    if (!modules_find(choice->server->store, choice->about.session, choice->about.host, id[0] ? id : NULL,
                      &choice->modules, &err, &file))
        return response_err(&err, file);
    const struct modules_entry *entry = &choice->modules.entries[0];
    choice->place =
        (struct subjects_place){.kind = ANALYSIS_MODULE, .opened = &entry->file->opened, .program = entry->program};
    choice->file = entry->file->file->path;
    choice->part_id = entry->id;
    return fit_choose(choice, request, view);
}

static struct response *choose_trace(struct choice *choice, const struct request *request,
                                     const struct analysis_view *view)
{
    struct response *refusal = open_session(choice, request, view);
    if (!refusal && choice->about.session->kind != SNAPSHOT_TRACE)
        refusal = response_problem(404, "notfound", "this session is no profiler trace: it has no memory events");
    if (refusal)
        return refusal;
    const struct snapshot_host *host = choice->about.host;
    if (!host)
        host = subjects_worst_host(choice->server->store, choice->about.session, NULL, NULL);
    choice->place = subjects_trace(choice->about.session, host);
    choice->file = host->file->path;
    choice->part_id = host->id;
    return NULL;
}

/* ---- texts -------------------------------------------------------------------------- */

static struct response *choose_uploaded_text(struct choice *choice, const struct request *request, const char *id)
{
    if (request_param(request, "session", NULL) || request_param(request, "file", NULL))
        return response_problem(400, "argument", "give either session (and file), or local");
    if (!subjects_is_id(ANALYSIS_TEXT, id))
        return response_problem(400, "argument", "local must be 32 hex digits");
    choice_add_one(choice, id, NULL, false);
    choice->key = memory_text(id);
    return choice->uses[0].subject ? NULL : response_err(&choice->errs[0], NULL);
}

static struct response *choose_text(struct choice *choice, const struct request *request,
                                    const struct analysis_view *view)
{
    const char *local = request_param(request, "local", NULL), *name = request_param(request, "file", "");
    (void)view;
    if (local)
        return choose_uploaded_text(choice, request, local);
    struct response *refusal = api_open(choice->server, request_param(request, "session", NULL), NULL, &choice->about);
    if (refusal)
        return refusal;
    const struct snapshot_session *session = choice->about.session;
    const struct snapshot_text *text = snapshot_text(session, name);
    if (!text && !name[0] && session->text_count > 0)
        text = &session->texts[0];
    if (!text)
        return response_problem(
            404, "notfound", name[0] ? "the session has no text of that name" : "the session has no error text or log");
    choice->place = (struct subjects_place){.kind = ANALYSIS_TEXT, .file = &text->file->place};
    choice->file = text->file->path;
    choice->part_id = text->file->name;
    return NULL;
}

/* ---- by kind ------------------------------------------------------------------------ */

static const char *const MODULE_NAMES[] = {"session", "host", "module", NULL};
static const char *const TRACE_NAMES[] = {"session", "host", NULL};
static const char *const PROFILE_NAMES[] = {"session", "profile", "base", NULL};
static const char *const FIT_NAMES[] = {"session", "host", "module", "capacity", NULL};
static const char *const TEXT_NAMES[] = {"session", "file", "local", NULL};
static const char *const TWO_NAMES[] = {"a", "b", NULL};

static const struct chooser {
    const char *const *names;
    struct response *(*choose)(struct choice *choice, const struct request *request, const struct analysis_view *view);
} CHOOSERS[] = {
    [ANALYSIS_MODULE] = {MODULE_NAMES, choose_module},
    [ANALYSIS_TRACE] = {TRACE_NAMES, choose_trace},
    [ANALYSIS_PROFILE] = {PROFILE_NAMES, choose_profiles},
    [ANALYSIS_TEXT] = {TEXT_NAMES, choose_text},
};

struct response *choice_open(struct choice *choice, const struct server *server, const struct request *request,
                             const struct analysis_view *view)
{
    choice->server = server;
    choice->kind = view->kind;
    return view->is_of_two ? choice_two_open(choice, request) : CHOOSERS[view->kind].choose(choice, request, view);
}

void choice_close(struct choice *choice)
{
    for (size_t at = 0; at < choice->count; at++)
        subjects_close(&choice->subjects[at]);
    free(choice->subjects);
    for (size_t at = 0; at < choice->text_count; at++)
        free(choice->texts[at]);
    free(choice->texts);
    free(choice->uses);
    free(choice->errs);
    free(choice->files);
    free(choice->key);
    for (int at = 0; at < 2; at++) {
        modules_close(&choice->halves[at].modules);
        api_close(&choice->halves[at].about);
        free(choice->halves[at].text);
    }
    modules_close(&choice->modules);
    api_close(&choice->about);
}

/* What references say goes behind the parameters of the request. */
static struct analysis_param *add_given(struct analysis_param *params, size_t *count, const struct choice *choice)
{
    size_t capacity = *count;
    params = memory_grow(params, &capacity, *count + choice->given_count, sizeof(*params));
    memcpy(params + *count, choice->given, choice->given_count * sizeof(*params));
    *count += choice->given_count;
    return params;
}

static void fit_find(const struct choice *choice, struct capacity_spaces *spaces)
{
    const struct modules_file *file = choice->modules.entries[0].file;
    struct capacity_spaces texts;
    capacity_spaces_of_texts(choice->about.session, &texts);
    capacity_spaces_find(&texts, &choice->capacity_chosen, choice->about.session, file->group, file->opened.contents,
                         spaces);
}

struct body *choice_answer(const struct choice *choice, const struct request *request, const struct analysis_view *view,
                           struct response **refusal)
{
    struct err err = ERR_INIT;
    struct analysis_question question = {.tool = view->tool, .view = view->view, .uses = choice->uses};
    question.use_count = choice->count;
    question.has_source = choice->server->source_root_count > 0;
    const char *const *names = view->is_of_two ? TWO_NAMES : choice->has_fit ? FIT_NAMES : CHOOSERS[view->kind].names;
    struct analysis_param *params = api_core_params(request, names, &question.param_count);
    if (choice->given_count > 0)
        params = add_given(params, &question.param_count, choice);
    question.params = params;
    struct capacity_stated capacities[CAPACITY_SPACES];
    struct capacity_spaces spaces = {0};
    if (choice->has_fit) {
        fit_find(choice, &spaces);
        capacity_spaces_core(&spaces, capacities);
        question.capacities = capacities;
        question.capacity_count = spaces.count;
    }
    bool is_transient;
    struct body *body = subjects_answer(choice->server->store, choice->key ? NULL : &choice->place, choice->key,
                                        &question, &err, &is_transient);
    free(params);
    if (!body)
        *refusal = response_failure(&err, is_transient, choice->file);
    return body;
}
