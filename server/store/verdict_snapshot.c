/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/verdict_snapshot.h"

#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Snapshots that may be of the failure, in the order in which they were found. */
struct candidates {
    struct candidate {
        const struct snapshot_session *session;
        const struct snapshot_host *host;
    } *items;
    size_t count, capacity;
};

static void session_gather(struct candidates *out, const struct snapshot_session *session)
{
    for (size_t at = 0; at < session->host_count; at++) {
        if (!session->hosts[at].is_allocator)
            continue;
        out->items = memory_grow(out->items, &out->capacity, out->count + 1, sizeof(*out->items));
        out->items[out->count++] = (struct candidate){session, &session->hosts[at]};
    }
}

static void verdict_snapshot_look(struct store *store, const struct candidate *candidate, struct verdict_parts *parts)
{
    struct subject trace = {0};
    struct err err = ERR_INIT;
    const struct subjects_place place = subjects_trace(candidate->session, candidate->host);
    if (!subjects_open(store, &place, &trace, &err)) {
        verdict_parts_unread(parts, candidate->host->file, &trace, &err);
        return;
    }
    if (!analysis_snapshots_take(&parts->choice, candidate->host->file->name, parts->core.failure, trace.core)) {
        subjects_close(&trace);
        return;
    }
    subjects_close(&parts->trace);
    parts->trace = trace;
    parts->core.trace = trace.core;
    parts->trace_session = candidate->session;
    parts->trace_host = candidate->host;
}

/* Those that the core wants to see, in its order. */
static void candidates_look(struct store *store, const struct candidates *candidates, struct verdict_parts *parts)
{
    if (candidates->count == 0)
        return;
    const char **names = memory_new(candidates->count * sizeof(*names));
    size_t *order = memory_new(candidates->count * sizeof(*order));
    for (size_t at = 0; at < candidates->count; at++)
        names[at] = candidates->items[at].host->file->name;
    size_t count = analysis_snapshots_order(&parts->choice, names, candidates->count, order);
    for (size_t at = 0; at < count; at++)
        verdict_snapshot_look(store, &candidates->items[order[at]], parts);
    free(order);
    free(names);
}

/* Length of the folder in a path; 0: the root. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/* In the folder of the text, or uploaded with it. */
static bool is_beside(const struct snapshot_session *session, const struct verdict_parts_wanted *wanted,
                      const char *folder)
{
    const struct snapshot_file *file = session->host_count > 0 ? session->hosts[0].file : NULL,
                               *text = wanted->session ? verdict_near_file(wanted->session) : NULL;
    if (!file)
        return false;
    if (file->place.bytes) {
        size_t length = folder_length(file->path);
        return text && text->place.bytes && length == folder_length(text->path) &&
               strncmp(file->path, text->path, length) == 0;
    }
    return folder && verdict_near_is_in(&file->place, folder);
}

/* A file that was named is a root of its own. */
static bool is_given(const struct snapshot_session *session)
{
    return session->host_count > 0 && !session->hosts[0].file->place.bytes &&
           (!session->hosts[0].file->place.path || session->hosts[0].file->place.path[0] == '\0');
}

void verdict_snapshot_find(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts)
{
    const struct snapshot_file *text = wanted->session ? verdict_near_file(wanted->session) : NULL;
    char *folder = verdict_parts_folder(wanted);
    struct candidates candidates = {.count = 0};
    for (size_t at = 0; wanted->snapshot && at < wanted->snapshot->session_count; at++) {
        const struct snapshot_session *session = wanted->snapshot->sessions[at];
        if (session->allocator_count > 0 &&
            (wanted->takes_given ? is_given(session)
                                 : session == wanted->session || is_beside(session, wanted, folder)))
            session_gather(&candidates, session);
    }
    free(folder);
    parts->choice = (struct torch_choice){.text = wanted->text ? wanted->text : text ? text->name : NULL};
    candidates_look(store, &candidates, parts);
    free(candidates.items);
}
