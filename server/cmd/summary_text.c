/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/output.h"
#include "server/cmd/summary.h"

#include "base/size_text.h"
#include "server/base/log.h"

#include <math.h>
#include <stdio.h>

enum { TEXT_SIZE = 512 };

static double summary_text_number(const cJSON *object, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

static const char *summary_text_text(const cJSON *object, const char *name)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return value ? value : "";
}

/* "200.00 GiB"; "-" when it is not known. */
static const char *size(char out[SIZE_TEXT_BYTES], double bytes)
{
    return isnan(bytes) ? "-" : size_text_column(out, bytes < 0x1p63 ? (int64_t)bytes : INT64_MAX);
}

static const char *printable(char out[TEXT_SIZE], const char *name)
{
    log_escape(out, TEXT_SIZE, name);
    return out;
}

/* What ended the job comes before what it had; why is for explain to say. */
static void write_failures(const struct snapshot_session *session)
{
    for (size_t at = 0; at < session->text_count; at++) {
        const struct snapshot_text *text = &session->texts[at];
        char name[TEXT_SIZE];
        if (!text->is_read || text->failure.failure_count == 0)
            continue;
        output_format("  failure  %s", text->failure.title);
        if (text->failure.over_text[0])
            output_format(", over by %s", text->failure.over_text);
        output_format("  (%s: memviewd explain says why)\n", printable(name, text->file->name));
    }
}

static void write_session(struct store *store, const struct snapshot_session *session, size_t module_count)
{
    char name[TEXT_SIZE];
    if (session->kind == SNAPSHOT_PROFILES) {
        output_format("%s  (%zu device profile%s: memviewd explain and top print what holds the memory)\n",
                      printable(name, session->name), session->profile_count, session->profile_count == 1 ? "" : "s");
        return;
    }
    output_format("%s  (%s, %zu module%s)\n", printable(name, session->name), snapshot_kind_name(session->kind),
                  module_count, module_count == 1 ? "" : "s");
    struct hosts_told hosts = {.store = store, .session = session};
    hosts_told_print(&hosts, "  ", false);
    hosts_told_free(&hosts);
    write_failures(session);
}

/* What fills the space most: the core's sentence, part by part. */
static void write_culprit(const cJSON *culprit)
{
    const cJSON *part;
    if (cJSON_IsObject(culprit))
        output_word("      ");
    cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(culprit, "sentence"))
    {
        char out[TEXT_SIZE];
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(part, "name"));
        if (name)
            output_word(printable(out, name));
        else
            output_word(cJSON_IsString(part) ? part->valuestring : summary_text_text(part, "text"));
    }
    if (cJSON_IsObject(culprit))
        output_word("\n");
}

static void write_fit(const cJSON *fit)
{
    char out[TEXT_SIZE];
    if (cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(fit, "capacity_bytes")))
        output_format("      %s\n", printable(out, summary_text_text(fit, "sentence")));
}

static void write_spaces(const cJSON *spaces, int64_t space)
{
    const cJSON *row;
    output_format("    %-24s %14s %14s %14s %14s %14s\n", "memory space", "total", "peak", "unpadded", "temporary",
                  "parameters");
    cJSON_ArrayForEach(row, spaces)
    {
        char name[TEXT_SIZE], a[SIZE_TEXT_BYTES], b[SIZE_TEXT_BYTES], c[SIZE_TEXT_BYTES], d[SIZE_TEXT_BYTES],
            e[SIZE_TEXT_BYTES];
        if (space != SUMMARY_ALL_SPACES && (int64_t)summary_text_number(row, "space") != space)
            continue;
        printable(name, summary_text_text(row, "name"));
        output_format("    %-*s %14s %14s %14s %14s %14s\n", output_width(name, 24), name,
                      size(a, summary_text_number(row, "total_bytes")), size(b, summary_text_number(row, "peak_bytes")),
                      size(c, summary_text_number(row, "peak_unpadded_bytes")),
                      size(d, summary_text_number(row, "temporary_bytes")),
                      size(e, summary_text_number(row, "parameter_bytes")));
        write_fit(cJSON_GetObjectItemCaseSensitive(row, "fit"));
        write_culprit(cJSON_GetObjectItemCaseSensitive(row, "culprit"));
    }
}

