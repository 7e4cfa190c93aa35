/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/verdict_snapshot.h"

#include "server/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_MAX = 16, REASON_BYTES = 400 };

struct looking {
    struct store *store;
    const struct verdict_parts_wanted *wanted;
    struct verdict_parts *parts;
    const char *text; /* name of the text; NULL */
    unsigned best, best_named;
    size_t read, fitting, left;
    const char *taken, *refused; /* paths */
    char reason[REASON_BYTES], why_not[REASON_BYTES];
};

bool verdict_snapshot_may(const struct oom_verdict *failure)
{
    return failure && failure->failure->family == OOM_FAMILY_torch_gpu;
}

/* "rank0" of "rank0.pickle.gz" and of "rank0.log". */
static bool is_named_alike(const char *a, const char *b)
{
    size_t length = a ? strcspn(a, ".") : 0;
    return length > 0 && strcspn(b, ".") == length && strncmp(a, b, length) == 0;
}

static void look(struct looking *looking, const struct snapshot_session *session, const struct snapshot_host *host)
{
    char reason[REASON_BYTES] = "";
    struct subject trace = {0};
    struct err err = ERR_INIT;
    const struct subjects_place place = subjects_trace(session, host);
    const char *path = host->file->name;
    looking->read++;
    unsigned shares = 0;
    if (subjects_open(looking->store, &place, &trace, &err))
        shares = analysis_verdict_shares(looking->wanted->failure, trace.core, reason, sizeof(reason));
    else
        snprintf(reason, sizeof(reason), "%s", err.text);
    unsigned named = is_named_alike(looking->text, host->file->name);
    looking->fitting += shares > 0;
    if (shares == 0 && !looking->refused) {
        looking->refused = path;
        memcpy(looking->why_not, reason, sizeof(reason));
    }
    if (shares == 0 || shares < looking->best ||
        (shares == looking->best && named <= looking->best_named && looking->taken)) {
        subjects_close(&trace);
        return;
    }
    subjects_close(&looking->parts->trace);
    looking->parts->trace = trace;
    looking->parts->core.trace = trace.core;
    looking->parts->trace_session = session;
    looking->parts->trace_host = host;
    looking->best = shares;
    looking->best_named = named;
    looking->taken = path;
    memcpy(looking->reason, reason, sizeof(reason));
}

/* Those whose name is the text's, or those of other names. */
static void session_look(struct looking *looking, const struct snapshot_session *session, bool named)
{
    for (size_t at = 0; at < session->host_count; at++) {
        const struct snapshot_host *host = &session->hosts[at];
        if (!host->is_allocator || is_named_alike(looking->text, host->file->name) != named)
            continue;
        if (looking->read < READ_MAX)
            look(looking, session, host);
        else
            looking->left++;
    }
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
    char *other = folder ? verdict_near_folder(&file->place) : NULL;
    bool is_same = other && strcmp(other, folder) == 0;
    free(other);
    return is_same;
}

/* A file that was named is a root of its own. */
static bool is_given(const struct snapshot_session *session)
{
    return session->host_count > 0 && !session->hosts[0].file->place.bytes &&
           (!session->hosts[0].file->place.path || session->hosts[0].file->place.path[0] == '\0');
}

static char *say(const struct looking *looking)
{
    char left[64] = "";
    if (!looking->taken && !looking->refused)
        return NULL;
    if (looking->left > 0)
        snprintf(left, sizeof(left), " %zu more were not looked at.", looking->left);
    if (!looking->taken)
        return memory_format("The allocator snapshot %s is here and was not used: %s.%s", looking->refused,
                             looking->why_not, left);
    const char *why = looking->fitting < 2  ? ""
                      : looking->best_named ? " Several fit; it shares most with the text, and has its name."
                                            : " Several fit; it shares most with the text.";
    if (looking->refused)
        return memory_format("The allocator snapshot %s is of this failure: %s.%s %s was not used: %s.%s",
                             looking->taken, looking->reason, why, looking->refused, looking->why_not, left);
    return memory_format("The allocator snapshot %s is of this failure: %s.%s%s", looking->taken, looking->reason, why,
                         left);
}

void verdict_snapshot_find(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts)
{
    const struct snapshot_file *text = wanted->session ? verdict_near_file(wanted->session) : NULL;
    char *folder = wanted->folder               ? memory_text(wanted->folder)
                   : text && !text->place.bytes ? verdict_near_folder(&text->place)
                                                : NULL;
    struct looking looking = {.store = store, .wanted = wanted, .parts = parts};
    looking.text = wanted->text ? wanted->text : text ? text->name : NULL;
    size_t count = wanted->snapshot ? wanted->snapshot->session_count : 0;
    for (size_t at = 0; at < 2 * count; at++) {
        const struct snapshot_session *session = wanted->snapshot->sessions[at % count];
        if (session->allocator_count > 0 &&
            (wanted->takes_given ? is_given(session)
                                 : session == wanted->session || is_beside(session, wanted, folder)))
            session_look(&looking, session, at < count);
    }
    free(folder);
    parts->snapshot = say(&looking);
}
