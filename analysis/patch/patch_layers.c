/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/patch_layers.h"

#include "base/sum.h"
#include "plan/plan.h"
#include "whatif/call.h"
#include "whatif/regions.h"

#include <stdlib.h>

/* How many frames of a stack, and how many stacks, are examined; the share of saved bytes (percent) that a function has
 * to compute; the fewest sites. */
enum { STACK_MAX = 64, STACKS_TRIED = 8, SHARE_PERCENT = 60, SITES_LEAST = 3 };

/* What is saved where, by stack. */
struct saved {
    uint32_t frame_at;
    int64_t bytes;
    uint32_t region;
};

struct stacks {
    const struct patch_files *files;
    struct saved *items;
    uint32_t count;
    int64_t bytes;
};

static int by_bytes(const void *left, const void *right)
{
    const struct saved *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: ORDER(a->frame_at, b->frame_at);
}

static int by_frame(const void *left, const void *right)
{
    const struct saved *a = left, *b = right;
    return ORDER(a->frame_at, b->frame_at) ?: ORDER(a->region, b->region);
}

static uint32_t origin_of(const struct hlo *hlo, const struct plan_row *row)
{
    uint32_t at = row->made_by != HLO_NONE ? row->made_by : row->named_by;
    if (at == HLO_NONE && row->buffer_at != PLAN_NONE)
        at = hlo->buffers[row->buffer_at].instruction_at;
    return at;
}

/* Behind the last item with the frame of this one; they are sorted by that. */
static uint32_t place_end(const struct stacks *stacks, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < stacks->count && stacks->items[end].frame_at == stacks->items[first].frame_at)
        end++;
    return end;
}

/* One item for each place, of those where several layers save: a place that only one has is the loss's. Where layers
 * are not told apart it is all. */
static void repeated_keep(struct stacks *stacks)
{
    struct saved *items = stacks->items;
    bool is_any_repeated = false;
    uint32_t kept = 0;
    qsort(items, stacks->count, sizeof(*items), by_frame);
    for (uint32_t first = 0, end; first < stacks->count; first = end) {
        end = place_end(stacks, first);
        is_any_repeated |= items[first].region != items[end - 1].region;
    }
    for (uint32_t first = 0, end; first < stacks->count; first = end) {
        struct saved place = items[first];
        end = place_end(stacks, first);
        if (is_any_repeated && place.region == items[end - 1].region)
            continue;
        for (uint32_t i = first + 1; i < end; i++)
            place.bytes = sum_add(place.bytes, items[i].bytes);
        items[kept++] = place;
    }
    stacks->count = kept;
    qsort(items, kept, sizeof(*items), by_bytes);
}

static void stacks_read(const struct patch_files *files, struct stacks *out)
{
    const struct patch_asked *asked = files->asked;
    const struct regions *regions = regions_by_any(asked->start);
    *out = (struct stacks){.files = files};
    out->items = arena_array(asked->arena, struct saved, (size_t)asked->space->row_count + 1);
    for (uint32_t i = 0; i < asked->space->row_count; i++) {
        const struct plan_row *row = &asked->space->rows[i];
        uint32_t at = row->choice.category == CATEGORY_SAVED_ACTIVATION ? origin_of(files->hlo, row) : HLO_NONE;
        if (at == HLO_NONE || row->bytes <= 0)
            continue;
        uint32_t frame_at = hlo_detail(files->hlo, at).frame_at;
        if (frame_at != HLO_NONE)
            out->items[out->count++] =
                (struct saved){frame_at, row->bytes, regions->count > 1 ? regions->of[at] : HLO_NONE};
    }
    repeated_keep(out);
    for (uint32_t i = 0; i < out->count; i++)
        out->bytes = sum_add(out->bytes, out->items[i].bytes);
}

/* ---- stacks ---- */

/* Is it in the function that is jitted? */
static bool is_root(const struct patch_files *files, const struct hlo_frame *frame)
{
    return patch_function_is(frame->function, call_function(files->asked->plan));
}

/* The user's frames, innermost first, to the function that is jitted: XLA puts the stacks of calls that it inlines
 * behind one another. How many. */
static uint32_t stack_of(const struct patch_files *files, uint32_t frame_at, const struct hlo_frame *frames[STACK_MAX])
{
    const struct hlo *hlo = files->hlo;
    uint32_t count = 0, steps = 0;
    for (; frame_at != HLO_NONE && count < STACK_MAX && steps < 16 * STACK_MAX; steps++) {
        const struct hlo_frame *frame = &hlo->frames[frame_at];
        if (frame->library == LIBRARY_USER && frame->file.length > 0)
            frames[count++] = frame;
        if (is_root(files, frame))
            break;
        frame_at = frame->parent_at;
    }
    return count;
}

static bool is_same_function(const struct hlo_frame *a, const struct hlo_frame *b)
{
    return str_equal(a->function, b->function) && str_equal(a->file, b->file);
}

