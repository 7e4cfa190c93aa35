/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/snapshot.h"

#include <stdio.h>
#include <string.h>

void snapshot_write_id(char id[SNAPSHOT_PART_ID_SIZE], uint64_t hash)
{
    snprintf(id, SNAPSHOT_PART_ID_SIZE, "%012llx", (unsigned long long)(hash >> 16));
}

const char *snapshot_kind_name(enum snapshot_kind kind)
{
    switch (kind) {
    case SNAPSHOT_TRACE: return "trace";
    case SNAPSHOT_DUMP: return "dump";
    case SNAPSHOT_TEXT: return "text";
    case SNAPSHOT_PROFILES: return "profiles";
    case SNAPSHOT_HLO: break;
    }
    return "hlo";
}

const struct snapshot_session *snapshot_session(const struct snapshot *snapshot, const char *id)
{
    for (size_t at = 0; at < snapshot->session_count; at++) {
        if (strcmp(snapshot->sessions[at]->id, id) == 0)
            return snapshot->sessions[at];
    }
    return NULL;
}

const struct snapshot_host *snapshot_host(const struct snapshot_session *session, const char *id)
{
    for (size_t at = 0; at < session->host_count; at++) {
        if (strcmp(session->hosts[at].id, id) == 0)
            return &session->hosts[at];
    }
    return NULL;
}

const struct snapshot_profile *snapshot_profile(const struct snapshot_session *session, const char *id)
{
    const struct snapshot_profile *found = NULL;
    for (size_t at = 0; at < session->profile_count; at++)
        if (!id || strcmp(session->profiles[at].id, id) == 0)
            found = &session->profiles[at];
    return found;
}

const struct snapshot_text *snapshot_text(const struct snapshot_session *session, const char *name)
{
    for (size_t at = 0; at < session->text_count; at++) {
        const struct snapshot_text *text = &session->texts[at];
        if (name && name[0] ? strcmp(text->file->name, name) == 0 : text->failure.failure_count > 0 || !text->is_read)
            return text;
    }
    return NULL;
}

bool snapshot_has_programs(const struct snapshot_session *session)
{
    return session->kind == SNAPSHOT_TRACE || session->kind == SNAPSHOT_DUMP || session->kind == SNAPSHOT_HLO;
}

const struct snapshot_host *snapshot_next_allocator(const struct snapshot *snapshot, struct snapshot_walk *walk)
{
    for (; snapshot && walk->session_at < snapshot->session_count; walk->session_at++, walk->host_at = 0) {
        walk->session = snapshot->sessions[walk->session_at];
        while (walk->host_at < walk->session->host_count) {
            const struct snapshot_host *host = &walk->session->hosts[walk->host_at++];
            if (host->is_allocator)
                return host;
        }
    }
    return NULL;
}

const struct log_text_failure *snapshot_failure(const struct snapshot_session *session)
{
    for (size_t at = 0; at < session->text_count; at++)
        if (session->texts[at].is_read && session->texts[at].failure.failure_count > 0)
            return &session->texts[at].failure;
    return NULL;
}

void snapshot_module_id(char id[SNAPSHOT_PART_ID_SIZE], const struct snapshot_session *session, const char *name)
{
    snapshot_write_id(id, hash_text(name, hash_text(session->id, hash_text("module", 0))));
}
