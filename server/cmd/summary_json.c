/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/output.h"
#include "server/cmd/summary.h"

#include "base/json.h"

#include <stdio.h>

static bool needs_comma_session, needs_comma_memory, needs_comma_module; /* one command, one thread */

static void summary_json_put(struct buf *buf)
{
    (void)!output_data(stdout, buf->data, buf->length);
    buf_free(buf);
}

static void summary_json_begin(void) { fputs("{\"sessions\":[", stdout); }

static void begin_session(struct store *store, const struct snapshot_session *session, size_t module_count)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    (void)module_count;
    if (needs_comma_session)
        buf_char(&buf, ',');
    needs_comma_session = true;
    needs_comma_memory = needs_comma_module = false;
    json_object_begin(&json);
    json_key_text(&json, "id", session->id);
    json_key_text(&json, "name", session->name);
    json_key_text(&json, "kind", snapshot_kind_name(session->kind));
    struct hosts_told hosts = {.store = store, .session = session};
    hosts_told_write(&hosts, &json);
    hosts_told_free(&hosts);
    json_key_array(&json, "memory");
    summary_json_put(&buf);
}

static void write_memory(const struct summary_pool *pool)
{
    struct buf buf = BUF_INIT;
    const struct analysis_trace_host host = {pool->host->id, pool->host->name, pool->host->file->path};
    if (needs_comma_memory)
        buf_char(&buf, ',');
    needs_comma_memory = true;
    analysis_trace_pool_write(pool->trace, &host, pool->at, &buf);
    summary_json_put(&buf);
}

static void end_memory(void) { fputs("],\"modules\":[", stdout); }

/* An answer of the core, as it is; nothing where there is none. */
static void put_answer(struct json *json, const char *key, const struct body *body)
{
    if (!body)
        return;
    json_key(json, key);
    json_written(json, (struct str){body->data, body->size});
}

static void write_module(const struct summary_module *module, int64_t space)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    const struct modules_entry *entry = module->entry;
    (void)space;
    if (needs_comma_module)
        buf_char(&buf, ',');
    needs_comma_module = true;
    json_object_begin(&json);
    json_key_text(&json, "id", entry->id);
    json_key_text(&json, "name", entry->program ? entry->program->name : entry->file->group->stem);
    json_key_text(&json, "key", entry->program ? entry->program->key : entry->file->group->stem);
    json_key_text(&json, "file", entry->file->file->path);
    if (json_key_object_if(&json, "capacity", module->capacity != NULL)) {
        json_key_uint(&json, "bytes", module->capacity->bytes);
        json_key_bool(&json, "is_physical", module->capacity->is_physical);
        json_key_text(&json, "source", module->capacity->source);
        json_object_end(&json);
    }
    if (json_key_object_if(&json, "error", err_is_set(&module->err))) {
        json_keys_of_err(&json, entry->file->file->path, &module->err);
        json_object_end(&json);
    }
    put_answer(&json, "summary", module->summary_body);
    put_answer(&json, "buffers", module->buffers_body);
    json_object_end(&json);
    summary_json_put(&buf);
}

static void end_session(void) { fputs("]}", stdout); }

static void summary_json_end(const struct unread_files *unread) { unread_files_print_end(unread, true); }

const struct summary_form summary_json = {summary_json_begin, begin_session, write_module, end_session,
                                          summary_json_end,   write_memory,  end_memory};
