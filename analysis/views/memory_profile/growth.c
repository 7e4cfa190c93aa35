/* SPDX-License-Identifier: Apache-2.0
 * growth.c: the view "growth": what grows from step to step; a leak is the first row. */
#include "model/memory_profile/growth.h"
#include "base/nearest.h"
#include "base/size_text.h"
#include "base/sum.h"
#include "views/memory_profile/views.h"
#include "views/table.h"

/* ---- rows ---- */

struct growth_listing {
    const struct tool_request *request;
    struct memory_profile_growth growth;
};

static const struct memory_profile_growth_group *group_at(const struct memory_profile_growth *growth, uint32_t row)
{
    return chunks_at(&growth->groups, row);
}

/* The subject of a row. The row of the whole pool comes after the groups. */
struct line {
    const struct memory_profile_growth *growth;
    const struct memory_profile_growth_course *course;
    const struct memory_what *what;
    bool is_whole;
};

static struct line line_of(const void *context, uint32_t row)
{
    static const struct memory_what nothing; /* of the whole pool, whose row has none of the columns that ask it */
    const struct memory_profile_growth *growth = &((const struct growth_listing *)context)->growth;
    bool is_whole = row == growth->groups.count;
    const struct memory_profile_growth_group *group = is_whole ? NULL : group_at(growth, row);
    return (struct line){growth, is_whole ? &growth->whole : &group->course,
                         is_whole ? &nothing : &growth->profile->events.whats[growth->profile->what[group->event]],
                         is_whole};
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)

VALUE(op, table_text_if_any(memory_profile_text(line.growth->profile, line.what->op)))
VALUE(dtype, table_text_if_any(memory_profile_what_data_type(line.growth->profile, line.what)))
VALUE(shape, table_text_if_any(memory_profile_text(line.growth->profile, line.what->shape)))
VALUE(program, table_text_if_any(memory_profile_what_program(line.growth->profile, line.what)))
VALUE(role, table_text_if_any(memory_profile_what_role(line.growth->profile, line.what)))
/* What comes again from step to step may be of several categories. */
static struct table_value category(const void *context, uint32_t row)
{
    (void)context, (void)row;
    return table_unknown();
}
static struct table_value category_word(const void *context, uint32_t row) { return category(context, row); }
VALUE(confidence, line.growth->profile->events.snapshot != NULL
                      ? table_unknown()
                      : table_text_if_any(memory_profile_what_confidence(line.growth->profile, line.what)))
VALUE(slope, table_real(memory_profile_growth_slope(line.growth, line.course)))
VALUE(first, table_integer(line.course->first_bytes))
VALUE(last, table_integer(line.course->bytes))
VALUE(largest, table_integer(line.course->largest_bytes))
VALUE(first_count, table_integer_if(!line.is_whole, line.course->first_count))
VALUE(last_count, table_integer_if(!line.is_whole, line.course->count))
VALUE(step_count, table_integer(line.growth->boundary_count - 1))
VALUE(grown, table_integer(line.course->grown_count))
VALUE(shrunk, table_integer(line.course->shrunk_count))
VALUE(verdict,
      table_text(str_of(memory_profile_growth_word((uint8_t)memory_profile_growth_kind(line.growth, line.course)))))
VALUE(verdict_rank, table_integer(memory_profile_growth_kind(line.growth, line.course)))

static struct table_value growth_key(const void *context, uint32_t row)
{
    const struct growth_listing *listing = context;
    const struct str parts[] = {op(context, row).text, dtype(context, row).text, shape(context, row).text,
                                program(context, row).text, role(context, row).text};
    bool is_guessed = parts[3].length + parts[4].length > 0; /* else the key is as it is without guesses */
    return table_text(memory_profile_views_key(listing->request->scratch, parts, is_guessed ? 5 : 3, 0));
}

