/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/verdict_near.h"

#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A total that is further than this, in percent, from what a log asks for is of another compile. Many programs of one
 * name take a few bytes, on every device: that two of them take the same says nothing. */
enum { NEAR_PERCENT = 2, MIN_MATCH_BYTES = 1 << 20 };

const char *verdict_near_name(const struct modules_entry *entry)
{
    return entry->program       ? entry->program->name
           : entry->file->group ? entry->file->group->stem
                                : entry->file->file->name;
}

char *verdict_near_folder(const struct files_place *place)
{
    char *whole = files_place_path(place), *slash = strrchr(whole, '/');
    if (slash)
        *slash = '\0';
    return whole;
}

bool verdict_near_is_in(const struct files_place *place, const char *folder)
{
    char *own = place->bytes ? NULL : verdict_near_folder(place);
    bool is_same = own && strcmp(own, folder) == 0;
    free(own);
    return is_same;
}

const struct snapshot_file *verdict_near_file(const struct snapshot_session *session)
{
    return session->group_count > 0     ? session->groups[0].file
           : session->host_count > 0    ? session->hosts[0].file
           : session->profile_count > 0 ? session->profiles[0].file
           : session->text_count > 0    ? session->texts[0].file
           : session->file_count > 0    ? session->files[0]
                                        : NULL;
}

/* ---- the order ---- */

struct candidate {
    const struct snapshot_session *session;
    size_t steps; /* folders up and down from one to the other */
    int64_t apart_ms;
    size_t at; /* in the snapshot: newest first */
    bool is_beside;
};

static size_t depth_of(const char *folder)
{
    size_t depth = 0;
    for (; *folder; folder++)
        depth += *folder == '/';
    return depth;
}

/* Components that two folders begin with. */
static size_t common_of(const char *a, const char *b)
{
    size_t common = 0, at = 0;
    for (; a[at] && a[at] == b[at]; at++)
        common += a[at] == '/' && at > 0;
    bool is_whole = (a[at] == '\0' || a[at] == '/') && (b[at] == '\0' || b[at] == '/');
    return common + (is_whole && at > 0);
}

static bool is_wanted(const struct verdict_near_place *place, const struct snapshot_session *session)
{
    return session != place->but[0] && session != place->but[1] &&
           (place->only_traces ? session->kind == SNAPSHOT_TRACE : snapshot_has_programs(session));
}

static bool candidate_take(const struct verdict_near_place *place, size_t at, struct candidate *out)
{
    const struct snapshot_session *session = place->snapshot->sessions[at];
    const struct snapshot_file *file = verdict_near_file(session);
    if (!is_wanted(place, session) || !file || file->place.bytes)
        return false;
    char *folder = verdict_near_folder(&file->place);
    size_t own = depth_of(place->folder), other = depth_of(folder), common = common_of(place->folder, folder);
    int64_t apart_ms = place->at_ms - session->modified_at_ms;
    free(folder);
    *out = (struct candidate){.session = session,
                              .steps = own + other - 2 * common,
                              .apart_ms = place->at_ms == 0 ? 0
                                          : apart_ms < 0    ? -apart_ms
                                                            : apart_ms,
                              .at = at,
                              .is_beside = common == own || common == other};
    return true;
}

static int by_nearness(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return ORDER(b->is_beside, a->is_beside) ?: ORDER(a->steps, b->steps) ?: ORDER(a->apart_ms, b->apart_ms)
                                             ?: ORDER(a->at, b->at);
}

/* ---- the program ---- */

/* A name of a dump's file tells that it is not there without reading it. */
static bool may_hold(const struct snapshot_session *session, struct str name)
{
    if (session->kind != SNAPSHOT_DUMP)
        return true;
    for (size_t at = 0; at < session->group_count; at++)
        if (str_contains(str_of(session->groups[at].stem), name))
            return true;
    return false;
}

static bool has_memory_events(const struct modules *modules)
{
    for (size_t at = 0; at < modules->file_count; at++)
        if (modules->files[at].opened.contents && modules->files[at].opened.contents->has_memory_events)
            return true;
    return false;
}

static bool is_named(const struct modules_entry *entry, struct str name)
{
    return entry->program && str_equal(str_of(entry->program->name), name);
}

/* Small totals are equal by chance, and a trace is found only by its total. */
static bool is_total_distinctive(const struct verdict_near_place *place, const struct verdict_near_program *program)
{
    uint64_t bytes = program->has_total ? program->total_bytes : program->least_bytes;
    return !place->only_traces || bytes >= MIN_MATCH_BYTES;
}

static bool is_it(const struct modules_entry *entry, const struct verdict_near_program *program, bool is_loose)
{
    uint64_t a = entry->largest_total_bytes, b = program->total_bytes, apart = a > b ? a - b : b - a;
    uint64_t allowed =
        is_loose && b / 100 * NEAR_PERCENT > program->rounding_bytes ? b / 100 * NEAR_PERCENT : program->rounding_bytes;
    bool has_room = a == 0 || a >= program->least_bytes; /* 0: not known */
    return is_named(entry, program->name) && has_room && (!program->has_total || apart <= allowed);
}

/* Hosts of a trace run the same programs: one of them is read. */
static const struct modules_entry *entry_find(struct store *store, const struct verdict_near_place *place,
                                              const struct verdict_near_program *program,
                                              const struct candidate *candidate, struct modules *modules)
{
    const struct snapshot_session *session = candidate->session;
    bool is_there = false, is_loose = candidate->is_beside && !place->only_traces;
    modules_open(store, session, session->kind == SNAPSHOT_TRACE ? &session->hosts[0] : NULL, modules);
    if (place->only_traces && !has_memory_events(modules))
        return NULL;
    for (size_t at = 0; at < modules->entry_count && !is_there; at++)
        is_there = is_named(&modules->entries[at], program->name);
    if (is_there && (program->has_total || program->least_bytes > 0))
        modules_read_totals(store, modules);
    for (size_t at = 0; at < modules->entry_count && is_there; at++)
        if (is_it(&modules->entries[at], program, is_loose))
            return &modules->entries[at];
    return NULL;
}

void verdict_near_find(struct store *store, const struct verdict_near_place *place,
                       const struct verdict_near_program *program, struct verdict_near *found)
{
    const struct snapshot *snapshot = place->snapshot;
    size_t count = 0, read = 0,
           session_count =
               snapshot && place->folder && is_total_distinctive(place, program) ? snapshot->session_count : 0;
    struct candidate *candidates = memory_new((session_count + 1) * sizeof(*candidates));
    *found = (struct verdict_near){.session = NULL};
    for (size_t at = 0; at < session_count; at++)
        count += candidate_take(place, at, &candidates[count]);
    qsort(candidates, count, sizeof(*candidates), by_nearness);
    for (size_t at = 0; at < count && read < VERDICT_NEAR_SESSIONS; at++) {
        struct modules modules;
        if (!may_hold(candidates[at].session, program->name))
            continue;
        read++;
        const struct modules_entry *entry = entry_find(store, place, program, &candidates[at], &modules);
        found->count += entry != NULL;
        if (entry && !found->session) {
            found->session = candidates[at].session;
            found->entry = entry;
            found->modules = modules;
            found->is_loose = candidates[at].is_beside && !place->only_traces;
        } else {
            modules_close(&modules);
        }
    }
    free(candidates);
}
