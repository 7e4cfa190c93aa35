/* SPDX-License-Identifier: Apache-2.0
 * changes.c: see changes.h. */
#include "views/device_memory/changes.h"

#include "base/select.h"

#include <stdlib.h>

/* The separator of the frames of a stack. */
#define STEP " \xE2\x80\xBA "

const char *changes_state_name(enum changes_state state)
{
    static const char *const names[] = {"new", "gone", "grown", "shrunk", "same"};
    return names[state];
}

int64_t changes_of(const struct changes_row *row) { return pprof_add(row->after, pprof_negated(row->before)); }

/* ---- rows ---- */

struct same_row {
    const struct changes_rows *rows;
    struct changes_row row;
    struct arena *arena;
};

static bool is_row(const void *context, uint64_t at)
{
    const struct same_row *same = context;
    const struct changes_row *known = &same->rows->items[at], *row = &same->row;
    arena_work(same->arena, row->frame_count);
    return known->site == row->site && known->kind == row->kind && known->frame_count == row->frame_count &&
           (row->frame_count == 0 || memcmp(known->frames, row->frames, row->frame_count * sizeof(*row->frames)) == 0);
}

/* The row that is like this one, new or known. */
static uint32_t row_number(struct changes_rows *rows, const struct changes_row *like, struct arena *arena)
{
    struct same_row same = {rows, *like, arena};
    uint64_t hash = hash_number((uint64_t)like->site << 32 | like->kind, 0);
    bool is_new;
    if (like->frame_count > 0)
        hash = hash_bytes(like->frames, like->frame_count * sizeof(*like->frames), hash);
    uint32_t at = map_number(&rows->table, hash, is_row, &same, &is_new);
    if (!is_new)
        return at;
    rows->items = arena_grown(arena, rows->items, (size_t)at + 1, &rows->capacity, sizeof(*rows->items));
    rows->items[at] = *like;
    rows->count = at + 1;
    if (like->frame_count > 0) {
        uint32_t *frames = arena_array(arena, uint32_t, like->frame_count);
        memcpy(frames, like->frames, like->frame_count * sizeof(*frames));
        rows->items[at].frames = frames;
    }
    return at;
}

static void changes_add(struct changes_row *row, int64_t value, int64_t count, bool is_base)
{
    int64_t *sum = is_base ? &row->before : &row->after, *things = is_base ? &row->before_count : &row->after_count;
    *sum = pprof_add(*sum, value);
    *things = pprof_add(*things, count);
}

/* Where neither side has a size, the things are counted. */
static enum changes_state state_of(const struct changes_row *row)
{
    bool is_sized = row->before != 0 || row->after != 0;
    int64_t before = is_sized ? row->before : row->before_count, after = is_sized ? row->after : row->after_count;
    const char *name = sums_change(before, after);
    for (int i = 0; i < CHANGES_STATE_COUNT; i++)
        if (strcmp(name, changes_state_name((enum changes_state)i)) == 0)
            return (enum changes_state)i;
    return CHANGES_SAME;
}

static void states_set(struct changes_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        rows->items[i].state = (uint8_t)state_of(&rows->items[i]);
        rows->counts[rows->items[i].state]++;
    }
}

/* ---- the order of the sites ---- */

struct changes_ranked {
    uint32_t at;
    int64_t size, larger;
};

static int by_change(const void *left, const void *right)
{
    const struct changes_ranked *a = left, *b = right;
    return ORDER(b->size, a->size) ?: ORDER(b->larger, a->larger) ?: ORDER(a->at, b->at);
}

static void rank(struct changes *changes)
{
    const struct changes_rows *rows = &changes->of_sites;
    struct arena *arena = changes->model.arena;
    struct changes_ranked *ranked = arena_array(arena, struct changes_ranked, (size_t)rows->count + 1);
    changes->ranked = arena_array(arena, uint32_t, (size_t)rows->count + 1);
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct changes_row *row = &rows->items[i];
        ranked[i] = (struct changes_ranked){i, pprof_size(changes_of(row)),
                                            row->after > row->before ? row->after : row->before};
    }
    arena_work(arena, select_work(rows->count));
    qsort(ranked, rows->count, sizeof(*ranked), by_change);
    for (uint32_t i = 0; i < rows->count; i++)
        changes->ranked[i] = ranked[i].at;
}

/* ---- samples ---- */

static uint32_t kind_number(struct changes *changes, const struct model_sample *sample)
{
    const struct model *model = &changes->model;
    struct str kind =
        chips_label_text(model->pprof, model->pprof->label_sets[sample->at], "kind", model->request->scratch);
    uint32_t at = intern_number(&changes->kind_names, kind);
    changes->kinds =
        arena_grown(model->arena, changes->kinds, (size_t)at + 1, &changes->kind_capacity, sizeof(*changes->kinds));
    changes->kinds[at].name = changes->kind_names.items[at];
    return at;
}