static bool is_most(const struct stacks *stacks, const struct hlo_frame *function)
{
    const struct hlo_frame *frames[STACK_MAX];
    int64_t bytes = 0;
    for (uint32_t i = 0; i < stacks->count; i++) {
        uint32_t count = stack_of(stacks->files, stacks->items[i].frame_at, frames), at = 0;
        arena_work(stacks->files->asked->arena, 2 * STACK_MAX);
        while (at < count && !is_same_function(frames[at], function))
            at++;
        if (at < count)
            bytes = sum_add(bytes, stacks->items[i].bytes);
    }
    return bytes / 100 >= stacks->bytes / 10000 * SHARE_PERCENT && bytes > 0;
}

/* ---- loops ---- */

static bool is_loop_call(const struct patch_file *file, uint32_t statement)
{
    static const char *const names[] = {"jax.lax.scan", "jax.lax.fori_loop", "jax.lax.while_loop",
                                        "jax.lax.map",  "haiku.scan",        NULL};
    const struct python_statement *in = &file->source.statements[statement];
    for (uint32_t at = in->first + 1; at < in->first + in->count; at++)
        if (str_is_one_of(str_of(python_names_called(&file->names, at)), names))
            return true;
    return false;
}

/* Is the line in a `for` or `while` of its function, or in a call of jax.lax.scan and the like? */
static bool is_in_block(const struct patch_file *file, const struct hlo_frame *frame, bool *is_of_loop_call)
{
    const struct python_source *source = &file->source;
    uint32_t line = patch_frame_line(frame), at = python_source_statement_of_line(source, line);
    *is_of_loop_call = at != PYTHON_NONE && is_loop_call(file, at);
    if (*is_of_loop_call)
        return true;
    while (at != PYTHON_NONE && python_source_def_name(source, at) == PYTHON_NONE) {
        uint32_t first = source->statements[at].first;
        first += python_source_is(source, first, "async");
        bool is_loop = python_source_is(source, first, "for") || python_source_is(source, first, "while");
        bool is_one_line = !python_source_is(source, first + source->statements[at].count - 1, ":");
        if (is_loop && (is_one_line || line > source->statements[at].last_line))
            return true;
        at = source->statements[at].parent;
    }
    return false;
}

/* That, or in a comprehension? */
static bool is_in_loop(const struct patch_file *file, const struct hlo_frame *frame, bool *is_of_loop_call)
{
    const struct python_source *source = &file->source;
    if (is_in_block(file, frame, is_of_loop_call))
        return true;
    uint32_t at = python_source_statement_of_line(source, patch_frame_line(frame));
    for (uint32_t i = 0; at != PYTHON_NONE && i < source->statements[at].count; i++)
        if (source->tokens[source->statements[at].first + i].depth > 0 &&
            python_source_is(source, source->statements[at].first + i, "for"))
            return true;
    return false;
}

/* In how many places of another function is it called? */
static bool is_called_often(const struct stacks *stacks, const struct hlo_frame *function,
                            const struct hlo_frame *caller)
{
    const struct hlo *hlo = stacks->files->hlo;
    int32_t lines[SITES_LEAST];
    uint32_t count = 0;
    arena_work(stacks->files->asked->arena, hlo->frame_count);
    for (uint32_t i = 0; i < hlo->frame_count && count < SITES_LEAST; i++) {
        const struct hlo_frame *frame = &hlo->frames[i];
        uint32_t outer = is_same_function(frame, function) ? frame->parent_at : HLO_NONE, k = 0;
        if (outer == HLO_NONE || !is_same_function(&hlo->frames[outer], caller))
            continue;
        while (k < count && lines[k] != hlo->frames[outer].line)
            k++;
        if (k == count)
            lines[count++] = hlo->frames[outer].line;
    }
    return count >= SITES_LEAST;
}

static bool is_comprehension(struct str function)
{
    return str_ends(function, STR("<listcomp>")) || str_ends(function, STR("<genexpr>")) ||
           str_ends(function, STR("<dictcomp>"));
}

/* A file that was changed since may have the frame's line in another function. */
static bool is_another(const struct patch_files *files, const struct hlo_frame *frame, struct patch *why)
{
    const struct patch_file *file = patch_files_find(files, frame->file);
    bool has_def = !str_ends(frame->function, STR(">")) && file != NULL && file->is_python;
    if (!has_def || patch_def_of(file, frame) != PYTHON_NONE)
        return false;
    *why = patch_refuse_frame(files, file, frame);
    return true;
}

/* Where what is saved is that of a scan itself, as its stacks are: the one function that it calls. NULL: the frame is
 * in no such call, or it calls several. */
