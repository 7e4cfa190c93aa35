/* SPDX-License-Identifier: Apache-2.0
 * buffers.c: the view "buffers": samples one by one. JAX writes one for each
 * stack, size and device, so that bytes divided by the count is each buffer's exact size. */
#include "views/device_memory/frames_write.h"
#include "views/device_memory/sums.h"
#include "views/device_memory/views.h"
#include "views/table.h"

struct buffers_listing {
    struct model model;
    struct sites sites;
    uint32_t *site_of; /* of each sample */
    uint32_t *copy_of; /* equal stack and size: the same number */
    uint32_t *copies;  /* of each such number: how many samples */
    struct map copy_table;
    uint32_t *first_of; /* of each number: its first sample */
};

struct same_copy {
    const struct buffers_listing *listing;
    uint32_t sample;
    int64_t each;
};

static bool is_copy(const void *context, uint64_t at)
{
    const struct same_copy *same = context;
    const struct model *model = &same->listing->model;
    const struct model_sample *a = &model->samples[same->listing->first_of[at]], *b = &model->samples[same->sample];
    const struct pprof *pprof = model->pprof;
    int64_t each = -1;
    model_each(model, a, &each);
    arena_work(model->arena, a->depth);
    return each == same->each && a->depth == b->depth && model_is_base(model, a) == model_is_base(model, b) &&
           memcmp(pprof->stacks + pprof->stack_starts[a->at], pprof->stacks + pprof->stack_starts[b->at],
                  a->depth * sizeof(*pprof->stacks)) == 0;
}

