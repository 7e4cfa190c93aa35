/* SPDX-License-Identifier: Apache-2.0
 * source.c: the view "source": what the lines of one file hold. */
#include "views/device_memory/sums.h"
#include "views/device_memory/views.h"

#include <stdlib.h>

/* The file asked for: as it is recorded, or that of a frame. */
static bool read_file(const struct model *model, struct str *file, struct err *err)
{
    const char *path = tool_param_text(model->request, "file"), *id = tool_param_text(model->request, "frame");
    if (path != NULL && path[0] != '\0') {
        *file = str_of(path);
        return true;
    }
    if (id == NULL || id[0] == '\0')
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "give frame or file");
    uint32_t frame = frames_find(model->frames, id);
    if (frame == MAP_NONE)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "frame: this profile has no frame \"%.20s\"", id);
    *file = model->frames->items[frame].file;
    return true;
}

struct line {
    uint32_t frame;
    int64_t line;
    struct str function;
};

static int by_line(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    return ORDER(a->line, b->line) ?: str_compare(a->function, b->function);
}

bool device_memory_source(const struct tool_request *request, struct json *json, struct err *err)
{
    struct model model;
    struct sums sums;
    struct str file = {NULL, 0};
    uint32_t count = 0;
    if (!model_open(request, &model, err) || !read_file(&model, &file, err))
        return false;
    if (model.frames->by != FRAMES_BY_LINE)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "by: only lines can be shown in a file");
    sums_make(&model, &sums);
    struct line *lines = arena_array(model.arena, struct line, (size_t)sums.listed_count + 1);
    for (uint32_t i = 0; i < sums.listed_count; i++) {
        const struct frame *frame = &model.frames->items[sums.listed[i]];
        if (file.length > 0 && str_equal(frame->file, file))
            lines[count++] = (struct line){sums.listed[i], frame->line, frame->function};
    }
    qsort(lines, count, sizeof(*lines), by_line);
    model_begin(&model, json);
    json_key_string(json, "file", file);
    json_key_array(json, "lines");
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(json);
        json_key_int(json, "line", lines[i].line);
        json_key_string(json, "function", lines[i].function);
        json_key_int(json, "self", sums.rows[lines[i].frame].self);
        json_key_int(json, "total", sums.rows[lines[i].frame].total);
        sums_sides_write(&model, &sums.rows[lines[i].frame], json);
        json_object_end(json);
    }
    json_array_end(json);
    return model_end(&model, json);
}
