/* SPDX-License-Identifier: Apache-2.0
 * log_texts_read.c: one text, or the end of a long one, as far as a list wants to know it. */
#include "server/gather/log_texts.h"

#include "analysis/analysis.h"
#include "server/base/memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { SMALL_BYTES = 1 << 20, RATIO_MAX = 64 };
static const uint64_t MAX_BYTES = (uint64_t)256 << 20, INFLATED_MAX_BYTES = (uint64_t)64 << 20;

static void copy_word(struct str text, char *word, size_t size)
{
    snprintf(word, size, "%.*s", text.data ? (int)text.length : 0, text.data ? text.data : "");
}

static void copy_text(const char *text, char *word, size_t size) { snprintf(word, size, "%s", text ? text : ""); }

static void log_texts_read_fill(const struct oom_report *report, struct log_text_failure *out)
{
    struct analysis_oom_facts first;
    analysis_oom_facts(analysis_oom_at(report, 0), &first);
    *out = (struct log_text_failure){
        .failure_count = analysis_oom_count(report),
        .needed_bytes = first.needed_bytes,
        .capacity_bytes = first.capacity_bytes,
        .exceeded_bytes = first.exceeded_bytes,
        .free_bytes = first.free_bytes,
        .largest_free_bytes = first.largest_free_bytes,
        .limit_bytes = first.limit_bytes,
        .over_bytes = first.over_bytes,
    };
    for (size_t at = 0; at < analysis_oom_count(report); at++)
        out->may_be_of_xla |= analysis_verdict_may_be_of_xla(analysis_oom_at(report, at));
    copy_text(first.family, out->family, sizeof(out->family));
    copy_text(first.memory_class, out->memory_class, sizeof(out->memory_class));
    copy_text(first.phase, out->phase, sizeof(out->phase));
    copy_word(first.memory_space, out->memory_space, sizeof(out->memory_space));
    copy_word(first.module, out->module, sizeof(out->module));
    copy_text(first.title, out->title, sizeof(out->title));
    copy_text(first.limit_phrase, out->limit_phrase, sizeof(out->limit_phrase));
    copy_text(first.over_text, out->over_text, sizeof(out->over_text));
}

/* A packed text, inflated at once where that takes little memory and it may be a text, which inflate to 5 to 20 times:
 * as a file in memory; NULL: it is read as a stream. */
static struct file *inside_open(struct file *file, struct buf *inside)
{
    struct err ignored = ERR_INIT; /* reading it as a stream reports the fault */
    uint64_t size_bytes = files_is_gzip(file) ? analysis_packed_says_bytes(files_source(file)) : 0;
    bool is_likely = size_bytes < SMALL_BYTES || size_bytes / RATIO_MAX <= files_identity(file)->size_bytes;
    if (size_bytes == 0 || size_bytes > INFLATED_MAX_BYTES || !is_likely ||
        !analysis_inflate(files_source(file), size_bytes, inside, &ignored))
        return NULL;
    const struct files_identity identity = {.size_bytes = inside->length};
    const struct files_place place = {.root = "",
                                      .path = "",
                                      .bytes = (const unsigned char *)inside->data,
                                      .byte_count = inside->length,
                                      .identity = &identity};
    return files_open(&place, &ignored);
}

void log_texts_kept_free(struct log_texts_kept *kept)
{
    for (size_t at = 0; at < kept->count; at++)
        analysis_subject_free(kept->items[at]);
    free(kept->items);
    *kept = (struct log_texts_kept){0};
}

/* False: there is no room. */
static bool text_keep(struct log_texts_kept *kept, struct analysis_subject *text)
{
    uint64_t bytes = analysis_subject_memory_bytes(text);
    if (!kept || bytes > kept->left_bytes)
        return false;
    kept->items = memory_grow(kept->items, &kept->capacity, kept->count + 1, sizeof(struct analysis_subject *));
    kept->items[kept->count++] = text;
    kept->left_bytes -= bytes;
    return true;
}

bool log_texts_read(const struct files_place *place, const atomic_bool *is_stopping, struct log_texts_kept *kept,
                    struct log_text_failure *failure, struct err *err)
{
    struct file *file = files_open(place, err);
    if (!file)
        return false;
    struct buf inside = BUF_INIT;
    struct file *unpacked = inside_open(file, &inside);
    const struct source *whole = files_source(unpacked ? unpacked : file);
    bool is_long = whole->size_bytes > MAX_BYTES && !files_is_gzip(file);
    struct files_tail tail = {whole, is_long ? whole->size_bytes - MAX_BYTES : 0, is_stopping};
    struct source source = files_tail_source(&tail);
    const struct analysis_reading reading = {.kind = ANALYSIS_TEXT, .limit_bytes = ANALYSIS_TEXT_MAX_BYTES};
    struct analysis_subject *text = analysis_subject_read(&source, &reading, err);
    bool is_read = text != NULL;
    *failure = (struct log_text_failure){0};
    if (!text)
        files_tail_fail(&tail, err);
    else if (analysis_oom_count(analysis_text_report(text)) > 0)
        log_texts_read_fill(analysis_text_report(text), failure);
    if (failure->failure_count > 0 && !is_long && text_keep(kept, text))
        failure->text = text;
    else
        analysis_subject_free(text);
    if (unpacked)
        files_close(unpacked);
    files_close(file);
    buf_free(&inside);
    return is_read;
}
