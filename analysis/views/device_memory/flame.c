/* SPDX-License-Identifier: Apache-2.0
 * flame.c: the view "flame": stacks as a tree in columns, at most as large as
 * a page can take; below any node (at=), upside down (invert=1), or both sides of
 * one frame (pivot=). */
#include "base/intern.h"
#include "views/device_memory/tree.h"
#include "views/device_memory/views.h"

#include <stdlib.h>

enum { NODES_DEFAULT = 30000, NODES_MAX = 200000, AT_MAX = 4096 };

struct flame {
    struct model model;
    struct tree_stack *stacks;
    uint32_t stack_count;
    uint32_t *frames; /* all stacks, one after the other */
    uint16_t *folded;
    uint32_t *columns; /* of each frame: its place in the answer, plus 1 */
    uint32_t *shown;   /* frames of the answer */
    uint32_t shown_count;
};

/* The part of each stack to show. */
struct part {
    bool is_inverted;
    const uint32_t *path; /* at= */
    uint32_t path_length;
    const bool *pivots; /* of each frame; NULL without pivot= */
};

static uint16_t small(uint32_t number) { return number < UINT16_MAX ? (uint16_t)number : UINT16_MAX; }

/* The place of the outermost pivot, or the length. */
static uint32_t pivot_at(const struct part *part, const struct model_walk *walk)
{
    uint32_t at = 0;
    while (at < walk->count && !part->pivots[walk->frames[at]])
        at++;
    return at;
}

/* Puts the part of a stack to show at the end of `frames`; false if it has none. */
static bool take_part(struct flame *flame, const struct part *part, const struct model_walk *walk, size_t *length,
                      struct tree_stack *stack)
{
    uint32_t first = 0, last = walk->count; /* [first, last) in the order of calls */
    if (part->pivots != NULL) {
        uint32_t at = pivot_at(part, walk);
        if (at == walk->count)
            return false;
        first = part->is_inverted ? 0 : at;
        last = part->is_inverted ? at + 1 : walk->count;
    }
    uint32_t *frames = flame->frames + *length;
    uint16_t *folded = flame->folded + *length;
    uint32_t count = last - first;
    bool has_leaf = last == walk->count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = part->is_inverted ? last - 1 - i : first + i;
        frames[i] = walk->frames[at];
        if (part->is_inverted)
            folded[i] = small(at + 1 < walk->count ? walk->folded[at + 1] : walk->folded_below);
        else
            folded[i] = small(walk->folded[at]);
    }
    if (count < part->path_length ||
        (part->path != NULL && memcmp(frames, part->path, part->path_length * sizeof(*frames)) != 0))
        return false;
    *stack =
        (struct tree_stack){frames, folded, count, small(has_leaf && !part->is_inverted ? walk->folded_below : 0), 0};
    if (part->path_length > 0) { /* the last frame of the path stays, as the only child of the root */
        stack->frames += part->path_length - 1;
        stack->folded += part->path_length - 1;
        stack->length -= part->path_length - 1;
    }
    *length += count;
    return true;
}

static void flame_collect(struct flame *flame, const struct part *part)
{
    const struct model *model = &flame->model;
    struct model_walk walk;
    size_t length = 0;
    model_walk_init(model, &walk);
    flame->stack_count = 0;
    for (uint32_t i = 0; i < model->sample_count; i++) {
        model_walk_to(model, &model->samples[i], &walk);
        if (!take_part(flame, part, &walk, &length, &flame->stacks[flame->stack_count]))
            continue;
        flame->stacks[flame->stack_count++].sample = i;
    }
}

/* Room for all stacks: counted first, since it may be large. */
static void make_room(struct flame *flame)
{
    const struct model *model = &flame->model;
    const struct pprof *pprof = model->pprof;
    uint64_t length = 1;
    for (uint32_t i = 0; i < model->sample_count; i++) {
        const uint32_t *stack = pprof->stacks + pprof->stack_starts[model->samples[i].at];
        arena_work(model->arena, model->samples[i].depth + 1);
        length++;
        for (uint32_t at = 0; at < model->samples[i].depth; at++)
            length += model->step_starts[stack[at] + 1] - model->step_starts[stack[at]];
    }
    flame->frames = arena_raw(model->arena, length * sizeof(*flame->frames));
    flame->folded = arena_raw(model->arena, length * sizeof(*flame->folded));
    flame->stacks = arena_array(model->arena, struct tree_stack, (size_t)model->sample_count + 1);
    flame->columns = arena_array(model->arena, uint32_t, model->frames->table.count);
    flame->shown = arena_array(model->arena, uint32_t, model->frames->table.count);
}

/* ---- parameters ---- */