/* "grows 1.00 MiB a step, 20 of 20 steps" */
static void sentence_write(struct buf *out, const struct line *line)
{
    const struct memory_profile_growth_course *course = line->course;
    const char *one = line->growth->kind;
    const char *many = line->growth->boundary_count == 2 ? one : strcmp(one, "launch") == 0 ? "launches" : "steps";
    double slope = memory_profile_growth_slope(line->growth, course);
    int64_t by = course->bytes - course->first_bytes;
    char size[SIZE_TEXT_BYTES], of[COUNT_TEXT_BYTES], grown[COUNT_TEXT_BYTES], shrunk[COUNT_TEXT_BYTES];
    size_text(size, (uint64_t)(slope < 0 ? -slope : slope));
    size_text_count(of, line->growth->boundary_count - 1);
    size_text_count(grown, course->grown_count);
    size_text_count(shrunk, course->shrunk_count);
    switch (memory_profile_growth_kind(line->growth, course)) {
    case GROWTH_GROWS: buf_format(out, "grows %s a %s, %s of %s %s", size, one, grown, of, many); return;
    case GROWTH_SHRINKS: buf_format(out, "shrinks %s a %s, %s of %s %s", size, one, shrunk, of, many); return;
    case GROWTH_STEPS_ONCE:
        size_text(size, (uint64_t)(by < 0 ? -by : by));
        buf_format(out, "steps once: %s%s and then level", by < 0 ? "−" : "+", size);
        return;
    case GROWTH_STEADY: buf_format(out, "steady over %s %s", of, many); return;
    case GROWTH_VARIES:
    case GROWTH_KINDS: break;
    }
    buf_format(out, "irregular: up in %s, down in %s of %s %s", grown, shrunk, of, many);
}

static struct table_value growth_sentence(const void *context, uint32_t row)
{
    struct buf *scratch = ((const struct growth_listing *)context)->request->scratch;
    const struct line line = line_of(context, row);
    scratch->length = 0;
    sentence_write(scratch, &line);
    return table_text((struct str){scratch->data, scratch->length});
}

static void sparks_write(struct json *json, const void *context, uint32_t row)
{
    const struct line line = line_of(context, row);
    json_array_begin(json);
    for (uint32_t i = 0; i < GROWTH_SPARKS && i < line.growth->boundary_count; i++)
        json_int(json, line.course->sparks[i]);
    json_array_end(json);
}

static const struct table_column columns[] = {
    {COLUMN_TEXT("key", growth_key), .json = "key"},
    {COLUMN_TEXT("op", op), .is_searched = true, .json = "op", .csv = "op", .title = "Op",
     .help = "what allocated it; * matches any text"},
#include "views/memory_profile/what_columns.def"
    {COLUMN_NUMBER("slope", slope, "bytes_per_step"), .json = "slope_bytes_per_step", .csv = "slope_bytes_per_step",
     .title = "Slope", .help = "bytes a step: slope:>1KiB"},
    {COLUMN_NUMBER("first", first, "bytes"), .json = "first_bytes", .csv = "first_bytes", .title = "First",
     .help = "live at the first boundary"},
    {COLUMN_NUMBER("size", last, "bytes"), .is_main = true, .aliases = "last", .json = "last_bytes",
     .csv = "last_bytes", .title = "Last", .help = "live at the last boundary: size:>1MiB"},
    {COLUMN_NUMBER("largest", largest, "bytes"), .json = "largest_bytes", .csv = "largest_bytes"},
    {COLUMN_NUMBER("first_count", first_count, "count"), .json = "first_count", .csv = "first_count"},
    {COLUMN_NUMBER("count", last_count, "count"), .aliases = "last_count", .json = "last_count", .csv = "last_count",
     .help = "allocations at the last boundary"},
    {COLUMN_NUMBER("step_count", step_count, "count"), .json = "step_count", .csv = "step_count"},
    {COLUMN_NUMBER("grown", grown, "count"), .json = "grown_count", .csv = "grown_count", .title = "Grew in",
     .help = "steps in which it grew"},
    {COLUMN_NUMBER("shrunk", shrunk, "count"), .json = "shrunk_count", .csv = "shrunk_count"},
    {COLUMN_TEXT("verdict", verdict), .order = verdict_rank, .json = "verdict", .csv = "verdict", .title = "Verdict",
     .help = "verdict:grows, steps_once, varies, shrinks, steady"},
    {COLUMN_TEXT("", growth_sentence), .json = "sentence"},
    {COLUMN_TEXT("", NULL), .write = sparks_write, .json = "sparkline_bytes"},
    {.name = NULL},
};
enum { COURSE = 8 }; /* the first column that the whole pool has too */
static const char csv_names[] =
    "op dtype shape program role confidence verdict slope first size largest first_count count grown shrunk step_count";