static void write_buffers(const cJSON *buffers)
{
    const cJSON *row;
    char total[SIZE_TEXT_BYTES];
    output_format("    largest buffers at the peak of space %lld (%.0f in all, %s)\n",
                  (long long)summary_text_number(buffers, "space"), summary_text_number(buffers, "total_count"),
                  size(total, summary_text_number(buffers, "total_bytes")));
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(buffers, "rows"))
    {
        char bytes[SIZE_TEXT_BYTES], name[TEXT_SIZE], shape[TEXT_SIZE];
        printable(name, summary_text_text(row, "name"));
        output_format("      %12s  %-*s %-20s %s\n", size(bytes, summary_text_number(row, "bytes")),
                      output_width(name, 32), name, summary_text_text(row, "category"),
                      printable(shape, summary_text_text(row, "shape")));
    }
}

/* For a program without a plan: what the core says about its arrays. */
static void write_arrays(const cJSON *arrays)
{
    const cJSON *sentence = cJSON_GetObjectItemCaseSensitive(arrays, "sentence");
    char text[TEXT_SIZE];
    if (cJSON_IsString(sentence))
        output_format("    %s\n", printable(text, sentence->valuestring));
}

static void write_module(const struct summary_module *module, int64_t space)
{
    const struct modules_entry *entry = module->entry;
    char name[TEXT_SIZE], peak[SIZE_TEXT_BYTES], why[ERR_DESCRIPTION_SIZE];
    output_format("  %s", printable(name, entry->program ? entry->program->key : entry->file->group->stem));
    if (!module->summary) {
        output_format("\n    cannot be read: %s: %s\n", err_name(module->err.code),
                      printable(name, err_describe(&module->err, why)));
        return;
    }
    if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(module->summary, "module"),
                                                       "has_buffer_assignment"))) {
        output_word("  without a buffer assignment\n");
        write_arrays(cJSON_GetObjectItemCaseSensitive(module->summary, "arrays"));
        return;
    }
    output_format("  peak %s\n", size(peak, summary_text_number(module->summary, "peak_memory_bytes")));
    if (module->capacity)
        output_format("    capacity %s (%s%s)\n", size(peak, (double)module->capacity->bytes),
                      printable(name, module->capacity->source),
                      module->capacity->is_physical ? ", its physical size" : "");
    write_spaces(cJSON_GetObjectItemCaseSensitive(module->summary, "spaces"), space);
    if (module->buffers)
        write_buffers(module->buffers);
}

static void write_memory(const struct summary_pool *row)
{
    const struct analysis_trace_pool *pool = &row->figures;
    char name[TEXT_SIZE], host_name[TEXT_SIZE], peak[SIZE_TEXT_BYTES], capacity[SIZE_TEXT_BYTES];
    output_format("  memory %s (%s)  %s %s", printable(name, pool->name), printable(host_name, row->host->name),
                  pool->is_end_alone   ? "in use at the end"
                  : pool->is_one_event ? "in use after the only event"
                                       : "peak",
                  size(peak, (double)pool->peak_bytes));
    if (pool->capacity_bytes >= 0)
        output_format(" of %s", size(capacity, (double)pool->capacity_bytes));
    if (pool->is_end_alone)
        output_word("\n");
    else
        output_format(" at %.1f ms, %llu allocations, %llu frees%s\n", (double)pool->peak_time_ps / 1e9,
                      (unsigned long long)pool->allocation_count, (unsigned long long)pool->deallocation_count,
                      pool->is_one_event ? ": the peak is not known" : "");
    if (pool->failure)
        output_format("    %s\n", printable(name, pool->failure));
    for (size_t i = 0; i < pool->category_count; i++) {
        const struct analysis_trace_category *category = &pool->categories[i];
        output_format("      %12s  %s%s", size(capacity, (double)category->bytes), category->words,
                      category->guess_words);
        bool is_other =
            category->failure_bytes >= 0 && strcmp(capacity, size(peak, (double)category->failure_bytes)) != 0;
        if (is_other)
            output_format(", %s when the last request failed", peak);
        output_word("\n");
    }
}

const struct summary_form summary_text = {.session = write_session, .module = write_module, .memory = write_memory};