static bool read_path(const struct model *model, struct part *part, struct err *err)
{
    const char *text = tool_param_text(model->request, "at");
    uint32_t *path = NULL;
    if (text == NULL || text[0] == '\0')
        return true;
    path = arena_array(model->arena, uint32_t, strlen(text) / 2 + 2);
    while (*text != '\0') {
        char id[FRAMES_ID_SIZE] = "";
        size_t length = strcspn(text, ".");
        if (length < sizeof(id))
            memcpy(id, text, length);
        path[part->path_length] = frames_find(model->frames, id);
        if (part->path_length == AT_MAX || path[part->path_length++] == MAP_NONE)
            return err_set(err, ERR_notfound, ERR_NO_OFFSET, "at: this profile has no frame \"%.*s\"",
                           (int)(length < 40 ? length : 40), text);
        text += length + (text[length] == '.');
    }
    part->path = path;
    return true;
}

/* Frames whose function, file or name match. */
static bool *frames_that_match(const struct model *model, struct regex *regex)
{
    bool *matches = arena_array(model->arena, bool, model->frames->table.count);
    for (uint32_t i = 0; i < model->frames->table.count; i++) {
        const struct frame *frame = &model->frames->items[i];
        matches[i] = regex_matches(regex, frame->function) || regex_matches(regex, frame->file) ||
                     regex_matches(regex, frames_short_name(model->frames, i, model->request->scratch));
    }
    return matches;
}

static bool read_pivot(const struct model *model, struct part *part, struct err *err)
{
    const char *text = tool_param_text(model->request, "pivot");
    struct regex_fault fault;
    if (text == NULL || text[0] == '\0')
        return true;
    if (text[0] == '~') {
        struct regex *regex = regex_read(str_of(text + 1), false, model->arena, &fault);
        if (regex == NULL)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "pivot: \"%.60s\": %s", text + 1, fault.text);
        part->pivots = frames_that_match(model, regex);
        return true;
    }
    uint32_t frame = frames_find(model->frames, text);
    if (frame == MAP_NONE)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "pivot: this profile has no frame \"%.20s\"", text);
    bool *pivots = arena_array(model->arena, bool, model->frames->table.count);
    pivots[frame] = true;
    part->pivots = pivots;
    return true;
}

/* ---- output ---- */

static uint32_t column_of(struct flame *flame, uint32_t frame)
{
    if (flame->columns[frame] == 0) {
        flame->shown[flame->shown_count++] = frame;
        flame->columns[frame] = flame->shown_count;
    }
    return flame->columns[frame] - 1;
}

enum column { DEPTH, FRAME, TOTAL, SELF, COUNT, FOLDED_ABOVE, FOLDED_BELOW, BEFORE, AFTER, COLUMN_COUNT };

static int64_t value_of(struct flame *flame, const struct tree_node *node, enum column column)
{
    switch (column) {
    case DEPTH: return node->depth;
    case FRAME: return node->frame == TREE_ROOT ? -1 : (int64_t)column_of(flame, node->frame);
    case TOTAL: return node->total;
    case SELF: return node->self;
    case COUNT: return node->count;
    case FOLDED_ABOVE: return node->folded_above;
    case FOLDED_BELOW: return node->folded_below;
    case BEFORE: return node->before;
    case AFTER: return node->after;
    case COLUMN_COUNT: break;
    }
    return 0;
}

static void write_tree(struct flame *flame, const char *key, const struct tree *tree, struct json *json)
{
    static const char *const names[COLUMN_COUNT] = {"depth",        "frame",        "total",  "self", "count",
                                                    "folded_above", "folded_below", "before", "after"};
    json_key_object(json, key);
    for (int column = DEPTH; column < (flame->model.is_diff ? COLUMN_COUNT : BEFORE); column++) {
        json_key_array(json, names[column]);
        for (uint32_t i = 0; i < tree->count; i++)
            json_int(json, value_of(flame, &tree->nodes[i], (enum column)column));
        json_array_end(json);
    }
    json_object_end(json);
}

