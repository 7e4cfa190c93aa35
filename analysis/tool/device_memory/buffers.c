/* SPDX-License-Identifier: Apache-2.0
 * buffers.c: the view "buffers": samples one by one. JAX writes one for each
 * stack, size and device, so that bytes divided by the count is each buffer's exact size. */
#include "tool/device_memory/labels.h"
#include "tool/device_memory/notes.h"
#include "tool/device_memory/sites.h"
#include "tool/device_memory/views.h"
#include "tool/table.h"

struct listing {
    struct study study;
    struct sites sites;
    uint32_t *site_of; /* of each sample */
    uint32_t *copy_of; /* equal stack and size: the same number */
    uint32_t *copies;  /* of each such number: how many samples */
    struct map copy_table;
    uint32_t *first_of; /* of each number: its first sample */
};

struct same_copy {
    const struct listing *listing;
    uint32_t sample;
    int64_t each;
};

static bool is_copy(const void *context, uint64_t at)
{
    const struct same_copy *same = context;
    const struct study *study = &same->listing->study;
    const struct study_sample *a = &study->samples[same->listing->first_of[at]], *b = &study->samples[same->sample];
    const struct pprof *pprof = study->pprof;
    int64_t each = -1;
    study_each(study, a, &each);
    arena_work(study->arena, a->depth);
    return each == same->each && a->depth == b->depth && study_is_base(study, a) == study_is_base(study, b) &&
           memcmp(pprof->stacks + pprof->stack_starts[a->at], pprof->stacks + pprof->stack_starts[b->at],
                  a->depth * sizeof(*pprof->stacks)) == 0;
}

static void find_copies(struct listing *listing)
{
    const struct study *study = &listing->study;
    const struct pprof *pprof = study->pprof;
    map_init(&listing->copy_table, study->arena, 0);
    for (uint32_t i = 0; i < study->sample_count; i++) {
        const struct study_sample *sample = &study->samples[i];
        struct same_copy same = {listing, i, -1};
        study_each(study, sample, &same.each);
        uint64_t hash = hash_bytes(pprof->stacks + pprof->stack_starts[sample->at],
                                   sample->depth * sizeof(*pprof->stacks), (uint64_t)same.each);
        bool is_new;
        uint32_t at = map_number(&listing->copy_table, hash, is_copy, &same, &is_new);
        if (is_new)
            listing->first_of[at] = i;
        listing->copy_of[i] = at;
        listing->copies[at]++;
    }
}

static void prepare(struct listing *listing)
{
    const struct study *study = &listing->study;
    size_t count = (size_t)study->sample_count + 1;
    struct study_walk walk;
    listing->site_of = arena_array(study->arena, uint32_t, count);
    listing->copy_of = arena_array(study->arena, uint32_t, count);
    listing->copies = arena_array(study->arena, uint32_t, count);
    listing->first_of = arena_array(study->arena, uint32_t, count);
    sites_init(&listing->sites, study->arena);
    study_walk_init(study, &walk);
    for (uint32_t i = 0; i < study->sample_count; i++) {
        study_walk_to(study, &study->samples[i], &walk);
        listing->site_of[i] = sites_of(&listing->sites, study, &walk);
    }
    find_copies(listing);
}

/* Bytes of a sample, whatever is summed. */
static int64_t bytes_of(const struct listing *listing, const struct study_sample *sample)
{
    const struct study *study = &listing->study;
    if (study->sizing == PPROF_NONE)
        return study_value(study, sample);
    return study->pprof->values[(size_t)sample->at * study->pprof->type_count + study->sizing];
}

/* ---- columns ---- */

/* What a row is about. */
struct line {
    const struct listing *listing;
    const struct study *study;
    const struct study_sample *sample;
    const struct sites_key *site;
    const struct frame *frame;
};

static struct line line_of(const void *context, uint32_t row)
{
    const struct listing *listing = context;
    const struct sites_key *site = &listing->sites.keys[listing->site_of[row]];
    return (struct line){listing, &listing->study, &listing->study.samples[row], site,
                         &listing->study.frames->items[site->frame]};
}

static struct table_value each(const void *context, uint32_t row)
{
    int64_t each_bytes = 0;
    bool is_known = study_each(line_of(context, row).study, line_of(context, row).sample, &each_bytes);
    return table_integer_if(is_known, each_bytes);
}

static struct str label_text(const struct line *line, const char *key)
{
    return labels_text(line->study->pprof, line->study->pprof->label_sets[line->sample->at], key,
                       line->study->request->scratch);
}

static struct str name_text(const struct line *line)
{
    struct buf *scratch = line->study->request->scratch;
    frames_full_name(line->study->frames, line->site->frame, scratch);
    return (struct str){scratch->data, scratch->length};
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)

