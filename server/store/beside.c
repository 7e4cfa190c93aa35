/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/beside.h"

/* File `at`, or NULL past the end. The trace itself is not among them. */
static const struct snapshot_file *file_at(const struct snapshot_session *session, const struct files_place *own,
                                           size_t at)
{
    if (at < session->program_file_count)
        return session->program_files[at];
    at -= session->program_file_count;
    for (size_t host = 0; host < session->host_count; host++) {
        if (&session->hosts[host].file->place == own)
            continue;
        if (at-- == 0)
            return session->hosts[host].file;
    }
    return NULL;
}

static int64_t read_at(void *context, uint64_t offset, void *into, size_t size)
{
    struct beside *beside = context;
    int64_t got = beside->of->read(beside->of->context, offset, into, size);
    beside->has_failed |= got < 0;
    return got;
}

static const struct source *open_at(void *context, size_t at)
{
    struct beside *beside = context;
    const struct snapshot_file *file = file_at(beside->session, beside->own, at);
    struct err err = ERR_INIT;
    files_close(beside->file);
    beside->file = file ? files_open(&file->place, &err) : NULL;
    beside->has_failed |= beside->file == NULL && file && file->reason == 0;
    if (!beside->file)
        return NULL;
    beside->of = files_source(beside->file);
    beside->source = (struct source){.context = beside, .read = read_at, .size_bytes = beside->of->size_bytes};
    return &beside->source;
}

void beside_open(struct beside *beside, const struct snapshot_session *session, const struct files_place *own)
{
    *beside = (struct beside){.session = session, .own = own, .core = {.context = beside, .open = open_at}};
    while (session && file_at(session, own, beside->core.count))
        beside->core.count++;
}

void beside_close(struct beside *beside)
{
    files_close(beside->file);
    beside->file = NULL;
}

uint64_t beside_hash(const struct snapshot_session *session, const struct files_place *own)
{
    const struct snapshot_file *file;
    uint64_t hash = 0;
    for (size_t at = 0; session && (file = file_at(session, own, at)) != NULL; at++)
        hash = files_identity_hash(&file->identity, hash);
    return hash;
}