/* "files" and "frames": texts once each. */
static void write_frames(const struct flame *flame, struct json *json)
{
    static const char *const names[] = {"id", "function", "file", "line", "is_machinery"};
    const struct frames *frames = flame->model.frames;
    struct arena *arena = flame->model.arena;
    uint32_t *file_of = arena_array(arena, uint32_t, (size_t)flame->shown_count + 1);
    struct intern files;
    intern_init(&files, arena);
    for (uint32_t i = 0; i < flame->shown_count; i++) {
        struct str file = frames->items[flame->shown[i]].file;
        file_of[i] = file.length == 0 ? MAP_NONE : intern_number(&files, file);
    }
    json_key_array(json, "files");
    for (uint32_t i = 0; i < files.map.count; i++)
        json_string(json, files.items[i]);
    json_array_end(json);
    json_key_object(json, "frames");
    for (size_t column = 0; column < sizeof(names) / sizeof(names[0]); column++) {
        json_key_array(json, names[column]);
        for (uint32_t i = 0; i < flame->shown_count; i++) {
            const struct frame *frame = &frames->items[flame->shown[i]];
            char id[FRAMES_ID_SIZE];
            frames_id(frames, flame->shown[i], id);
            switch (column) {
            case 0: json_text(json, id); break;
            case 1: json_string(json, frame->function); break;
            case 2: json_int(json, file_of[i] == MAP_NONE ? -1 : (int64_t)file_of[i]); break;
            case 3: json_int(json, frame->line); break;
            default: json_int(json, frame->is_machinery);
            }
        }
        json_array_end(json);
    }
    json_object_end(json);
}

/* What the frames that a search matches add up to; each sample once. */
static void write_search(const struct flame *flame, struct json *json)
{
    const struct model *model = &flame->model;
    const char *text = tool_param_text(model->request, "search");
    struct regex_fault fault = {0, NULL};
    struct model_walk walk;
    int64_t total = 0, count = 0;
    if (!json_key_object_if(json, "search", text != NULL && text[0] != '\0'))
        return;
    struct regex *regex = regex_read(str_of(text), false, model->arena, &fault);
    bool is_literal = regex == NULL;
    const bool *matches = frames_that_match(model, is_literal ? regex_literal(str_of(text), model->arena) : regex);
    model_walk_init(model, &walk);
    for (uint32_t i = 0; i < model->sample_count; i++) {
        bool is_match = false;
        model_walk_to(model, &model->samples[i], &walk);
        for (uint32_t at = 0; at < walk.count && !is_match; at++)
            is_match = matches[walk.frames[at]];
        total = pprof_add(total, is_match ? model_value(model, &model->samples[i]) : 0);
        count = pprof_add(count, is_match ? model_count(model, &model->samples[i]) : 0);
    }
    json_key_int(json, "matched_total", total);
    json_key_int(json, "matched_count", count);
    json_key_double(json, "percent", model_percent(total, model->percent_base));
    json_key_bool(json, "is_literal", is_literal);
    json_key_known(json, "fault_at", is_literal ? (int64_t)fault.at : -1);
    json_key_text(json, "fault", is_literal ? fault.text : NULL);
    json_key_array(json, "frame");
    for (uint32_t i = 0; i < flame->shown_count; i++)
        if (matches[flame->shown[i]])
            json_uint(json, i);
    json_array_end(json);
    json_object_end(json);
}

static bool write_answer(struct flame *flame, struct part *part, uint32_t nodes_max, struct json *json)
{
    struct model *model = &flame->model;
    struct tree tree, callers = {0};
    make_room(flame);
    flame_collect(flame, part);
    tree_make(model, flame->stacks, flame->stack_count, nodes_max, &tree);
    if (part->pivots != NULL) {
        part->is_inverted = !part->is_inverted;
        flame_collect(flame, part);
        tree_make(model, flame->stacks, flame->stack_count, nodes_max, &callers);
    }
    model_begin(model, json);
    json_key_uint(json, "sample_count", model->sample_count);
    json_key_uint(json, "depth_max", tree.depth_max);
    json_key_object(json, "left_out");
    json_key_uint(json, "node_count", tree.left_out_count + callers.left_out_count);
    json_key_int(json, "below",
                 tree.left_out_below > callers.left_out_below ? tree.left_out_below : callers.left_out_below);
    json_object_end(json);
    write_tree(flame, "nodes", &tree, json);
    if (part->pivots != NULL)
        write_tree(flame, "callers", &callers, json);
    write_frames(flame, json);
    write_search(flame, json);
    return model_end(model, json);
}

bool device_memory_flame(const struct tool_request *request, struct json *json, struct err *err)
{
    struct flame *flame = arena_array(request->arena, struct flame, 1);
    struct part part = {0};
    int64_t inverts, nodes_max;
    if (!model_open(request, &flame->model, err) || !tool_param_number(request, "invert", 0, 1, 0, &inverts, err) ||
        !tool_param_number(request, "nodes", 1, NODES_MAX, NODES_DEFAULT, &nodes_max, err) ||
        !read_path(&flame->model, &part, err) || !read_pivot(&flame->model, &part, err))
        return false;
    part.is_inverted = inverts == 1;
    return write_answer(flame, &part, (uint32_t)nodes_max, json);
}
