/* SPDX-License-Identifier: Apache-2.0
 * choice_two.c: the two modules or device profiles that a request compares: what a= and b= name. */
#include "server/api/choice.h"

#include "server/api/listing.h"

#include <stdlib.h>
#include <string.h>

enum { PART_SESSION, PART_HOST, PART_MODULE, PART_SPACE, PART_STEP, PART_COUNT };

static const char *const NAMES[] = {"a", "b"};
static const char *const SIDES[] = {"A", "B"};
static const char *const GIVEN[][2] = {{"space_a", "step_a"}, {"space_b", "step_b"}};

static const char PROGRAM[] = "a compiler's plan, in bytes by step",
                  PROFILE[] = "a device profile, in bytes by call stack";

/* What a session without programs holds; NULL when it may have some. */
static const char *other_kind(const struct snapshot_session *session)
{
    bool is_of_snapshots = session->allocator_count > 0 && session->allocator_count == session->host_count;
    return session->kind == SNAPSHOT_PROFILES || is_of_snapshots     ? PROFILE
           : session->kind == SNAPSHOT_TEXT || session->is_text_only ? "a text without a program"
                                                                     : NULL;
}

static bool is_empty(const char *text) { return text == NULL || text[0] == '\0'; }

/* Cuts "S/H/M/…" into its parts in place. Those that are missing are NULL; false when there are too many. */
static bool choice_two_cut(char *text, char *parts[PART_COUNT])
{
    for (int at = 0; at < PART_COUNT && text; at++) {
        parts[at] = text;
        text = strchr(text, '/');
        if (text)
            *text++ = '\0';
    }
    return text == NULL;
}

static struct response *open_half(struct choice *choice, const struct request *request, int side)
{
    struct choice_half *half = &choice->halves[side];
    const char *reference = request_param(request, NAMES[side], NULL);
    char *parts[PART_COUNT] = {NULL};
    if (is_empty(reference))
        return response_problem(400, "argument", "the parameter %s is missing: SESSION/HOST/MODULE/SPACE/STEP",
                                NAMES[side]);
    half->text = memory_text(reference);
    if (!choice_two_cut(half->text, parts))
        return response_problem(400, "argument", "%s has more parts than SESSION/HOST/MODULE/SPACE/STEP", NAMES[side]);
    half->module_id = is_empty(parts[PART_MODULE]) ? NULL : parts[PART_MODULE];
    bool is_uploaded = is_empty(parts[PART_SESSION]) && half->module_id &&
                       subjects_is_id(ANALYSIS_PROFILE, half->module_id); /* a profile that belongs to no session */
    struct response *refusal =
        is_uploaded ? NULL : api_open(choice->server, parts[PART_SESSION], parts[PART_HOST], &half->about);
    for (int at = 0; !refusal && at < 2; at++) {
        if (!is_empty(parts[PART_SPACE + at]))
            choice->given[choice->given_count++] = (struct analysis_param){GIVEN[side][at], parts[PART_SPACE + at]};
    }
    return refusal;
}

/* What a side is, in words. */
static const char *kind_of(const struct choice *choice, int side)
{
    const struct choice_half *half = &choice->halves[side];
    bool is_profile = !half->about.session || choice_is_moment(half->about.session, half->module_id);
    const char *other = is_profile ? PROFILE : other_kind(half->about.session);
    return other ? other : PROGRAM;
}

/* Programs are compared with programs, device profiles with device profiles, each by its own views. */
static struct response *check_kinds(const struct choice *choice)
{
    const char *kinds[] = {kind_of(choice, 0), kind_of(choice, 1)};
    const char *wanted = choice->kind == ANALYSIS_PROFILE ? PROFILE : PROGRAM;
    bool is_profiles = kinds[0] == PROFILE && kinds[1] == PROFILE,
         is_programs = kinds[0] == PROGRAM && kinds[1] == PROGRAM;
    if (kinds[0] == wanted && kinds[1] == wanted)
        return NULL;
    if (is_profiles || is_programs)
        return response_problem(409, "conflict", "A and B are %s: the views of /api/v1/%s compare those",
                                is_profiles ? "device profiles" : "programs",
                                is_profiles ? "compare_profiles" : "compare");
    int side = kinds[1] != PROGRAM ? 1 : 0; /* the one to name first */
    return response_problem(409, "conflict",
                            "these two cannot be compared: %s is %s, %s %s; choose the same kind on both sides",
                            SIDES[side], kinds[side], SIDES[1 - side], kinds[1 - side]);
}

