/* SPDX-License-Identifier: Apache-2.0
 * flame.c: the view "flame": stacks as a tree in columns, at most as large as
 * a page can take; below any node (at=), upside down (invert=1), or both sides of
 * one frame (pivot=). */
#include "base/intern.h"
#include "tool/device_memory/notes.h"
#include "tool/device_memory/tree.h"
#include "tool/device_memory/views.h"

#include <stdlib.h>

enum { NODES_DEFAULT = 30000, NODES_MAX = 200000, AT_MAX = 4096 };

struct flame {
    struct study study;
    struct tree_stack *stacks;
    uint32_t stack_count;
    uint32_t *frames; /* all stacks, one after the other */
    uint16_t *folded;
    uint32_t *columns; /* of each frame: its place in the answer, plus 1 */
    uint32_t *shown;   /* frames of the answer */
    uint32_t shown_count;
};

/* Which part of each stack is wanted. */
struct part {
    bool is_inverted;
    const uint32_t *path; /* at= */
    uint32_t path_length;
    const bool *pivots; /* of each frame; NULL without pivot= */
};

static uint16_t small(uint32_t number) { return number < UINT16_MAX ? (uint16_t)number : UINT16_MAX; }

/* Where the outermost pivot stands, or the length. */
static uint32_t pivot_at(const struct part *part, const struct study_walk *walk)
{
    uint32_t at = 0;
    while (at < walk->count && !part->pivots[walk->frames[at]])
        at++;
    return at;
}

/* Puts the wanted part of a stack at the end of `frames`; false when it has none. */
static bool take_part(struct flame *flame, const struct part *part, const struct study_walk *walk, size_t *length,
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
        (part->path_length > 0 && memcmp(frames, part->path, part->path_length * sizeof(*frames)) != 0))
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

static void collect(struct flame *flame, const struct part *part)
{
    const struct study *study = &flame->study;
    struct study_walk walk;
    size_t length = 0;
    study_walk_init(study, &walk);
    flame->stack_count = 0;
    for (uint32_t i = 0; i < study->sample_count; i++) {
        study_walk_to(study, &study->samples[i], &walk);
        if (!take_part(flame, part, &walk, &length, &flame->stacks[flame->stack_count]))
            continue;
        flame->stacks[flame->stack_count++].sample = i;
    }
}

/* Room for all stacks: counted first, since it may be large. */
static void make_room(struct flame *flame)
{
    const struct study *study = &flame->study;
    const struct pprof *pprof = study->pprof;
    uint64_t length = 1;
    for (uint32_t i = 0; i < study->sample_count; i++) {
        const uint32_t *stack = pprof->stacks + pprof->stack_starts[study->samples[i].at];
        arena_work(study->arena, study->samples[i].depth + 1);
        length++;
        for (uint32_t at = 0; at < study->samples[i].depth; at++)
            length += study->step_starts[stack[at] + 1] - study->step_starts[stack[at]];
    }
    flame->frames = arena_raw(study->arena, length * sizeof(*flame->frames));
    flame->folded = arena_raw(study->arena, length * sizeof(*flame->folded));
    flame->stacks = arena_array(study->arena, struct tree_stack, (size_t)study->sample_count + 1);
    flame->columns = arena_array(study->arena, uint32_t, study->frames->table.count);
    flame->shown = arena_array(study->arena, uint32_t, study->frames->table.count);
}

/* ---- parameters ---- */

static bool read_path(const struct study *study, struct part *part, struct err *err)
{
    const char *text = tool_param_text(study->request, "at");
    uint32_t *path = NULL;
    if (text == NULL || text[0] == '\0')
        return true;
    path = arena_array(study->arena, uint32_t, strlen(text) / 2 + 2);
    while (*text != '\0') {
        char id[FRAMES_ID_SIZE] = "";
        size_t length = strcspn(text, ".");
        if (length < sizeof(id))
            memcpy(id, text, length);
        path[part->path_length] = frames_find(study->frames, id);
        if (part->path_length == AT_MAX || path[part->path_length++] == MAP_NONE)
            return err_set(err, ERR_notfound, ERR_NO_OFFSET, "at: this profile has no frame \"%.*s\"",
                           (int)(length < 40 ? length : 40), text);
        text += length + (text[length] == '.');
    }
    part->path = path;
    return true;
}

