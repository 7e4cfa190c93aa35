/* SPDX-License-Identifier: Apache-2.0
 * subjects_worst.c: which host of a session is looked at where none is named. */
#include "server/store/subjects.h"

const struct snapshot_host *subjects_worst_host(struct store *store, const struct snapshot_session *session,
                                                subjects_lost *lost, void *context)
{
    const struct snapshot_host *worst = NULL;
    struct analysis_trace_pool max = {.peak_bytes = -1}, pool;
    for (size_t at = 0; at < session->host_count && session->host_count > 1; at++) {
        const struct subjects_place place = subjects_trace(session, &session->hosts[at]);
        struct subject trace;
        struct err err = ERR_INIT;
        bool is_read = subjects_open(store, &place, &trace, &err);
        bool is_worse = is_read && analysis_trace_pool_at(trace.core, 0, &pool) &&
                        (pool.is_device != max.is_device ? pool.is_device : pool.peak_bytes > max.peak_bytes);
        if (is_worse) {
            worst = &session->hosts[at];
            max = pool;
        }
        if (lost && (!is_read || analysis_trace_cut(trace.core, &err)))
            lost(context, &session->hosts[at], &trace, &err);
        subjects_close(&trace);
    }
    return worst ? worst : &session->hosts[0];
}

const struct snapshot_host *subjects_allocator(struct store *store, const struct snapshot_session *session)
{
    const struct snapshot_host *host = subjects_worst_host(store, session, NULL, NULL);
    for (size_t at = 0; !host->is_allocator && at < session->host_count; at++)
        if (session->hosts[at].is_allocator)
            host = &session->hosts[at];
    return host;
}
