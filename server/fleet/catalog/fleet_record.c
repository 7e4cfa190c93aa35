/* SPDX-License-Identifier: Apache-2.0
 * fleet_record.c: see fleet_record.h. */
#include "server/fleet/catalog/fleet_record.h"

#include "server/base/memory.h"
#include "server/fleet/catalog/rows.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PREFIX[] = "category_", SUFFIX[] = "_bytes";

/* ---- columns ---- */

static void column_add(struct fleet_columns *columns, const char *head, size_t length)
{
    size_t around = strlen(PREFIX) + strlen(SUFFIX);
    if (length <= around || strncmp(head, PREFIX, strlen(PREFIX)) != 0)
        return;
    columns->heads = realloc(columns->heads, (columns->count + 1) * sizeof(*columns->heads));
    columns->names = realloc(columns->names, (columns->count + 1) * sizeof(*columns->names));
    columns->heads[columns->count] = memory_format("%.*s", (int)length, head);
    columns->names[columns->count++] = memory_format("%.*s", (int)(length - around), head + strlen(PREFIX));
}

struct fleet_columns *fleet_record_columns_new(void)
{
    struct fleet_columns *columns = memory_new(sizeof(*columns));
    struct buf heads = BUF_INIT;
    rows_heads(CSV_COMMAS, &heads);
    buf_char(&heads, '\0');
    for (const char *at = heads.failed ? "" : heads.data; *at; at += strspn(at, ",\r\n")) {
        size_t length = strcspn(at, ",\r\n");
        column_add(columns, at, length);
        at += length;
    }
    buf_free(&heads);
    return columns;
}

void fleet_record_columns_free(struct fleet_columns *columns)
{
    for (size_t at = 0; columns && at < columns->count; at++) {
        free(columns->heads[at]);
        free(columns->names[at]);
    }
    if (columns) {
        free(columns->heads);
        free(columns->names);
    }
    free(columns);
}

/* ---- a record ---- */

static int64_t number_of(const char *text)
{
    char *end;
    if (!text)
        return -1;
    long long number = strtoll(text, &end, 10);
    return *text && !*end ? number : -1;
}

struct fleet_record fleet_record_read(const struct fleet_columns *columns, fleet_cell *cell, void *context,
                                      int64_t *category_bytes)
{
    struct fleet_record record = {
        .job = cell(context, "job"),
        .module = cell(context, "module"),
        .kind = cell(context, "kind"),
        .memory_space = cell(context, "memory_space"),
        .configuration = cell(context, "configuration"),
        .commit = cell(context, "commit"),
        .host = cell(context, "host"),
        .user_name = cell(context, "user_name"),
        .device = cell(context, "device"),
        .verdict = cell(context, "verdict"),
        .id = cell(context, "id"),
        .logdir = cell(context, "logdir"),
        .file = cell(context, "file"),
        .session_id = cell(context, "session_id"),
        .first_at_ms = -1,
        .last_at_ms = -1,
        .row_count = 1,
        .needed_bytes = number_of(cell(context, "needed_bytes")),
        .peak_bytes = number_of(cell(context, "peak_bytes")),
        .capacity_bytes = number_of(cell(context, "capacity_bytes")),
    };
    record.needed_min_bytes = record.needed_bytes;
    for (size_t at = 0; at < columns->count; at++) {
        category_bytes[at] = number_of(cell(context, columns->heads[at]));
        if (category_bytes[at] >= 0)
            record.category_bytes = category_bytes;
    }
    return record;
}

/* ---- a filter ---- */

static bool is_text(const char *text, const char *wanted) { return !wanted || (text && strcmp(text, wanted) == 0); }

static bool has_label(const char *labels, const struct fleet_filter *filter)
{
    cJSON *root = filter->label_key && labels ? cJSON_Parse(labels) : NULL;
    const cJSON *member = root ? cJSON_GetObjectItemCaseSensitive(root, filter->label_key) : NULL;
    bool has = !filter->label_key || is_text(cJSON_GetStringValue(member), filter->label_value);
    cJSON_Delete(root);
    return has;
}

bool fleet_record_matches(const struct fleet_record *record, const char *labels, const struct fleet_filter *filter)
{
    return is_text(record->job, filter->job) && is_text(record->commit, filter->commit) &&
           is_text(record->module, filter->module) && is_text(record->host, filter->host) &&
           is_text(record->user_name, filter->user) && is_text(record->kind, filter->kind) &&
           (filter->since_ms < 0 || record->last_at_ms >= filter->since_ms) &&
           (filter->until_ms < 0 || (record->last_at_ms >= 0 && record->last_at_ms < filter->until_ms)) &&
           has_label(labels, filter);
}

/* ---- where it is ---- */

static int by_id(const void *left, const void *right)
{
    return strcmp((*(const struct snapshot_session *const *)left)->id,
                  (*(const struct snapshot_session *const *)right)->id);
}

struct fleet_sessions *fleet_record_sessions_new(const struct snapshot *snapshot)
{
    struct fleet_sessions *sessions = memory_new(sizeof(*sessions));
    sessions->count = snapshot->session_count;
    sessions->items = memory_new((snapshot->session_count + 1) * sizeof(struct snapshot_session *));
    for (size_t at = 0; at < sessions->count; at++)
        sessions->items[at] = snapshot->sessions[at];
    qsort(sessions->items, sessions->count, sizeof(struct snapshot_session *), by_id);
    return sessions;
}

void fleet_record_sessions_free(struct fleet_sessions *sessions)
{
    if (sessions)
        free(sessions->items);
    free(sessions);
}

static const struct snapshot_session *session_of(const struct fleet_sessions *sessions, const char *id)
{
    size_t low = 0, high = sessions->count;
    while (id && low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(id, sessions->items[middle]->id);
        if (order == 0)
            return sessions->items[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Ids are of paths below a folder: another folder may have the same. */
static bool is_in_folder(const struct snapshot_session *session, const char *logdir)
{
    return session->file_count > 0 && logdir && strcmp(session->files[0]->place.root, logdir) == 0;
}

static const struct snapshot_host *host_of(const struct snapshot_session *session, const struct fleet_record *record)
{
    for (size_t at = 0; at < session->host_count && record->file; at++)
        if (strcmp(session->hosts[at].file->path, record->file) == 0)
            return &session->hosts[at];
    return NULL;
}

/* The module of a trace is known by its key, that of a dump by its file. */
static void module_id(char id[SNAPSHOT_PART_ID_SIZE], const struct snapshot_session *session,
                      const struct snapshot_host *host, const struct fleet_record *record, const char *program_id)
{
    id[0] = '\0';
    if (host && record->module) {
        char *key = memory_format("%s(%s)", record->module, program_id ? program_id : "0");
        snapshot_module_id(id, session, key);
        free(key);
    }
    for (size_t at = 0; at < session->group_count && !host && record->file; at++)
        if (strcmp(session->groups[at].file->path, record->file) == 0)
            snapshot_module_id(id, session, session->groups[at].stem);
}

char *fleet_record_reference(const struct fleet_sessions *sessions, const struct fleet_record *record,
                             const char *program_id)
{
    char id[SNAPSHOT_PART_ID_SIZE] = "";
    const struct snapshot_session *session = session_of(sessions, record->session_id);
    if (!session || !is_in_folder(session, record->logdir))
        return NULL;
    const struct snapshot_host *host = host_of(session, record);
    if (record->kind && strcmp(record->kind, "module") == 0)
        module_id(id, session, host, record, program_id);
    return memory_format("%s/%s/%s", session->id, host ? host->id : "", id);
}