static void find_copies(struct buffers_listing *listing)
{
    const struct model *model = &listing->model;
    const struct pprof *pprof = model->pprof;
    map_init(&listing->copy_table, model->arena, 0);
    for (uint32_t i = 0; i < model->sample_count; i++) {
        const struct model_sample *sample = &model->samples[i];
        struct same_copy same = {listing, i, -1};
        model_each(model, sample, &same.each);
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

static void buffers_prepare(struct buffers_listing *listing)
{
    const struct model *model = &listing->model;
    size_t count = (size_t)model->sample_count + 1;
    struct model_walk walk;
    listing->site_of = arena_array(model->arena, uint32_t, count);
    listing->copy_of = arena_array(model->arena, uint32_t, count);
    listing->copies = arena_array(model->arena, uint32_t, count);
    listing->first_of = arena_array(model->arena, uint32_t, count);
    sums_sites_init(&listing->sites, model->arena);
    model_walk_init(model, &walk);
    for (uint32_t i = 0; i < model->sample_count; i++) {
        model_walk_to(model, &model->samples[i], &walk);
        listing->site_of[i] = sums_site_of(&listing->sites, model, &walk);
    }
    find_copies(listing);
}

/* Bytes of a sample, whatever is summed. */
static int64_t bytes_of(const struct buffers_listing *listing, const struct model_sample *sample)
{
    const struct model *model = &listing->model;
    if (model->sizing == PPROF_NONE)
        return model_value(model, sample);
    return model->pprof->values[(size_t)sample->at * model->pprof->type_count + model->sizing];
}

/* ---- columns ---- */

/* What a row is about. */
struct line {
    const struct buffers_listing *listing;
    const struct model *model;
    const struct model_sample *sample;
    const struct sites_key *site;
    const struct frame *frame;
};

static struct line line_of(const void *context, uint32_t row)
{
    const struct buffers_listing *listing = context;
    const struct sites_key *site = &listing->sites.keys[listing->site_of[row]];
    return (struct line){listing, &listing->model, &listing->model.samples[row], site,
                         &listing->model.frames->items[site->frame]};
}

static struct table_value each(const void *context, uint32_t row)
{
    int64_t each_bytes = 0;
    bool is_known = model_each(line_of(context, row).model, line_of(context, row).sample, &each_bytes);
    return table_integer_if(is_known, each_bytes);
}

static struct str label_text(const struct line *line, const char *key)
{
    return chips_label_text(line->model->pprof, line->model->pprof->label_sets[line->sample->at], key,
                            line->model->request->scratch);
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)

VALUE(id, table_integer(line.sample->at))
VALUE(count, table_integer(model_count(line.model, line.sample)))
VALUE(total, table_integer(bytes_of(line.listing, line.sample)))
VALUE(total_size, table_integer(pprof_size(bytes_of(line.listing, line.sample))))
VALUE(device, table_text_if_any(label_text(&line, "device")))
VALUE(kind, table_text_if_any(label_text(&line, "kind")))
VALUE(callee, table_text_if_any(line.site->callee))
VALUE(copies, table_integer(line.listing->copies[line.listing->copy_of[row]]))
VALUE(function, table_text(line.frame->function))
VALUE(file, table_text(line.frame->file))
VALUE(number, table_integer(line.frame->line))
VALUE(name, table_text(frames_full_name(line.model->frames, line.site->frame, line.model->request->scratch)))

static void frame_write(struct json *json, const void *context, uint32_t row)
{
    const struct line line = line_of(context, row);
    frames_write(line.model->frames, line.site->frame, line.model->request->scratch, json);
}

static void is_base_write(struct json *json, const void *context, uint32_t row)
{
    json_bool(json, model_is_base(line_of(context, row).model, line_of(context, row).sample));
}

static const struct table_column columns[] = {
    {COLUMN_NUMBER("id", id, NULL), .json = "id"},
    {COLUMN_NUMBER("each", each, "bytes"), .is_main = true, .json = "each", .csv = "each_bytes", .title = "Each",
     .help = "size of one: each:>64MiB"},
    {COLUMN_NUMBER("count", count, "count"), .json = "count", .csv = "count", .title = "Count", .help = "count:>10"},
    {COLUMN_NUMBER("total", total, "metric"), .order = total_size, .json = "total", .csv = "total_bytes",
     .title = "Total", .help = "of the row: total:>1GiB"},
    {COLUMN_TEXT("device", device), .json = "device", .csv = "device", .title = "Device", .help = "label device"},
    {COLUMN_TEXT("kind", kind), .json = "kind", .csv = "kind", .title = "Kind",
     .help = "label kind: buffer, executable"},
    {COLUMN_TEXT("", NULL), .write = frame_write, .json = "frame"},
    {COLUMN_TEXT("callee", callee), .json = "callee"},
    {COLUMN_NUMBER("copies", copies, "count"), .json = "copies", .csv = "copies", .title = "Copies",
     .help = "rows of equal size and stack"},
    {COLUMN_TEXT("fn", function), .aliases = "function", .csv = "function", .title = "Call site",
     .help = "name of the function"},
    {COLUMN_TEXT("file", file), .csv = "file", .title = "File:line", .help = "path of the source file"},
    {COLUMN_NUMBER("line", number, NULL), .csv = "line", .help = "line in the source file"},
    {COLUMN_TEXT("name", name), .is_searched = true, .help = "function, file and line; * matches any text"},
    {COLUMN_TEXT("", NULL), .write = is_base_write, .json = "is_base"},
    {.name = NULL},
};
static const struct table_spec spec = {columns, .sort = "-total,-each,name,device", .limit_max = UINT32_MAX};

/* ---- output ---- */

static void rows_write(const struct buffers_listing *listing, const struct table_rows *rows, struct json *json)
{
    const struct model *model = &listing->model;
    json_key_array(json, "rows");
    for (uint32_t i = rows->first; i < rows->end; i++) {
        const struct model_sample *sample = &model->samples[table_row_at(rows, i)];
        json_object_begin(json);
        table_row_write(columns, listing, table_row_at(rows, i), json);
        if (model->is_diff) {
            json_key_int(json, "before_count", model_before(model, sample, model->counting));
            json_key_int(json, "before_total", model_before(model, sample, model->sizing));
        }
        json_object_end(json);
    }
    json_array_end(json);
}

bool device_memory_buffers(const struct tool_request *request, struct json *json, struct err *err)
{
    struct buffers_listing listing;
    const struct model *model = &listing.model;
    struct table_rows rows;
    int64_t matched_total = 0, count_sum = 0;
    if (!model_open_paired(request, &listing.model, err) || !table_read(&rows, request, &spec, &listing, err))
        return false;
    buffers_prepare(&listing);
    table_begin(&rows, model->sample_count);
    for (uint32_t row = 0; row < model->sample_count; row++) {
        if (!table_take(&rows, row))
            continue;
        matched_total = pprof_add(matched_total, bytes_of(&listing, &model->samples[row]));
        count_sum = pprof_add(count_sum, model_count(model, &model->samples[row]));
    }
    table_sort(&rows);
    model_notes(model);
    if (table_is_lines(&rows)) {
        table_lines_write(&rows, NULL);
        return true;
    }
    model_begin(model, json);
    table_head_write(&rows, json);
    json_key_int(json, "matched_total", matched_total);
    json_key_int(json, "matched_buffers", count_sum);
    rows_write(&listing, &rows, json);
    json_object_end(json);
    return true;
}