static const struct table_spec spec = {.columns = columns, .sort = "-verdict,-slope"};

static void boundaries_write(struct json *json, const struct memory_profile_growth *growth)
{
    uint32_t count = growth->boundary_count, sparks = count < GROWTH_SPARKS ? count : GROWTH_SPARKS;
    json_key_uint(json, "boundary_count", count);
    json_key_object(json, "boundaries");
    json_key_array(json, "step");
    for (uint32_t s = 0; s < sparks; s++)
        json_int(json, growth->boundaries[(uint64_t)s * count / sparks].number);
    json_array_end(json);
    json_key_array(json, "time_ps");
    for (uint32_t s = 0; s < sparks; s++)
        json_int(json, growth->boundaries[(uint64_t)s * count / sparks].time_ps);
    json_array_end(json);
    json_object_end(json);
}

/* Only the JSON has the bytes at each boundary: they are drawn, and thinned. */
static void json_write(const struct growth_listing *listing, const struct table_rows *rows, int64_t bytes,
                       struct json *json)
{
    const struct memory_profile_growth *growth = &listing->growth;
    json_object_begin(json);
    memory_profile_views_memory(json, growth->pool);
    json_key_text(json, "boundary", growth->kind);
    json_key(json, "reason");
    memory_profile_views_reason(
        json, growth->kind == NULL ? "no_steps" : NULL,
        growth->profile->events.snapshot != NULL
            ? "The snapshot has fewer than two steps: there is nothing to compare. step() of "
              "torch.profiler.profile marks steps; so do optimizers from PyTorch 2.6 on."
            : "The trace has fewer than two steps or launches of a module: there is nothing to compare. "
              "jax.profiler.StepTraceAnnotation(\"train\", step_num=n) around each step marks them.");

    boundaries_write(json, growth);
    json_key(json, "whole");
    if (growth->kind != NULL) {
        json_object_begin(json);
        table_row_write(columns + COURSE, listing, (uint32_t)growth->groups.count, json);
        json_object_end(json);
    } else {
        json_null(json);
    }
    table_head_write(rows, json);
    json_key_int(json, "matched_bytes", bytes);
    table_rows_write(rows, "rows", json);
    json_object_end(json);
}

static bool boundary_read(const struct tool_request *request, enum memory_profile_growth_by *by, struct err *err)
{
    const char *word = tool_param_text(request, "boundary");
    static const char *const words[] = {"step", "launch"};
    size_t chosen = 0;
    *by = GROWTH_BY_ANY;
    if (word == NULL || word[0] == '\0')
        return true;
    if (!nearest_choose("boundary", "boundary", str_of(word), words, 2, &chosen, err))
        return false;
    *by = chosen == 0 ? GROWTH_BY_STEP : GROWTH_BY_LAUNCH;
    return true;
}

bool memory_profile_growth(const struct tool_request *request, struct json *json, struct err *err)
{
    struct growth_listing *listing = arena_array(request->arena, struct growth_listing, 1);
    const struct memory_profile_pool *pool = memory_profile_views_pool(request, err);
    enum memory_profile_growth_by by;
    struct table_rows rows;
    int64_t bytes = 0;
    if (pool == NULL || !boundary_read(request, &by, err) || !table_read(&rows, request, &spec, listing, err))
        return false;
    listing->request = request;
    memory_profile_growth_make(&listing->growth, pool, by, request->arena);
    table_begin(&rows, (uint32_t)listing->growth.groups.count);
    for (uint32_t row = 0; row < listing->growth.groups.count; row++)
        if (table_take(&rows, row))
            bytes = sum_add(bytes, group_at(&listing->growth, row)->course.bytes);
    table_sort(&rows);
    if (table_is_lines(&rows))
        table_lines_write(&rows, csv_names);
    else
        json_write(listing, &rows, bytes, json);
    return true;
}
