/* SPDX-License-Identifier: Apache-2.0
 * callers.c: the view "callers": a frame, those that call it and those that it calls. */
#include "views/device_memory/edges.h"
#include "views/device_memory/frames_write.h"
#include "views/device_memory/views.h"

#include <stdlib.h>

enum { NODES_MAX = 50 };

/* The frames asked for: by id, or those whose function, file or name match. */
static bool *frames_asked(const struct model *model, struct err *err)
{
    const char *id = tool_param_text(model->request, "frame"), *match = tool_param_text(model->request, "match");
    bool *asked = arena_array(model->arena, bool, model->frames->table.count);
    struct regex_fault fault;
    if (id != NULL && id[0] != '\0') {
        uint32_t frame = frames_find(model->frames, id);
        if (frame == MAP_NONE) {
            err_set(err, ERR_notfound, ERR_NO_OFFSET, "frame: this profile has no frame \"%.20s\"", id);
            return NULL;
        }
        asked[frame] = true;
        return asked;
    }
    if (match == NULL || match[0] == '\0') {
        err_set(err, ERR_argument, ERR_NO_OFFSET, "give frame or match");
        return NULL;
    }
    struct regex *regex = regex_read(str_of(match), false, model->arena, &fault);
    if (regex == NULL) {
        err_set(err, ERR_argument, ERR_NO_OFFSET, "match: \"%.60s\": %s", match, fault.text);
        return NULL;
    }
    for (uint32_t i = FRAMES_SPECIAL_COUNT; i < model->frames->table.count; i++)
        asked[i] = regex_matches(regex, frames_full_name(model->frames, i, model->request->scratch));
    return asked;
}

/* ---- output ---- */

struct listed {
    uint32_t frame;
    int64_t value;
};

static int heavier_first(const void *left, const void *right)
{
    const struct listed *a = left, *b = right;
    return ORDER(pprof_size(b->value), pprof_size(a->value)) ?: ORDER(a->frame, b->frame);
}

static void write_side(const struct edges *edges, uint32_t frame, bool is_callers, struct listed *room,
                       struct json *json)
{
    const struct model *model = edges->model;
    uint32_t count = 0;
    for (uint32_t i = 0; i < edges->table.count; i++) {
        const struct edges_edge *edge = &edges->items[i];
        if ((is_callers ? edge->to : edge->from) == frame)
            room[count++] = (struct listed){is_callers ? edge->from : edge->to, edge->value};
    }
    qsort(room, count, sizeof(*room), heavier_first);
    json_key_array(json, is_callers ? "callers" : "callees");
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(json);
        json_key(json, "frame");
        frames_write(model->frames, room[i].frame, model->request->scratch, json);
        json_key_int(json, "value", room[i].value);
        json_key_double(json, "percent", model_percent(room[i].value, edges->nodes[frame].total));
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_node(const struct edges *edges, uint32_t frame, struct listed *room, struct json *json)
{
    const struct model *model = edges->model;
    const struct edges_node *node = &edges->nodes[frame];
    json_object_begin(json);
    json_key(json, "frame");
    frames_write(model->frames, frame, model->request->scratch, json);
    json_key_int(json, "self", node->self);
    json_key_int(json, "total", node->total);
    json_key_double(json, "self_percent", model_percent(node->self, model->percent_base));
    json_key_double(json, "total_percent", model_percent(node->total, model->percent_base));
    json_key_int(json, "count", node->count);
    write_side(edges, frame, true, room, json);
    write_side(edges, frame, false, room, json);
    json_object_end(json);
}

bool device_memory_callers(const struct tool_request *request, struct json *json, struct err *err)
{
    struct model model;
    struct edges edges;
    uint32_t count = 0;
    if (!model_open(request, &model, err))
        return false;
    const bool *asked = frames_asked(&model, err);
    if (asked == NULL)
        return false;
    edges_make(&model, NULL, asked, &edges);
    struct listed *found = arena_array(model.arena, struct listed, model.frames->table.count);
    struct listed *room = arena_array(model.arena, struct listed, (size_t)edges.table.count + 1);
    for (uint32_t i = 0; i < model.frames->table.count; i++)
        if (asked[i] && edges.nodes[i].seen > 0)
            found[count++] = (struct listed){i, edges.nodes[i].total};
    qsort(found, count, sizeof(*found), heavier_first);
    model_begin(&model, json);
    json_key_uint(json, "matched_count", count);
    json_key_array(json, "nodes");
    for (uint32_t i = 0; i < count && i < NODES_MAX; i++) {
        arena_work(model.arena, edges.table.count);
        write_node(&edges, found[i].frame, room, json);
    }
    json_array_end(json);
    return model_end(&model, json);
}