/* Frames whose function, file or name match. */
static bool *frames_that_match(const struct study *study, struct regex *regex)
{
    bool *matches = arena_array(study->arena, bool, study->frames->table.count);
    for (uint32_t i = 0; i < study->frames->table.count; i++) {
        const struct frame *frame = &study->frames->items[i];
        frames_short_name(study->frames, i, study->request->scratch);
        matches[i] = regex_matches(regex, frame->function) || regex_matches(regex, frame->file) ||
                     regex_matches(regex, (struct str){study->request->scratch->data, study->request->scratch->length});
    }
    return matches;
}

static bool read_pivot(const struct study *study, struct part *part, struct err *err)
{
    const char *text = tool_param_text(study->request, "pivot");
    struct regex_fault fault;
    if (text == NULL || text[0] == '\0')
        return true;
    if (text[0] == '~') {
        struct regex *regex = regex_read(str_of(text + 1), false, study->arena, &fault);
        if (regex == NULL)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "pivot: \"%.60s\": %s", text + 1, fault.text);
        part->pivots = frames_that_match(study, regex);
        return true;
    }
    uint32_t frame = frames_find(study->frames, text);
    if (frame == MAP_NONE)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "pivot: this profile has no frame \"%.20s\"", text);
    bool *pivots = arena_array(study->arena, bool, study->frames->table.count);
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
    json_key(json, key);
    json_object_begin(json);
    for (int column = DEPTH; column < (flame->study.is_diff ? COLUMN_COUNT : BEFORE); column++) {
        json_key(json, names[column]);
        json_array_begin(json);
        for (uint32_t i = 0; i < tree->count; i++)
            json_int(json, value_of(flame, &tree->nodes[i], (enum column)column));
        json_array_end(json);
    }
    json_object_end(json);
}

struct same_file {
    const struct frames *frames;
    const uint32_t *files;
    struct str file;
};

/* "files" and "frames": texts once each. */
static void write_frames(const struct flame *flame, struct json *json)
{
    const struct frames *frames = flame->study.frames;
    struct arena *arena = flame->study.arena;
    uint32_t *file_of = arena_array(arena, uint32_t, (size_t)flame->shown_count + 1);
    struct intern files;
    intern_init(&files, arena);
    for (uint32_t i = 0; i < flame->shown_count; i++) {
        struct str file = frames->items[flame->shown[i]].file;
        file_of[i] = file.length == 0 ? MAP_NONE : intern_number(&files, file);
    }
    json_key(json, "files");
    json_array_begin(json);
    for (uint32_t i = 0; i < files.map.count; i++)
        json_string(json, files.items[i]);
    json_array_end(json);
    json_key(json, "frames");
    json_object_begin(json);
    json_key(json, "id");
    json_array_begin(json);
    for (uint32_t i = 0; i < flame->shown_count; i++) {
        char id[FRAMES_ID_SIZE];
        frames_id(frames, flame->shown[i], id);
        json_text(json, id);
    }
    json_array_end(json);
    json_key(json, "function");
    json_array_begin(json);
    for (uint32_t i = 0; i < flame->shown_count; i++)
        json_string(json, frames->items[flame->shown[i]].function);
    json_array_end(json);
    json_key(json, "file");
    json_array_begin(json);
    for (uint32_t i = 0; i < flame->shown_count; i++)
        json_int(json, file_of[i] == MAP_NONE ? -1 : (int64_t)file_of[i]);
    json_array_end(json);
    json_key(json, "line");
    json_array_begin(json);
    for (uint32_t i = 0; i < flame->shown_count; i++)
        json_int(json, frames->items[flame->shown[i]].line);
    json_array_end(json);
    json_key(json, "is_machinery");
    json_array_begin(json);
    for (uint32_t i = 0; i < flame->shown_count; i++)
        json_int(json, frames->items[flame->shown[i]].is_machinery);
    json_array_end(json);
    json_object_end(json);
}

