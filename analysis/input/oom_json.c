/* SPDX-License-Identifier: Apache-2.0
 * oom_json.c: see oom_json.h. */
#include "input/oom_json.h"

#include <stddef.h>

static void figure_write(struct json *json, const char *key, const struct oom_figure *figure)
{
    if (figure->is_known)
        json_key_uint(json, key, figure->value);
    else
        json_key_null(json, key);
}

static void words_write(struct json *json, const char *key, const struct oom_words *words)
{
    if (words->text.data != NULL)
        json_key_string(json, key, words->text);
    else
        json_key_null(json, key);
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
enum { MEMBER_COUNT = sizeof members / sizeof members[0] };

static const void *member_of(const struct oom_buffer *buffer, const struct member *member)
{
    return (const char *)buffer + member->at;
}

static void buffers_write(struct json *json, const char *count_key, const char *key, const struct oom_buffers *buffers)
{
    if (buffers->is_stated)
        json_key_uint(json, count_key, buffers->count);
    else
        json_key_null(json, count_key);
    json_key(json, key);
    json_array_begin(json);
    for (size_t i = 0; i < buffers->count; i++) {
        json_object_begin(json);
        for (size_t m = 0; m < MEMBER_COUNT; m++)
            if (members[m].is_figure)
                figure_write(json, members[m].key, member_of(&buffers->items[i], &members[m]));
            else
                words_write(json, members[m].key, member_of(&buffers->items[i], &members[m]));
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- ranges ---- */

static void range_write(struct json *json, const char *key, uint64_t at, uint64_t length)
{
    if (length == 0)
        return;
    json_key(json, key);
    json_array_begin(json);
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
    json_key(json, key);
    json_array_begin(json);
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

static const char *const figure_names[] = {
#define FIGURE(name) #name,
#include "input/oom_figures.def"
#undef FIGURE
};

static void ranges_write(struct json *json, const struct oom_failure *failure)
{
    json_key(json, "ranges");
    json_object_begin(json);
    range_write(json, "text", failure->begin_at, failure->end_at - failure->begin_at);
    words_range(json, "error_code", &failure->error_code);
    words_range(json, "memory_space", &failure->memory_space);
    words_range(json, "module", &failure->module);
    words_range(json, "device", &failure->device);
    for (size_t i = 0; i < OOM_FIGURE_COUNT; i++)
        if (failure->figures[i].is_known)
            range_write(json, figure_names[i], failure->figures[i].at, failure->figures[i].length);
    buffer_ranges(json, "buffers", &failure->lists[OOM_ALLOCATIONS]);
    buffer_ranges(json, "io_buffers", &failure->lists[OOM_ARGUMENTS_AND_OUTPUTS]);
    json_object_end(json);
}

static void notes_write(struct json *json, const struct oom_failure *failure)
{
    json_key(json, "notes");
    json_array_begin(json);
    for (size_t i = 0; i < failure->note_count; i++) {
        json_object_begin(json);
        json_key_text(json, "code", failure->notes[i].code);
        json_key_text(json, "text", failure->notes[i].text);
        json_object_end(json);
    }
    json_array_end(json);
}

static void failure_write(struct json *json, const struct oom_failure *failure)
{
    json_object_begin(json);
    json_key_text(json, "family", oom_family_name(failure->family));
    json_key_text(json, "form", failure->form);
    json_key_text(json, "phase", failure->phase);
    words_write(json, "error_code", &failure->error_code);
    words_write(json, "memory_space", &failure->memory_space);
    words_write(json, "module", &failure->module);
    words_write(json, "device", &failure->device);
    for (size_t i = 0; i < OOM_FIGURE_COUNT; i++)
        figure_write(json, figure_names[i], &failure->figures[i]);
    buffers_write(json, "buffer_count", "buffers", &failure->lists[OOM_ALLOCATIONS]);
    buffers_write(json, "io_buffer_count", "io_buffers", &failure->lists[OOM_ARGUMENTS_AND_OUTPUTS]);
    json_key_uint(json, "replicas", failure->replica_count);
    ranges_write(json, failure);
    notes_write(json, failure);
    json_object_end(json);
}

void oom_json_write(struct json *json, const struct oom_result *result)
{
    json_array_begin(json);
    for (size_t i = 0; i < result->failure_count; i++)
        failure_write(json, &result->failures[i]);
    json_array_end(json);
}
