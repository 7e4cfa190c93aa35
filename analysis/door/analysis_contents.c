/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_contents.c: what a file holds and sums of its programs, as bytes that can be kept elsewhere, and from
 * these again. */
#include "analysis.h"

#include "base/arena.h"
#include "door/job.h"

#include <string.h>

/* Numbers have eight bytes in this machine's order; texts have their length before them and NUL behind. The format has
 * no mark for byte order or version: the code that stores the bytes has to tell those apart. */

#define LIMIT_BYTES ((uint64_t)1 << 30)

/* ---- to bytes ---- */

static void put_number(struct buf *out, uint64_t number) { buf_add(out, &number, sizeof(number)); }

/* NULL is not "". */
static void put_text(struct buf *out, const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    put_number(out, size);
    buf_add(out, text != NULL ? text : "", size);
}

void analysis_contents_write(const struct analysis_contents *contents, struct buf *out)
{
    const bool flags[] = {contents->has_hlo_stat,   contents->has_gpu_plane,     contents->has_tpu_plane,
                          contents->has_host_plane, contents->has_memory_events, contents->is_cut};
    put_number(out, (uint64_t)contents->kind);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        put_number(out, flags[i]);
    put_number(out, contents->cut_offset_bytes);
    put_number(out, contents->program_count);
    for (size_t i = 0; i < contents->program_count; i++) {
        const struct analysis_program *program = &contents->programs[i];
        put_text(out, program->name);
        put_text(out, program->key);
        put_number(out, program->program_id);
        put_number(out, program->offset_bytes);
        put_number(out, program->size_bytes);
        put_number(out, program->is_of_gpu);
    }
    put_number(out, contents->hostname_count);
    for (size_t i = 0; i < contents->hostname_count; i++)
        put_text(out, contents->hostnames[i]);
    put_number(out, contents->device_count);
    for (size_t i = 0; i < contents->device_count; i++) {
        const struct analysis_trace_device *device = &contents->devices[i];
        put_text(out, device->kind);
        put_text(out, device->plane);
        put_number(out, device->count);
        put_number(out, device->memory_bytes);
        put_text(out, device->name);
        put_number(out, device->available_bytes);
        put_number(out, device->is_of_allocator);
    }
    put_number(out, contents->note_count);
    for (size_t i = 0; i < contents->note_count; i++) {
        put_text(out, contents->notes[i].code);
        put_number(out, contents->notes[i].count);
        put_text(out, contents->notes[i].text);
    }
}

void analysis_totals_write(const struct analysis_totals *totals, struct buf *out)
{
    put_number(out, totals->has_buffer_assignment);
    put_number(out, totals->space_count);
    for (size_t i = 0; i < totals->space_count; i++) {
        put_number(out, (uint64_t)totals->spaces[i].space);
        put_text(out, totals->spaces[i].name);
        put_number(out, totals->spaces[i].total_bytes);
        put_number(out, totals->spaces[i].temporary_bytes);
        put_number(out, totals->spaces[i].largest_output_bytes);
    }
}

/* ---- from bytes ---- */

struct reader {
    const char *at, *end;
    struct arena *arena;
    struct err *err;
};

static uint64_t take_number(struct reader *reader)
{
    uint64_t number = 0;
    if ((size_t)(reader->end - reader->at) < sizeof(number)) {
        err_set(reader->err, ERR_truncated, ERR_NO_OFFSET, "the bytes end inside of a number");
        return 0;
    }
    memcpy(&number, reader->at, sizeof(number));
    reader->at += sizeof(number);
    return number;
}

static const char *take_text(struct reader *reader)
{
    uint64_t size = take_number(reader);
    if (size == 0)
        return NULL;
    if (size > (size_t)(reader->end - reader->at) || reader->at[size - 1] != '\0') {
        err_set(reader->err, ERR_malformed, ERR_NO_OFFSET, "a text does not end where it should");
        return NULL;
    }
    const char *text = arena_text(reader->arena, (struct str){reader->at, (size_t)size - 1});
    reader->at += size;
    return text;
}

/* The count of items that take at least eight bytes each. */
static size_t take_count(struct reader *reader)
{
    uint64_t count = take_number(reader);
    if (count <= (size_t)(reader->end - reader->at) / sizeof(uint64_t))
        return (size_t)count;
    err_set(reader->err, ERR_malformed, ERR_NO_OFFSET, "there are fewer than the bytes say");
    return 0;
}

static void take_programs(struct reader *reader, struct analysis_contents *out)
{
    size_t count = take_count(reader);
    struct analysis_program *programs = arena_array(reader->arena, struct analysis_program, count + 1);
    for (size_t i = 0; i < count; i++) {
        programs[i].name = take_text(reader);
        programs[i].key = take_text(reader);
        programs[i].program_id = take_number(reader);
        programs[i].offset_bytes = take_number(reader);
        programs[i].size_bytes = take_number(reader);
        programs[i].is_of_gpu = take_number(reader) != 0;
        if (programs[i].name == NULL || programs[i].key == NULL)
            err_set(reader->err, ERR_malformed, ERR_NO_OFFSET, "a program has no name");
    }
    out->programs = programs;
    out->program_count = count;
}