/* What the frames that a search matches add up to; each sample once. */
static void write_search(const struct flame *flame, struct json *json)
{
    const struct study *study = &flame->study;
    const char *text = tool_param_text(study->request, "search");
    struct regex_fault fault = {0, NULL};
    struct study_walk walk;
    int64_t total = 0, count = 0;
    json_key(json, "search");
    if (text == NULL || text[0] == '\0') {
        json_null(json);
        return;
    }
    struct regex *regex = regex_read(str_of(text), false, study->arena, &fault);
    bool is_literal = regex == NULL;
    const bool *matches = frames_that_match(study, is_literal ? regex_literal(str_of(text), study->arena) : regex);
    study_walk_init(study, &walk);
    for (uint32_t i = 0; i < study->sample_count; i++) {
        bool is_match = false;
        study_walk_to(study, &study->samples[i], &walk);
        for (uint32_t at = 0; at < walk.count && !is_match; at++)
            is_match = matches[walk.frames[at]];
        total = pprof_add(total, is_match ? study_value(study, &study->samples[i]) : 0);
        count = pprof_add(count, is_match ? study_count(study, &study->samples[i]) : 0);
    }
    json_object_begin(json);
    json_key_int(json, "matched_total", total);
    json_key_int(json, "matched_count", count);
    json_key(json, "percent");
    json_double(json, study_percent(total, study->percent_base));
    json_key_bool(json, "is_literal", is_literal);
    json_key_known(json, "fault_at", is_literal ? (int64_t)fault.at : -1);
    json_key_text(json, "fault", is_literal ? fault.text : NULL);
    json_key(json, "frame");
    json_array_begin(json);
    for (uint32_t i = 0; i < flame->shown_count; i++)
        if (matches[flame->shown[i]])
            json_uint(json, i);
    json_array_end(json);
    json_object_end(json);
}

static void write_answer(struct flame *flame, struct part *part, uint32_t nodes_max, struct json *json)
{
    struct study *study = &flame->study;
    struct tree tree, callers = {0};
    make_room(flame);
    collect(flame, part);
    tree_make(study, flame->stacks, flame->stack_count, nodes_max, &tree);
    if (part->pivots != NULL) {
        part->is_inverted = !part->is_inverted;
        collect(flame, part);
        tree_make(study, flame->stacks, flame->stack_count, nodes_max, &callers);
    }
    json_object_begin(json);
    study_write(study, json);
    json_key_uint(json, "sample_count", study->sample_count);
    json_key_uint(json, "depth_most", tree.depth_max);
    json_key(json, "left_out");
    json_object_begin(json);
    json_key_uint(json, "node_count", tree.left_out_count + callers.left_out_count);
    json_key_int(json, "below",
                 tree.left_out_below > callers.left_out_below ? tree.left_out_below : callers.left_out_below);
    json_object_end(json);
    write_tree(flame, "nodes", &tree, json);
    if (part->pivots != NULL)
        write_tree(flame, "callers", &callers, json);
    write_frames(flame, json);
    write_search(flame, json);
    json_object_end(json);
}

bool device_memory_flame(const struct tool_request *request, struct json *json, struct err *err)
{
    struct flame *flame = arena_array(request->arena, struct flame, 1);
    struct part part = {0};
    int64_t inverts, nodes_max;
    if (!study_open(request, &flame->study, err) || !tool_param_number(request, "invert", 0, 1, 0, &inverts, err) ||
        !tool_param_number(request, "nodes", 1, NODES_MAX, NODES_DEFAULT, &nodes_max, err) ||
        !read_path(&flame->study, &part, err) || !read_pivot(&flame->study, &part, err))
        return false;
    part.is_inverted = inverts == 1;
    write_answer(flame, &part, (uint32_t)nodes_max, json);
    device_memory_notes_add(&flame->study);
    return true;
}
