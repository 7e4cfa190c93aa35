/* SPDX-License-Identifier: Apache-2.0 */
#include "views/oom_write_json.h"

#include "model/oom/meaning.h"

#include <stddef.h>

static void known_write(struct json *json, const char *key, uint64_t value, bool is_known)
{
    if (is_known)
        json_key_uint(json, key, value);
}

static void figure_write(struct json *json, const char *key, const struct oom_figure *figure)
{
    known_write(json, key, figure->value, figure->is_known);
}

static void words_write(struct json *json, const char *key, const struct oom_words *words)
{
    if (words->text.data != NULL)
        json_key_string(json, key, words->text);
}

/* ---- what a buffer has, by key ---- */

struct member {
    const char *key;
    size_t at; /* in struct oom_buffer */
    bool is_figure;
};

static const struct member members[] = {
    {"size_bytes", offsetof(struct oom_buffer, size), true},
    {"unpadded_bytes", offsetof(struct oom_buffer, unpadded), true},
    {"padding_bytes", offsetof(struct oom_buffer, padding), true},
    {"shape", offsetof(struct oom_buffer, shape), false},
    {"op_name", offsetof(struct oom_buffer, op_name), false},
    {"source_file", offsetof(struct oom_buffer, source_file), false},
    {"source_line", offsetof(struct oom_buffer, source_line), true},
    {"stack_frame_id", offsetof(struct oom_buffer, stack_frame_id), true},
    {"label", offsetof(struct oom_buffer, label), false},
    {"allocation_type", offsetof(struct oom_buffer, allocation_type), false},
};
enum { MEMBER_COUNT = sizeof(members) / sizeof(members[0]) };

static const void *member_of(const struct oom_buffer *buffer, const struct member *member)
{
    return (const char *)buffer + member->at;
}

static void buffer_write(struct json *json, const struct oom_buffer *buffer)
{
    json_object_begin(json);
    for (size_t m = 0; m < MEMBER_COUNT; m++)
        if (members[m].is_figure)
            figure_write(json, members[m].key, member_of(buffer, &members[m]));
        else
            words_write(json, members[m].key, member_of(buffer, &members[m]));
    json_key_bool(json, "is_shape_of_result", buffer->is_shape_of_result);
    json_object_end(json);
}

static void buffers_write(struct json *json, const char *count_key, const char *key, const struct oom_buffers *buffers)
{
    known_write(json, count_key, buffers->count, buffers->is_stated);
    json_key_array(json, key);
    for (size_t i = 0; i < buffers->count; i++)
        buffer_write(json, &buffers->items[i]);
    json_array_end(json);
}

/* ---- ranges ---- */

static void range_write(struct json *json, const char *key, uint64_t at, uint64_t length)
{
    if (length == 0)
        return;
    json_key_array(json, key);
    json_uint(json, at);
    json_uint(json, at + length);
    json_array_end(json);
}

static void words_range(struct json *json, const char *key, const struct oom_words *words)
{
    if (words->text.data != NULL)
        range_write(json, key, words->at, words->length);
}