static struct response *open_module(struct choice *choice, int side)
{
    struct choice_half *half = &choice->halves[side];
    const char *file = NULL;
    size_t at = choice_add(choice);
    struct err *err = &choice->errs[at];
    if (!modules_find(choice->server->store, half->about.session, half->about.host, half->module_id, &half->modules,
                      err, &file))
        return response_err(err, file);
    const struct modules_entry *entry = &half->modules.entries[0];
    const struct subjects_place place = {
        .kind = ANALYSIS_MODULE, .opened = &entry->file->opened, .program = entry->program};
    struct subject *subject = &choice->subjects[at];
    if (!subjects_open(choice->server->store, &place, subject, err))
        return response_failure(err, subject->hold.is_transient, entry->file->file->path);
    choice->uses[at].subject = subject->core;
    return NULL;
}

/* What was live at the moment that is named, else at the peak. */
static struct response *open_moment(struct choice *choice, const struct snapshot_session *session, const char *id)
{
    size_t at = choice->count;
    struct response *refusal = NULL;
    if (id)
        refusal = choice_add_moment(choice, session, id, false);
    else
        choice_add_moments(choice, session, false);
    if (refusal || choice->uses[at].subject)
        return refusal;
    return response_failure(&choice->errs[at], choice->subjects[at].hold.is_transient, choice->files[at]);
}

/* The profile that is named, else the last of the session. */
static struct response *open_profile(struct choice *choice, int side)
{
    const struct choice_half *half = &choice->halves[side];
    const struct snapshot_session *session = half->about.session;
    if (session && session->profile_count == 0 && session->allocator_count > 0 &&
        (!half->module_id || choice_is_moment(session, half->module_id)))
        return open_moment(choice, session, half->module_id);
    const struct snapshot_profile *found = session ? snapshot_profile(session, half->module_id) : NULL;
    if (session && !found)
        return response_problem(404, "notfound", "%s: the session has no profile of that id", SIDES[side]);
    size_t at = choice_add(choice);
    struct subject *subject = &choice->subjects[at];
    struct store *store = choice->server->store;
    const struct subjects_place place = {.kind = ANALYSIS_PROFILE, .file = found ? &found->file->place : NULL};
    bool is_open = found ? subjects_open(store, &place, subject, &choice->errs[at])
                         : subjects_find(store, ANALYSIS_PROFILE, half->module_id, subject, &choice->errs[at]);
    const char *name = found ? found->file->name : subject->name ? subject->name : half->module_id;
    if (!is_open)
        return response_failure(&choice->errs[at], subject->hold.is_transient, name);
    choice->uses[at] = (struct analysis_use){.subject = subject->core,
                                             .id = found ? found->id : half->module_id,
                                             .name = name,
                                             .size_bytes = subject->size_bytes,
                                             .modified_at_ms = subject->modified_at_ms};
    return NULL;
}

/* Filters of profiles may come several times; what they are held to, the core looks at. */
static struct response *check_references_once(const struct request *request)
{
    size_t counts[2] = {0};
    for (size_t at = 0; at < request->param_count; at++)
        for (int side = 0; side < 2; side++)
            counts[side] += strcmp(request->params[at].name, NAMES[side]) == 0;
    for (int side = 0; side < 2; side++)
        if (counts[side] > 1)
            return response_problem(400, "argument", "the parameter \"%s\" is given more than once", NAMES[side]);
    return NULL;
}

/* Answers name the profiles: equal bytes may have another name. */
static char *key_of(const struct choice *choice)
{
    const struct subject *subjects = choice->subjects;
    if (choice->kind != ANALYSIS_PROFILE)
        return memory_format("%s|%s", subjects[0].key, subjects[1].key);
    const char *names[] = {choice->uses[0].name, choice->uses[1].name};
    const char *ids[] = {choice->uses[0].id, choice->uses[1].id}; /* of one snapshot, different moments */
    return memory_format("%s@%s|%zu:%s|%s@%s|%zu:%s", subjects[0].key, ids[0], strlen(names[0]), names[0],
                         subjects[1].key, ids[1], strlen(names[1]), names[1]);
}

struct response *choice_two_open(struct choice *choice, const struct request *request)
{
    bool is_of_profiles = choice->kind == ANALYSIS_PROFILE;
    struct response *refusal = is_of_profiles ? check_references_once(request) : listing_check_once(request);
    for (int side = 0; side < 2 && !refusal; side++)
        refusal = open_half(choice, request, side);
    if (!refusal)
        refusal = check_kinds(choice);
    for (int side = 0; side < 2 && !refusal; side++)
        refusal = is_of_profiles ? open_profile(choice, side) : open_module(choice, side);
    if (!refusal)
        choice->key = key_of(choice);
    return refusal;
}