static const struct hlo_frame *body_of(const struct patch_files *files, const struct hlo_frame *scan)
{
    const struct patch_file *file = patch_files_find(files, scan->file);
    const struct hlo_frame *found = NULL;
    bool is_of_loop_call = false;
    if (file == NULL || !file->is_python || !is_in_loop(file, scan, &is_of_loop_call) || !is_of_loop_call)
        return NULL;
    arena_work(files->asked->arena, files->hlo->frame_count);
    for (uint32_t i = 0; i < files->hlo->frame_count; i++) {
        const struct hlo_frame *frame = &files->hlo->frames[i];
        const struct hlo_frame *parent = frame->parent_at != HLO_NONE ? &files->hlo->frames[frame->parent_at] : NULL;
        if (parent == NULL || frame->library != LIBRARY_USER || is_root(files, frame) || parent->line != scan->line ||
            !is_same_function(parent, scan) || is_same_function(frame, scan))
            continue;
        if (found != NULL && !is_same_function(found, frame))
            return NULL;
        found = frame;
    }
    return found;
}

static bool layer_set(const struct patch_files *files, const struct hlo_frame *inner, const struct hlo_frame *outer,
                      bool is_of_loop_call, struct patch_layer *out, struct patch *why)
{
    const struct patch_file *own = patch_files_find(files, inner->file);
    if (own == NULL || !own->is_python) {
        *why = patch_refuse_file(files, inner->file, own);
        return false;
    }
    if (is_another(files, inner, why))
        return false;
    uint32_t def = patch_def_of(own, inner);
    if (def == PYTHON_NONE) {
        *why = patch_refuse(files, own, patch_frame_line(inner),
                            "the layer is a lambda: a decorator needs a function of its own");
        return false;
    }
    *out = (struct patch_layer){own, inner, patch_files_find(files, outer->file), outer, def, is_of_loop_call};
    return true;
}

static bool layer_of(const struct stacks *stacks, uint32_t frame_at, struct patch_layer *out, bool *is_unclear,
                     struct patch *why)
{
    const struct patch_files *files = stacks->files;
    const struct hlo_frame *frames[STACK_MAX];
    uint32_t count = stack_of(files, frame_at, frames);
    for (uint32_t i = 0; i + 1 < count; i++) {
        const struct hlo_frame *inner = frames[i], *outer = frames[i + 1];
        const struct patch_file *file = patch_files_find(files, outer->file);
        bool is_of_loop_call = false;
        if (is_another(files, inner, why) || is_another(files, outer, why))
            return false;
        if (is_same_function(inner, outer) || is_comprehension(inner->function) || !is_most(stacks, inner))
            continue;
        if (file == NULL || !file->is_python)
            continue;
        if (!is_comprehension(outer->function) && !is_in_loop(file, outer, &is_of_loop_call) &&
            !is_called_often(stacks, inner, outer))
            continue;
        const struct patch_file *own = patch_files_find(files, inner->file);
        bool is_inner_call = false;
        if (own != NULL && own->is_python && is_in_block(own, inner, &is_inner_call)) {
            *is_unclear = true; /* of two loops one is over layers, and the other may be over parts of the batch */
            *why = patch_refuse(files, own, patch_frame_line(inner),
                                "%s has a loop of its own here and is called by another one: which is over layers is "
                                "not clear",
                                patch_function_name(files, inner->function));
            return false;
        }
        return layer_set(files, inner, outer, is_of_loop_call && !str_ends(outer->function, STR(">")), out, why);
    }
    const struct hlo_frame *body = count > 0 ? body_of(files, frames[0]) : NULL;
    if (body != NULL)
        return layer_set(files, body, frames[0], true, out, why);
    for (uint32_t i = 0; i < count && !files->is_all; i++)
        if (patch_files_find(files, frames[i]->file) == NULL) {
            *why = patch_refuse_file(files, frames[i]->file, NULL);
            return false;
        }
    const struct patch_file *file = count > 0 ? patch_files_find(files, frames[0]->file) : NULL;
    *why = file != NULL && !file->is_python ? patch_refuse_file(files, frames[0]->file, file)
                                            : patch_refuse(files, file, count > 0 ? patch_frame_line(frames[0]) : 0,
                                                           "the layers are no function of their own that a loop calls");
    return false;
}

bool patch_layers_find(const struct patch_files *files, struct patch_layer *out, struct patch *why)
{
    struct stacks stacks;
    struct patch first = {.file = NULL};
    stacks_read(files, &stacks);
    *why = patch_refuse(files, NULL, 0, "no stack frame of the dump says where the saved activations are computed");
    bool is_unclear = false;
    for (uint32_t i = 0; i < stacks.count && i < STACKS_TRIED && !is_unclear; i++) {
        if (layer_of(&stacks, stacks.items[i].frame_at, out, &is_unclear, why))
            return true;
        first = i == 0 || is_unclear ? *why : first;
    }
    *why = first.reason != NULL ? first : *why;
    return false;
}
