/* SPDX-License-Identifier: Apache-2.0
 * traces.c: the view "traces": samples with their stacks and labels, in the
 * order of the file; or all of them as collapsed stacks, a line each. */
#include "views/device_memory/frames_write.h"
#include "views/device_memory/views.h"
#include "views/table.h"

struct traces_listing {
    struct model model;
    uint32_t *chosen; /* samples by row */
};

TABLE_VALUE(id, const struct traces_listing *listing = context,
            table_integer(listing->model.samples[listing->chosen[row]].at))

static const struct table_column columns[] = {
    {.name = "id", .type = TABLE_NUMBER, .value = id, .json = "id"},
    {.name = NULL},
};
static const char *const formats[] = {"json", "collapsed", NULL};
static const struct table_spec spec = {columns, .sort = "id", .formats = formats, .limit_max = UINT32_MAX};

static void write_labels(const struct model *model, const struct model_sample *sample, struct json *json)
{
    const struct pprof_label_set *set = &model->pprof->sets[model->pprof->label_sets[sample->at]];
    json_key_array(json, "labels");
    for (uint32_t i = 0; i < set->count; i++) {
        const struct pprof_label *label = &model->pprof->labels[set->first + i];
        json_object_begin(json);
        json_key_string(json, "key", label->key);
        if (label->is_number) {
            json_key_int(json, "number", label->number);
            json_key_string(json, "unit", label->unit);
        } else {
            json_key_string(json, "text", label->text);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_row(const struct model *model, const struct model_sample *sample, const struct model_walk *walk,
                      bool *shown, struct json *json)
{
    char id[FRAMES_ID_SIZE];
    int64_t each = -1;
    model_each(model, sample, &each);
    json_object_begin(json);
    json_key_uint(json, "id", sample->at);
    json_key_int(json, "value", model_value(model, sample));
    json_key_int(json, "count", model_count(model, sample));
    json_key_known(json, "each", each);
    json_key_bool(json, "is_base", model_is_base(model, sample));
    write_labels(model, sample, json);
    json_key_array(json, "stack");
    for (uint32_t i = walk->count; i-- > 0;) {
        shown[walk->frames[i]] = true;
        frames_id(model->frames, walk->frames[i], id);
        json_text(json, id);
    }
    json_array_end(json);
    json_object_end(json);
}

/* "root;…;leaf value"; names are without characters that would split a line. */
static void write_line(const struct model *model, const struct model_sample *sample, const struct model_walk *walk)
{
    struct buf *out = model->request->out, *scratch = model->request->scratch;
    for (uint32_t i = 0; i < walk->count; i++) {
        frames_short_name(model->frames, walk->frames[i], scratch);
        if (i > 0)
            buf_char(out, ';');
        for (size_t at = 0; at < scratch->length; at++) {
            unsigned char c = (unsigned char)scratch->data[at];
            buf_char(out, c < 0x20 || c == ';' ? '_' : (char)c);
        }
    }
    buf_format(out, " %lld\n", (long long)model_value(model, sample));
}

/* Samples through a frame, or all. */
static uint32_t traces_choose(const struct model *model, uint32_t frame, uint32_t *chosen)
{
    struct model_walk walk;
    uint32_t count = 0;
    model_walk_init(model, &walk);
    for (uint32_t i = 0; i < model->sample_count; i++) {
        bool is_there = frame == MAP_NONE;
        if (!is_there) {
            model_walk_to(model, &model->samples[i], &walk);
            for (uint32_t at = 0; at < walk.count && !is_there; at++)
                is_there = walk.frames[at] == frame;
        }
        if (is_there)
            chosen[count++] = i;
    }
    return count;
}

static void write_json(const struct traces_listing *listing, const struct table_rows *rows, struct json *json)
{
    const struct model *model = &listing->model;
    struct model_walk walk;
    bool *shown = arena_array(model->arena, bool, model->frames->table.count);
    model_walk_init(model, &walk);
    model_begin(model, json);
    table_head_write(rows, json);
    json_key_array(json, "rows");
    for (uint32_t i = rows->first; i < rows->end; i++) {
        const struct model_sample *sample = &model->samples[listing->chosen[table_row_at(rows, i)]];
        model_walk_to(model, sample, &walk);
        write_row(model, sample, &walk, shown, json);
    }
    json_array_end(json);
    json_key_array(json, "frames");
    for (uint32_t i = 0; i < model->frames->table.count; i++)
        if (shown[i])
            frames_write(model->frames, i, model->request->scratch, json);
    json_array_end(json);
    json_object_end(json);
}

bool device_memory_traces(const struct tool_request *request, struct json *json, struct err *err)
{
    struct traces_listing listing;
    const struct model *model = &listing.model;
    struct model_walk walk;
    struct table_rows rows;
    const char *asked = tool_param_text(request, "frame");
    uint32_t frame = MAP_NONE;
    if (!model_open(request, &listing.model, err) || !table_read(&rows, request, &spec, &listing, err))
        return false;
    if (asked != NULL && asked[0] != '\0' && (frame = frames_find(model->frames, asked)) == MAP_NONE)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "frame: this profile has no frame \"%.20s\"", asked);
    listing.chosen = arena_array(model->arena, uint32_t, (size_t)model->sample_count + 1);
    table_take_all(&rows, traces_choose(model, frame, listing.chosen));
    model_notes(model);
    if (table_is_format(&rows, "json")) {
        write_json(&listing, &rows, json);
        return true;
    }
    model_walk_init(model, &walk);
    for (uint32_t i = rows.first; i < rows.end; i++) {
        const struct model_sample *sample = &model->samples[listing.chosen[table_row_at(&rows, i)]];
        model_walk_to(model, sample, &walk);
        write_line(model, sample, &walk);
    }
    return true;
}