static void take_devices(struct reader *reader, struct analysis_contents *out)
{
    size_t count = take_count(reader);
    struct analysis_trace_device *devices = arena_array(reader->arena, struct analysis_trace_device, count + 1);
    for (size_t i = 0; i < count; i++) {
        devices[i].kind = take_text(reader);
        devices[i].plane = take_text(reader);
        devices[i].count = take_number(reader);
        devices[i].memory_bytes = take_number(reader);
        devices[i].name = take_text(reader);
        devices[i].available_bytes = take_number(reader);
        devices[i].is_of_allocator = take_number(reader) != 0;
        if (devices[i].kind == NULL || devices[i].plane == NULL)
            err_set(reader->err, ERR_malformed, ERR_NO_OFFSET, "a device has no kind");
    }
    out->devices = devices;
    out->device_count = count;
}

static void take_names_and_notes(struct reader *reader, struct analysis_contents *out)
{
    size_t count = take_count(reader);
    const char **hostnames = arena_array(reader->arena, const char *, count + 1);
    for (size_t i = 0; i < count; i++)
        if ((hostnames[i] = take_text(reader)) == NULL)
            err_set(reader->err, ERR_malformed, ERR_NO_OFFSET, "a host has no name");
    out->hostnames = hostnames;
    out->hostname_count = count;
    take_devices(reader, out);
    count = take_count(reader);
    struct analysis_note *notes = arena_array(reader->arena, struct analysis_note, count + 1);
    for (size_t i = 0; i < count; i++) {
        notes[i].code = take_text(reader);
        notes[i].count = take_number(reader);
        notes[i].text = take_text(reader);
        if (notes[i].code == NULL || notes[i].text == NULL)
            err_set(reader->err, ERR_malformed, ERR_NO_OFFSET, "a note has no text");
    }
    out->notes = notes;
    out->note_count = count;
}

static void contents_take(struct job *job, const void *in, void *to, struct err *err)
{
    const struct str *bytes = in;
    struct analysis_contents *out = to;
    struct reader reader = {bytes->data, bytes->data + bytes->length, &job->arena, err};
    bool *const flags[] = {&out->has_hlo_stat,   &out->has_gpu_plane,     &out->has_tpu_plane,
                           &out->has_host_plane, &out->has_memory_events, &out->is_cut};
    out->kind = (enum analysis_kind)take_number(&reader);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        *flags[i] = take_number(&reader) != 0;
    out->cut_offset_bytes = take_number(&reader);
    take_programs(&reader, out);
    take_names_and_notes(&reader, out);
    if (reader.at != reader.end || out->kind > ANALYSIS_KIND_TEXT)
        err_set(err, ERR_malformed, ERR_NO_OFFSET, "these are not the bytes of what a file holds");
}

static int64_t read_nothing(void *context, uint64_t offset, void *into, size_t size)
{
    (void)context, (void)offset, (void)into, (void)size;
    return 0;
}

struct analysis_contents *analysis_contents_of_bytes(struct str bytes, struct err *err)
{
    const struct source nothing = {.read = read_nothing};
    return job_make(&nothing, LIMIT_BYTES, sizeof(struct analysis_contents), contents_take, &bytes, err);
}

static void totals_take(struct job *job, const void *in, void *to, struct err *err)
{
    const struct str *bytes = in;
    struct analysis_totals *out = to;
    struct reader reader = {bytes->data, bytes->data + bytes->length, &job->arena, err};
    out->has_buffer_assignment = take_number(&reader) != 0;
    out->space_count = take_count(&reader);
    struct analysis_space_total *spaces = arena_array(&job->arena, struct analysis_space_total, out->space_count + 1);
    for (size_t i = 0; i < out->space_count; i++) {
        spaces[i].space = (int64_t)take_number(&reader);
        spaces[i].name = take_text(&reader);
        spaces[i].total_bytes = take_number(&reader);
        spaces[i].temporary_bytes = take_number(&reader);
        spaces[i].largest_output_bytes = take_number(&reader);
        if (spaces[i].name == NULL)
            err_set(err, ERR_malformed, ERR_NO_OFFSET, "a memory space has no name");
    }
    out->spaces = spaces;
    if (reader.at != reader.end)
        err_set(err, ERR_malformed, ERR_NO_OFFSET, "these are not the bytes of sums");
}

struct analysis_totals *analysis_totals_of_bytes(struct str bytes, struct err *err)
{
    const struct source nothing = {.read = read_nothing};
    return job_make(&nothing, LIMIT_BYTES, sizeof(struct analysis_totals), totals_take, &bytes, err);
}