static void buffer_ranges(struct json *json, const char *key, const struct oom_buffers *buffers)
{
    json_key_array(json, key);
    for (size_t i = 0; i < buffers->count; i++) {
        json_object_begin(json);
        for (size_t m = 0; m < MEMBER_COUNT; m++) {
            const struct oom_figure *figure = member_of(&buffers->items[i], &members[m]);
            if (!members[m].is_figure)
                words_range(json, members[m].key, member_of(&buffers->items[i], &members[m]));
            else if (figure->is_known)
                range_write(json, members[m].key, figure->at, figure->length);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

static void ranges_write(struct json *json, const struct oom_failure *failure)
{
    json_key_object(json, "ranges");
    range_write(json, "text", failure->begin_at, failure->end_at - failure->begin_at);
    words_range(json, "error_code", &failure->error_code);
    words_range(json, "memory_space", &failure->memory_space);
    words_range(json, "module", &failure->module);
    words_range(json, "device", &failure->device);
    for (size_t i = 0; i < OOM_FIGURE_COUNT; i++)
        if (failure->figures[i].is_known)
            range_write(json, oom_figure_key((enum oom_figure_at)i), failure->figures[i].at,
                        failure->figures[i].length);
    buffer_ranges(json, "buffers", &failure->lists[OOM_ALLOCATIONS]);
    buffer_ranges(json, "io_buffers", &failure->lists[OOM_ARGUMENTS_AND_OUTPUTS]);
    json_object_end(json);
}

static void notes_write(struct json *json, const struct oom_failure *failure)
{
    json_key_array(json, "notes");
    for (size_t i = 0; i < failure->note_count; i++) {
        json_object_begin(json);
        json_key_text(json, "code", failure->notes[i].code);
        json_key_text(json, "text", failure->notes[i].text);
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- the meaning ---- */

static void size_write(struct json *json, uint64_t bytes, const char *key, const char *text)
{
    json_key_uint(json, "bytes", bytes);
    json_key_text(json, "key", key);
    json_key_text(json, "text", text);
}

static void part_write(struct json *json, const struct oom_part *part)
{
    if (part->kind == OOM_PART_WORDS) {
        json_string(json, part->text);
        return;
    }
    json_object_begin(json);
    if (part->kind == OOM_PART_NAME) {
        json_key_string(json, "name", part->text);
    } else {
        size_write(json, part->bytes, part->key, part->text.data);
        json_key_text(json, "role", part->role);
    }
    json_object_end(json);
}

static void sentence_write(struct json *json, const char *key, const struct oom_sentence *sentence)
{
    json_key_array(json, key);
    for (size_t i = 0; i < sentence->count; i++)
        part_write(json, &sentence->parts[i]);
    json_array_end(json);
}

static void rows_write(struct json *json, const char *key, const struct oom_row *rows, size_t count)
{
    json_key_array(json, key);
    for (size_t i = 0; i < count; i++) {
        json_object_begin(json);
        json_key_text(json, "word", rows[i].word);
        size_write(json, rows[i].bytes, rows[i].key, rows[i].text);
        json_key_text(json, "after", rows[i].after);
        json_key_bool(json, "is_over", rows[i].is_over);
        json_object_end(json);
    }
    json_array_end(json);
}

static void limit_write(struct json *json, const struct oom_bar *bar)
{
    if (!json_key_object_if(json, "limit", bar->limit_word != NULL))
        return;
    json_key_text(json, "word", bar->limit_word);
    json_key_uint(json, "bytes", bar->limit_bytes);
    json_key_text(json, "key", bar->limit_key);
    json_object_end(json);
}

static void bar_write(struct json *json, const struct oom_bar *bar)
{
    if (!json_key_object_if(json, "bar", bar->count > 0))
        return;
    json_key_array(json, "parts");
    for (size_t i = 0; i < bar->count; i++) {
        json_object_begin(json);
        json_key_string(json, "word", bar->stretches[i].word);
        json_key_uint(json, "bytes", bar->stretches[i].bytes);
        json_key_uint(json, "fragmentation_bytes", bar->stretches[i].lost_bytes);
        json_key_text(json, "fragmentation_key", bar->stretches[i].lost_key);
        json_key_text(json, "key", bar->stretches[i].key);
        json_key_text(json, "look", bar->stretches[i].look);
        json_object_end(json);
    }
    json_array_end(json);
    json_key_uint(json, "whole_bytes", bar->whole_bytes);
    json_key_text(json, "of", bar->of);
    limit_write(json, bar);
    json_key_uint(json, "over_bytes", bar->over_bytes);
    json_key_text(json, "over_word", bar->over_word);
    json_key_text(json, "over_text", bar->over_text);
    json_key_bool(json, "is_itemised", bar->is_itemised);
    json_object_end(json);
}

void oom_write_json_steps(struct json *json, const struct oom_step *steps, size_t count)
{
    json_key_array(json, "next_steps");
    for (size_t i = 0; i < count; i++) {
        json_object_begin(json);
        json_key_text(json, "kind", steps[i].is_command ? "command" : "text");
        json_key_text(json, "text", steps[i].text);
        json_object_end(json);
    }
    json_array_end(json);
}

/* `answer`: has the steps too. */
static void verdict_write(struct json *json, const struct oom_meaning *meaning, const struct buf *answer)
{
    json_key_object(json, "verdict");
    json_key_text(json, "title", meaning->title);
    json_key_text(json, "fits", meaning->fits);
    sentence_write(json, "answer", &meaning->answer);
    sentence_write(json, "more", &meaning->more);
    json_key_text(json, "whose", meaning->whose);
    json_key_text(json, "cause", meaning->cause_name);
    sentence_write(json, "cause_text", &meaning->cause_text);
    json_key_text(json, "advice", meaning->advice);
    known_write(json, "limit_bytes", meaning->limit_bytes, meaning->is_limit_known);
    json_key_text(json, "limit_phrase", meaning->limit_phrase);
    known_write(json, "over_bytes", meaning->over_bytes, meaning->is_over_known);
    json_key_text(json, "over_text", meaning->over_text);
    rows_write(json, "figures", meaning->rows, meaning->row_count);
    rows_write(json, "other_figures", meaning->others, meaning->other_count);
    bar_write(json, &meaning->bar);
    json_key_uint(json, "listed_bytes", meaning->listed_bytes);
    json_key_uint(json, "listed_shared_bytes", meaning->listed_shared_bytes);
    json_key_text(json, "sureness", meaning->sureness);
    json_key_text(json, "sureness_of", meaning->sureness_of);
    json_key_text(json, "sureness_reason", meaning->sureness_reason);
    if (answer == NULL)
        oom_write_json_steps(json, meaning->steps, meaning->step_count);
    json_object_end(json);
}

static void matches_write(struct json *json, const char *key, const struct oom_meaning *meaning,
                          const struct oom_comparison *comparison, enum oom_list list)
{
    json_key_array(json, key);
    for (size_t i = 0; i < meaning->failure->lists[list].count; i++) {
        const struct oom_match *match = &comparison->matches[list][i];
        if (match->id == NULL) {
            json_null(json);
            continue;
        }
        json_object_begin(json);
        json_key_text(json, "id", match->id);
        json_key_text(json, "name", match->name);
        json_key_text(json, "category", match->category);
        json_key_text(json, "confidence", match->confidence);
        json_object_end(json);
    }
    json_array_end(json);
}

void oom_write_json_comparison(struct json *json, const struct oom_meaning *meaning,
                               const struct oom_comparison *comparison)
{
    json_object_begin(json);
    json_key_known(json, "space", comparison->space);
    sentence_write(json, "agreement", &comparison->agreement);
    sentence_write(json, "largest", &comparison->largest);
    bar_write(json, &comparison->bar);
    matches_write(json, "buffers", meaning, comparison, OOM_ALLOCATIONS);
    matches_write(json, "io_buffers", meaning, comparison, OOM_ARGUMENTS_AND_OUTPUTS);
    json_object_end(json);
}

/* ---- a failure, a log ---- */

/* A failure in short: one that followed from another, or that the log takes back. */
static void short_write(struct json *json, const struct oom_failure *failure)
{
    json_object_begin(json);
    json_key_text(json, "family", oom_family_name(failure->family));
    json_key_text(json, "form", failure->form);
    json_key_text(json, "title", oom_family_title(failure->family));
    figure_write(json, "needed_bytes", &failure->figures[OOM_needed_bytes]);
    range_write(json, "text", failure->begin_at, failure->end_at - failure->begin_at);
    json_object_end(json);
}

static void consequences_write(struct json *json, const struct oom_failure *failure)
{
    json_key_array(json, "consequences");
    for (size_t i = 0; i < failure->consequence_count; i++)
        short_write(json, failure->consequences[i]);
    json_array_end(json);
}

void oom_write_json_failure(struct json *json, const struct oom_meaning *meaning, const char *file,
                            const struct buf *answer)
{
    const struct oom_failure *failure = meaning->failure;
    json_object_begin(json);
    json_key_text(json, "family", oom_family_name(failure->family));
    json_key_text(json, "framework", oom_framework_name(failure->framework));
    json_key_text(json, "memory_class", oom_memory_name(failure->memory_class));
    json_key_text(json, "form", failure->form);
    json_key_text(json, "phase", failure->phase);
    json_key_text(json, "program", oom_program_name(failure->program));
    json_key_text(json, "activity", oom_activity_name(failure->activity));
    words_write(json, "error_code", &failure->error_code);
    words_write(json, "memory_space", &failure->memory_space);
    words_write(json, "module", &failure->module);
    words_write(json, "device", &failure->device);
    json_key_text(json, "devices", failure->devices);
    for (size_t i = 0; i < OOM_FIGURE_COUNT; i++)
        figure_write(json, oom_figure_key((enum oom_figure_at)i), &failure->figures[i]);
    figure_write(json, "asked_tokens", &failure->asked_tokens);
    figure_write(json, "held_tokens", &failure->held_tokens);
    buffers_write(json, "buffer_count", "buffers", &failure->lists[OOM_ALLOCATIONS]);
    buffers_write(json, "io_buffer_count", "io_buffers", &failure->lists[OOM_ARGUMENTS_AND_OUTPUTS]);
    json_key_uint(json, "replicas", failure->replica_count);
    consequences_write(json, failure);
    ranges_write(json, failure);
    notes_write(json, failure);
    verdict_write(json, meaning, answer);
    if (file != NULL)
        json_key_text(json, "file", file);
    if (answer != NULL) {
        json_key(json, "answer");
        json_written(json, (struct str){answer->data, answer->length});
    }
    json_object_end(json);
}

void oom_write_json_failures(struct json *json, const struct oom_report *report, const char *file)
{
    for (size_t i = 0; i < report->found.failure_count; i++)
        oom_write_json_failure(json, &report->meanings[i], file, NULL);
}

static void usage_write(struct json *json, const struct oom_usage *usage)
{
    if (!json_key_object_if(json, "usage", usage->used.is_known && usage->capacity.is_known))
        return;
    json_key_text(json, "memory_space", usage->memory_space.text.data);
    json_key_uint(json, "used_bytes", usage->used.value);
    json_key_uint(json, "capacity_bytes", usage->capacity.value);
    json_object_end(json);
}

static void mentions_write(struct json *json, const struct oom_mentions *mentions)
{
    if (!json_key_object_if(json, "lines", mentions != NULL))
        return;
    json_key_array(json, "mentions");
    for (size_t i = 0; i < mentions->count; i++) {
        json_object_begin(json);
        json_key_uint(json, "line", mentions->items[i].line);
        json_key_uint(json, "begin_bytes", mentions->items[i].begin_at);
        json_key_uint(json, "end_bytes", mentions->items[i].end_at);
        json_key_string(json, "text", mentions->items[i].text);
        json_object_end(json);
    }
    json_array_end(json);
    json_key_uint(json, "line_count", mentions->line_count);
    json_key_uint(json, "mention_count", mentions->mention_count);
    json_object_end(json);
}

void oom_write_json_answer(struct json *json, const struct oom_report *report)
{
    const struct oom_result *found = &report->found;
    json_key_uint(json, "size_bytes", found->size_bytes);
    json_key_text(json, "encoding", found->encoding);
    json_key_array(json, "failures");
    oom_write_json_failures(json, report, NULL);
    json_array_end(json);
    json_key_array(json, "given_up");
    for (size_t i = 0; i < found->given_up_count; i++)
        short_write(json, &found->given_up[i]);
    json_array_end(json);
    json_key_uint(json, "left_out_count", found->left_out_count);
    json_key_uint(json, "report_line_count", found->report_line_count);
    usage_write(json, &found->usage);
    mentions_write(json, report->mentions);
    json_key_array(json, "looked_for");
    for (size_t at = 0; oom_looked_for(at) != NULL; at++)
        json_text(json, oom_looked_for(at));
    json_array_end(json);
}
