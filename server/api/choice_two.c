/* SPDX-License-Identifier: Apache-2.0
 * choice_two.c: the two modules that a request compares: what a= and b= name. */
#include "server/api/choice.h"

#include "server/api/listing.h"

#include <stdlib.h>
#include <string.h>

enum { PART_SESSION, PART_HOST, PART_MODULE, PART_SPACE, PART_STEP, PART_COUNT };

static const char *const NAMES[] = {"a", "b"};
static const char *const SIDES[] = {"A", "B"};
static const char *const GIVEN[][2] = {{"space_a", "step_a"}, {"space_b", "step_b"}};

/* What a session without programs holds; NULL when it may have some. */
static const char *other_kind(const struct snapshot_session *session)
{
    return session->kind == SNAPSHOT_PROFILES                        ? "a device profile, in bytes by call stack"
           : session->kind == SNAPSHOT_TEXT || session->is_text_only ? "a text without a program"
                                                                     : NULL;
}

static bool is_empty(const char *text) { return text == NULL || text[0] == '\0'; }

/* Cuts "S/H/M/…" into its parts in place. Those that are missing are NULL; false when there are too many. */
static bool cut(char *text, char *parts[PART_COUNT])
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
    if (!cut(half->text, parts))
        return response_problem(400, "argument", "%s has more parts than SESSION/HOST/MODULE/SPACE/STEP", NAMES[side]);
    struct response *refusal = api_open(choice->server, parts[PART_SESSION], parts[PART_HOST], &half->about);
    for (int at = 0; !refusal && at < 2; at++) {
        if (!is_empty(parts[PART_SPACE + at]))
            choice->given[choice->given_count++] = (struct analysis_param){GIVEN[side][at], parts[PART_SPACE + at]};
    }
    half->module_id = is_empty(parts[PART_MODULE]) ? NULL : parts[PART_MODULE];
    return refusal;
}

/* Only programs are compared here. */
static struct response *check_kinds(const struct choice *choice)
{
    const char *kinds[2];
    for (int side = 0; side < 2; side++)
        kinds[side] = other_kind(choice->halves[side].about.session);
    if (kinds[0] && kinds[1] && strcmp(kinds[0], kinds[1]) == 0 &&
        choice->halves[0].about.session->kind == SNAPSHOT_PROFILES)
        return response_problem(409, "conflict",
                                "A and B are device profiles: Device Memory compares those, as profile= and base=");
    for (int side = 0; side < 2; side++) {
        if (kinds[side])
            return response_problem(409, "conflict",
                                    "these two cannot be compared: %s is %s, %s %s; choose the same kind on both sides",
                                    SIDES[side], kinds[side], SIDES[1 - side],
                                    kinds[1 - side] ? kinds[1 - side] : "a compiler's plan, in bytes by step");
    }
    return NULL;
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
    const struct subjects_place place = {ANALYSIS_MODULE, NULL, &entry->file->opened, entry->program};
    struct subject *subject = &choice->subjects[at];
    if (!subjects_open(choice->server->store, &place, subject, err))
        return response_failure(err, subject->hold.is_passing, entry->file->file->path);
    choice->uses[at].subject = subject->core;
    return NULL;
}

struct response *choice_two_open(struct choice *choice, const struct request *request)
{
    struct response *refusal = listing_check_once(request);
    for (int side = 0; side < 2 && !refusal; side++)
        refusal = open_half(choice, request, side);
    if (!refusal)
        refusal = check_kinds(choice);
    for (int side = 0; side < 2 && !refusal; side++)
        refusal = open_module(choice, side);
    if (!refusal)
        choice->key = memory_format("%s|%s", choice->subjects[0].key, choice->subjects[1].key);
    return refusal;
}
