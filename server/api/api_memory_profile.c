/* SPDX-License-Identifier: Apache-2.0
 * api_memory_profile.c: the memory profile's summary of all hosts of a trace session. */
#include "server/api/api.h"
#include "server/api/listing.h"
#include "server/base/wanted.h"
#include "server/store/subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT "memory profile of all hosts\n"

/* A pool of some host, written. */
struct api_memory_profile_ranked {
    struct analysis_trace_pool pool;
    struct buf text;
    size_t order; /* as read */
};

struct overview {
    struct api_memory_profile_ranked *ranked;
    size_t count, capacity;
    struct buf hosts;
    const char *reason_code, *reason_text; /* of the first host without events */
    char unread[400];                      /* why the first file that cannot be read is not */
    struct buf keys;                       /* of what was read, a line each */
    bool is_partial;                       /* or a part of them */
};

static void take_pools(struct overview *overview, const struct analysis_subject *trace,
                       const struct analysis_trace_host *names)
{
    struct analysis_trace_pool pool;
    for (size_t at = 0; analysis_trace_pool_at(trace, at, &pool); at++) {
        overview->ranked =
            memory_grow(overview->ranked, &overview->capacity, overview->count + 1, sizeof(*overview->ranked));
        struct api_memory_profile_ranked *ranked = &overview->ranked[overview->count];
        *ranked = (struct api_memory_profile_ranked){.pool = pool, .text = BUF_INIT, .order = overview->count};
        analysis_trace_pool_write(trace, names, at, &ranked->text);
        overview->count++;
    }
}

/* A host whose trace cannot be read: the same members, none of them known. */
static void write_unread(struct buf *buf, const struct analysis_trace_host *names, const struct err *err)
{
    struct json json = JSON_INIT(buf);
    json_object_begin(&json);
    json_key_text(&json, "host", names->id);
    json_key_text(&json, "name", names->name);
    json_key_text(&json, "file", names->file);
    api_write_error(&json, err);
    static const char *const COUNTS[] = {"event_count", "allocation_count", "deallocation_count",
                                         "pool_count",  "step_count",       "launch_count"};
    for (size_t at = 0; at < sizeof(COUNTS) / sizeof(COUNTS[0]); at++)
        json_key_uint(&json, COUNTS[at], 0);
    json_key_bool(&json, "has_tpu", false);
    json_key_bool(&json, "has_gpu", false);
    json_key_array(&json, "notes");
    json_array_end(&json);
    json_object_end(&json);
}

static void take_host(struct overview *overview, struct store *store, const struct snapshot_session *session,
                      const struct snapshot_host *host)
{
    struct subject trace;
    struct err err = ERR_INIT;
    const struct analysis_trace_host names = {host->id, host->name, host->file->path};
    const struct subjects_place place = subjects_trace(session, host);
    const char *code, *text;
    if (overview->hosts.length > 0)
        buf_char(&overview->hosts, ',');
    if (!subjects_open(store, &place, &trace, &err)) {
        write_unread(&overview->hosts, &names, &err);
        if (!overview->unread[0])
            snprintf(overview->unread, sizeof(overview->unread), "%s: %s", names.file, err.text);
        code = "unreadable";
        text = overview->unread;
    } else {
        analysis_trace_host_write(trace.core, &names, &overview->hosts);
        take_pools(overview, trace.core, &names);
        analysis_trace_reason(trace.core, &code, &text);
        buf_format(&overview->keys, "%s %s\n", names.id, trace.key);
        overview->is_partial |= trace.is_partial;
        subjects_close(&trace);
    }
    if (!overview->reason_code) {
        overview->reason_code = code;
        overview->reason_text = text;
    }
}

static int worst_first(const void *left, const void *right)
{
    const struct api_memory_profile_ranked *a = left, *b = right;
    return ORDER(b->pool.is_device, a->pool.is_device) ?: ORDER(b->pool.failure_count > 0, a->pool.failure_count > 0)
           ?: ORDER(b->pool.peak_bytes, a->pool.peak_bytes) ?: ORDER(a->order, b->order);
}

/* Largest less smallest peak of the pools of devices, -1 when there are fewer than two. */
static int64_t spread_of(const struct overview *overview)
{
    int64_t min = INT64_MAX, max = 0;
    size_t count = 0;
    for (; count < overview->count && overview->ranked[count].pool.is_device; count++) {
        int64_t bytes = overview->ranked[count].pool.peak_bytes;
        min = bytes < min ? bytes : min;
        max = bytes > max ? bytes : max;
    }
    return count > 1 ? max - min : -1;
}

static void write_overview(struct json *json, const struct overview *overview)
{
    buf_fail_with(json->out, &overview->hosts);
    for (size_t at = 0; at < overview->count; at++)
        buf_fail_with(json->out, &overview->ranked[at].text);
    if (json_key_object_if(json, "reason", overview->count == 0 && overview->reason_code)) {
        json_key_text(json, "code", overview->reason_code);
        json_key_text(json, "text", overview->reason_text);
        json_object_end(json);
    }
    json_key_array(json, "hosts");
    if (overview->hosts.length > 0)
        buf_add(json->out, overview->hosts.data, overview->hosts.length);
    json_array_end(json);
    json_key_array(json, "pools");
    for (size_t at = 0; at < overview->count; at++) {
        if (at > 0)
            buf_char(json->out, ',');
        buf_add(json->out, overview->ranked[at].text.data, overview->ranked[at].text.length);
    }
    json_array_end(json);
    json_key_known(json, "spread_bytes", spread_of(overview));
}