/* A sample of the base has its values with the sign turned. */
static void sample_add(struct changes *changes, const struct model_sample *sample, struct model_walk *walk)
{
    const struct model *model = &changes->model;
    bool is_base = model_is_base(model, sample);
    int64_t value = model_value(model, sample), count = model_count(model, sample);
    if (is_base) {
        value = pprof_negated(value);
        count = model->counting == PPROF_NONE ? count : pprof_negated(count);
    }
    model_walk_to(model, sample, walk);
    struct changes_row row = {.site = sums_site_of(&changes->sites, model, walk)};
    row.kind = kind_number(changes, sample);
    row.group = row_number(&changes->of_sites, &row, model->arena);
    changes->of_sites.items[row.group].group = row.group;
    changes_add(&changes->of_sites.items[row.group], value, count, is_base);
    row.frames = walk->frames;
    row.frame_count = walk->count;
    uint32_t known_count = changes->of_stacks.count, stack = row_number(&changes->of_stacks, &row, model->arena);
    changes->of_stacks.items[stack].stack_count = 1;
    changes->of_sites.items[row.group].stack_count += changes->of_stacks.count - known_count;
    changes_add(&changes->of_stacks.items[stack], value, count, is_base);
    struct changes_kind *kind = &changes->kinds[row.kind];
    int64_t *sum = is_base ? &kind->before : &kind->after, *things = is_base ? &kind->before_count : &kind->after_count;
    *sum = pprof_add(*sum, value);
    *things = pprof_add(*things, count);
    sum = is_base ? &changes->before : &changes->after;
    *sum = pprof_add(*sum, value);
}

bool changes_make(const struct tool_request *request, struct changes *changes, struct err *err)
{
    struct model_walk walk;
    *changes = (struct changes){0};
    if (!model_open(request, &changes->model, err))
        return false;
    struct arena *arena = changes->model.arena;
    sums_sites_init(&changes->sites, arena);
    intern_init(&changes->kind_names, arena);
    map_init(&changes->of_sites.table, arena, 0);
    map_init(&changes->of_stacks.table, arena, 0);
    model_walk_init(&changes->model, &walk);
    for (uint32_t i = 0; i < changes->model.sample_count; i++)
        sample_add(changes, &changes->model.samples[i], &walk);
    states_set(&changes->of_sites);
    states_set(&changes->of_stacks);
    rank(changes);
    return true;
}

/* ---- names ---- */

static struct str changes_held(const struct buf *buf) { return (struct str){buf->data, buf->length}; }

void changes_add_site_name(const struct changes *changes, const struct changes_row *row, struct buf *out)
{
    const struct sites_key *site = &changes->sites.keys[row->site];
    frames_add_short_name(changes->model.frames, site->frame, out);
    if (site->callee.length > 0) {
        buf_text(out, STEP);
        buf_add(out, site->callee.data, site->callee.length);
    }
}

struct str changes_site_name(const struct changes *changes, const struct changes_row *row)
{
    struct buf *scratch = changes->model.request->scratch;
    scratch->length = 0;
    changes_add_site_name(changes, row, scratch);
    return changes_held(scratch);
}

struct str changes_stack_name(const struct changes *changes, const struct changes_row *row, uint32_t frames_max)
{
    const struct model *model = &changes->model;
    struct buf *scratch = model->request->scratch;
    uint32_t first = row->frame_count > frames_max ? row->frame_count - frames_max : 0;
    scratch->length = 0;
    if (first > 0)
        buf_text(scratch, "\xE2\x80\xA6");
    for (uint32_t i = first; i < row->frame_count; i++) {
        if (scratch->length > 0)
            buf_text(scratch, STEP);
        frames_add_short_name(model->frames, row->frames[i], scratch);
    }
    return changes_held(scratch);
}

uint32_t changes_parts(const struct changes *changes, struct changes_part parts[CHANGES_PARTS_MAX])
{
    const struct changes_rows *rows = &changes->of_sites;
    struct changes_part rest = {NULL, 0, 0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct changes_row *row = &rows->items[changes->ranked[i]];
        int64_t change = changes_of(row);
        if (change == 0)
            continue;
        if (count < CHANGES_PARTS_MAX - 1) {
            parts[count++] = (struct changes_part){row, 1, change};
        } else {
            rest.row_count++;
            rest.change = pprof_add(rest.change, change);
        }
    }
    if (rest.row_count > 0)
        parts[count++] = rest;
    return count;
}