VALUE(id, table_integer(line.sample->at))
VALUE(count, table_integer(study_count(line.study, line.sample)))
VALUE(total, table_integer(bytes_of(line.listing, line.sample)))
VALUE(total_size, table_integer(pprof_size(bytes_of(line.listing, line.sample))))
VALUE(device, table_text_if_any(label_text(&line, "device")))
VALUE(kind, table_text_if_any(label_text(&line, "kind")))
VALUE(callee, table_text_if_any(line.site->callee))
VALUE(copies, table_integer(line.listing->copies[line.listing->copy_of[row]]))
VALUE(function, table_text(line.frame->function))
VALUE(file, table_text(line.frame->file))
VALUE(number, table_integer(line.frame->line))
VALUE(name, table_text(name_text(&line)))

static void frame_write(struct json *json, const void *context, uint32_t row)
{
    const struct line line = line_of(context, row);
    frames_write(line.study->frames, line.site->frame, line.study->request->scratch, json);
}

static void is_base_write(struct json *json, const void *context, uint32_t row)
{
    json_bool(json, study_is_base(line_of(context, row).study, line_of(context, row).sample));
}

#define TEXT(name_, value_) .name = name_, .type = TABLE_TEXT, .value = value_
#define NUMBER(name_, value_, unit_) .name = name_, .type = TABLE_NUMBER, .value = value_, .unit = unit_

static const struct table_column columns[] = {
    {NUMBER("id", id, NULL), .json = "id"},
    {NUMBER("each", each, "bytes"), .is_main = true, .json = "each", .csv = "each_bytes", .title = "Each",
     .help = "size of one: each:>64MiB"},
    {NUMBER("count", count, "count"), .json = "count", .csv = "count", .title = "Count", .help = "count:>10"},
    {NUMBER("total", total, "metric"), .order = total_size, .json = "total", .csv = "total_bytes", .title = "Total",
     .help = "of the row: total:>1GiB"},
    {TEXT("device", device), .json = "device", .csv = "device", .title = "Device", .help = "label device"},
    {TEXT("kind", kind), .json = "kind", .csv = "kind", .title = "Kind", .help = "label kind: buffer, executable"},
    {TEXT("", NULL), .write = frame_write, .json = "frame"},
    {TEXT("callee", callee), .json = "callee"},
    {NUMBER("copies", copies, "count"), .json = "copies", .csv = "copies", .title = "Copies",
     .help = "rows of equal size and stack"},
    {TEXT("fn", function), .aliases = "function", .csv = "function", .title = "Call site",
     .help = "name of the function"},
    {TEXT("file", file), .csv = "file", .title = "File:line", .help = "path of the source file"},
    {NUMBER("line", number, NULL), .csv = "line", .help = "line in the source file"},
    {TEXT("name", name), .is_searched = true, .help = "function, file and line; * stands for any text"},
    {TEXT("", NULL), .write = is_base_write, .json = "is_base"},
    {.name = NULL},
};
static const struct table_spec spec = {columns, .sort = "-total,-each,name,device", .limit_max = UINT32_MAX};

/* ---- output ---- */

static void rows_write(const struct listing *listing, const struct table_rows *rows, struct json *json)
{
    const struct study *study = &listing->study;
    json_key(json, "rows");
    json_array_begin(json);
    for (uint32_t i = rows->first; i < rows->end; i++) {
        const struct study_sample *sample = &study->samples[table_row_at(rows, i)];
        json_object_begin(json);
        table_row_write(columns, listing, table_row_at(rows, i), json);
        if (study->is_diff) {
            json_key_int(json, "before_count", study_before(study, sample, study->counting));
            json_key_int(json, "before_total", study_before(study, sample, study->sizing));
        }
        json_object_end(json);
    }
    json_array_end(json);
}

bool device_memory_buffers(const struct tool_request *request, struct json *json, struct err *err)
{
    struct listing listing;
    const struct study *study = &listing.study;
    struct table_rows rows;
    int64_t matched_total = 0, count_sum = 0;
    if (!study_open_paired(request, &listing.study, err) || !table_read(&rows, request, &spec, &listing, err))
        return false;
    prepare(&listing);
    table_begin(&rows, study->sample_count);
    for (uint32_t row = 0; row < study->sample_count; row++) {
        if (!table_take(&rows, row))
            continue;
        matched_total = pprof_add(matched_total, bytes_of(&listing, &study->samples[row]));
        count_sum = pprof_add(count_sum, study_count(study, &study->samples[row]));
    }
    table_sort(&rows);
    device_memory_notes_add(study);
    if (table_is_format(&rows, "csv")) {
        table_csv_write(&rows, NULL);
        return true;
    }
    json_object_begin(json);
    study_write(study, json);
    table_head_write(&rows, json);
    json_key_int(json, "matched_total", matched_total);
    json_key_int(json, "matched_buffers", count_sum);
    rows_write(&listing, &rows, json);
    json_object_end(json);
    return true;
}
