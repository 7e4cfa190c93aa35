/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/traces.h"

#include "server/store/crew.h"
#include "server/base/memory.h"

#include <stdlib.h>

/* Real ones take less than their size; a packed one may be many times larger. */
static const struct account_share plain_share = {1, 64 << 20, 4, 64 << 20, UINT64_MAX};
static const struct account_share packed_share = {1, 64 << 20, 32, 64 << 20, UINT64_MAX};

struct traces {
    struct cache *cache;
    struct store *store;
    struct crew *crew;
};

struct kept_trace {
    struct analysis_trace *trace;
    struct account *account;
    uint64_t taken_bytes; /* from it */
};

struct making {
    struct traces *traces;
    struct file *opened;
};

static void free_kept(void *value)
{
    struct kept_trace *kept = value;
    analysis_trace_free(kept->trace);
    account_give(kept->account, kept->taken_bytes);
    free(kept);
}

struct traces *traces_new(struct store *store)
{
    struct traces *traces = memory_new(sizeof(*traces));
    traces->cache = cache_new(account_limit(store_account(store)) / 2, free_kept);
    traces->store = store;
    traces->crew = crew_new();
    account_add_cache(store_account(store), traces->cache, false);
    return traces;
}

void traces_on_wait(struct traces *traces, const struct cache_waiting *waiting)
{
    cache_on_wait(traces->cache, waiting);
}

void traces_free(struct traces *traces)
{
    cache_free(traces->cache);
    crew_free(traces->crew);
    free(traces);
}

static uint64_t take_room(const struct making *making, uint64_t *most)
{
    struct account *account = store_account(making->traces->store);
    uint64_t least;
    account_range(account, files_is_gzip(making->opened) ? &packed_share : &plain_share,
                  files_identity(making->opened)->size_bytes, &least, most);
    return account_need(account, least, *most);
}

static void *make_trace(void *context, struct cache_made *made, struct err *err)
{
    struct making *making = context;
    struct account *account = store_account(making->traces->store);
    struct err change = ERR_INIT;
    uint64_t most;
    uint64_t taken_bytes = take_room(making, &most);
    if (taken_bytes == 0) {
        err_set(err, ERR_limit, ERR_NO_OFFSET, "other programs take up the memory now; ask again");
        made->is_passing = true;
        return NULL;
    }
    struct analysis_trace *trace =
        analysis_trace_read(files_source(making->opened), crew_hands(making->traces->crew), taken_bytes, err);
    if (!files_unchanged(making->opened, &change)) {
        analysis_trace_free(trace);
        trace = NULL;
        *err = change;
    }
    if (!trace) {
        account_give(account, taken_bytes);
        made->is_passing = account_is_passing(account, taken_bytes, most, err);
        return NULL;
    }
    struct kept_trace *kept = memory_new(sizeof(*kept));
    *kept = (struct kept_trace){trace, account, account_keep(account, taken_bytes, analysis_trace_memory_bytes(trace))};
    made->cost_bytes = kept->taken_bytes;
    return kept;
}

const struct analysis_trace *traces_get(struct traces *traces, const struct files_place *place, struct cache_hold *hold,
                                        struct err *err)
{
    struct making making = {traces, files_open(place, err)};
    *hold = (struct cache_hold){0};
    if (!making.opened)
        return NULL;
    char *key = files_identity_text(files_identity(making.opened));
    struct cache_maker maker = {make_trace, &making};
    const struct kept_trace *kept = cache_get(traces->cache, key, &maker, hold, err);
    free(key);
    files_close(making.opened);
    return kept ? kept->trace : NULL;
}

const struct snapshot_host *traces_worst(struct traces *traces, const struct snapshot_session *session)
{
    const struct snapshot_host *worst = NULL;
    struct analysis_trace_pool most = {.peak_bytes = -1}, pool;
    for (size_t at = 0; at < session->host_count && session->host_count > 1; at++) {
        struct cache_hold hold;
        struct err err = ERR_INIT;
        const struct analysis_trace *trace = traces_get(traces, &session->hosts[at].file->place, &hold, &err);
        bool is_worse = trace && analysis_trace_pool_at(trace, 0, &pool) &&
                        (pool.is_device != most.is_device ? pool.is_device : pool.peak_bytes > most.peak_bytes);
        if (is_worse) {
            worst = &session->hosts[at];
            most = pool;
        }
        cache_release(&hold);
    }
    return worst ? worst : &session->hosts[0];
}

bool traces_has_events(struct store *store, const struct files_place *place)
{
    struct store_file file;
    struct err err = ERR_INIT;
    bool has = store_open(store, place, &file, &err) && file.contents->has_memory_events;
    store_close(&file);
    return has;
}