/* What a session that is no trace holds, and where that is shown. */
static const char *text_without_trace(enum snapshot_kind kind)
{
    switch (kind) {
    case SNAPSHOT_PROFILES:
        return "Memory over time is recorded in profiler traces; this session holds device profiles. "
               "The arrays that were live in them are in Device Memory.";
    case SNAPSHOT_TEXT:
        return "Memory over time is recorded in profiler traces; this session holds out-of-memory texts. "
               "What they say is on the OOM page.";
    default:
        return "Memory over time is recorded in profiler traces; this session holds programs of the compiler. "
               "What they plan is in the Memory Viewer.";
    }
}

/* ---- kept for the next start ---- */

/* The key of the answer about what lies there now: begins as that of another start, and has a line for each host. */
static void put_key(struct buf *key, const struct snapshot_session *session, const struct snapshot_host *host)
{
    for (size_t at = 0; at < session->host_count; at++) {
        const struct subjects_place place = subjects_trace(session, &session->hosts[at]);
        if (host && host != &session->hosts[at])
            continue;
        char *text = subjects_key_now(&place);
        buf_format(key, "%s %s\n", session->hosts[at].id, text ? text : "?");
        free(text);
    }
}

static struct disk_cache *disk_cache_of(const struct server *server, const struct snapshot_session *session)
{
    bool has_hosts = session->kind == SNAPSHOT_TRACE && session->host_count > 0;
    struct disk_cache *cache = has_hosts ? store_disk_cache(server->store, &session->hosts[0].file->place) : NULL;
    return cache;
}

/* False: it has to be made. */
static bool is_kept(const struct server *server, const struct snapshot_session *session,
                    const struct snapshot_host *host, struct buf *out)
{
    struct disk_cache *cache = disk_cache_of(server, session);
    struct buf key = BUF_INIT;
    if (!cache)
        return false;
    buf_text(&key, KEPT);
    put_key(&key, session, host);
    buf_char(&key, '\0');
    bool is = !key.failed && disk_cache_read(cache, key.data, out);
    buf_free(&key);
    return is;
}

/* Unless a host could not be read, or not told all of, for that may be only now. */
static void api_memory_profile_keep(const struct server *server, const struct snapshot_session *session,
                                    const struct overview *overview, const struct buf *made)
{
    struct disk_cache *cache = disk_cache_of(server, session);
    if (!cache || overview->unread[0] || overview->is_partial || overview->keys.failed || made->failed ||
        wanted_is_over())
        return;
    char *key = memory_format("%s%.*s", KEPT, (int)overview->keys.length, overview->keys.data);
    disk_cache_write(cache, key, made->data, made->length);
    free(key);
}

static struct response *api_memory_profile_summary(const struct server *server, const struct snapshot_session *session,
                                                   const struct snapshot_host *host)
{
    struct overview overview = {.hosts = BUF_INIT};
    struct buf buf = BUF_INIT;
    if (is_kept(server, session, host, &buf))
        return response_json(&buf);
    struct json json = JSON_INIT(&buf);
    if (session->kind != SNAPSHOT_TRACE) {
        overview.reason_code = "not_a_trace";
        overview.reason_text = text_without_trace(session->kind);
    }
    for (size_t at = 0; at < session->host_count; at++) {
        if (!host || host == &session->hosts[at])
            take_host(&overview, server->store, session, &session->hosts[at]);
    }
    if (overview.count)
        qsort(overview.ranked, overview.count, sizeof(*overview.ranked), worst_first);
    json_object_begin(&json);
    json_key_text(&json, "tool", "memory_profile");
    json_key_text(&json, "view", "summary");
    json_key_object(&json, "params");
    json_object_end(&json);
    json_key_object(&json, "data");
    write_overview(&json, &overview);
    json_object_end(&json);
    json_key_array(&json, "notes");
    json_array_end(&json);
    json_object_end(&json);
    for (size_t at = 0; at < overview.count; at++)
        buf_free(&overview.ranked[at].text);
    free(overview.ranked);
    buf_free(&overview.hosts);
    api_memory_profile_keep(server, session, &overview, &buf);
    buf_free(&overview.keys);
    return response_json(&buf);
}

struct response *api_memory_profile(const struct server *server, const struct request *request)
{
    static const char *const NAMES[] = {"session", "host", NULL};
    struct api_subject subject = {0};
    struct response *response = listing_check_names(request, NAMES);
    if (!response)
        response =
            api_open(server, request_param(request, "session", NULL), request_param(request, "host", NULL), &subject);
    if (!response)
        response = api_memory_profile_summary(server, subject.session, subject.host);
    api_close(&subject);
    return response;
}
