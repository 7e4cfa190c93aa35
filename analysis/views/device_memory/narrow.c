/* SPDX-License-Identifier: Apache-2.0
 * narrow.c: see narrow.h. As in pprof a filter looks at each location by itself,
 * at the names and files of its lines and at the file of its mapping. */
#include "views/device_memory/narrow.h"

#include "read/library.h"

#include <assert.h>

/* What the chips say of a location. */
enum { IS_FOCUSED = 1, IS_IGNORED = 2, IS_HIDDEN = 4, SHOWS_FROM = 8 };

struct narrowing {
    struct model *model;
    const struct pprof *pprof;
    bool *matches;          /* of the chip at hand, for each function */
    bool *mapping_matches;  /* and each mapping */
    uint32_t *focus_counts; /* how many focus chips each location meets; samples need all */
    unsigned char *flags;   /* of each location */
    bool *hidden_lines;     /* NULL: none */
    uint32_t focus_count;
    bool has_frame_filter, has_show, has_show_from;
    bool *shown_lines; /* by any show chip */
};

static void match_functions(struct narrowing *narrowing, struct chip *chip)
{
    const struct pprof *pprof = narrowing->pprof;
    for (uint32_t i = 0; i < pprof->function_count; i++)
        narrowing->matches[i] = chips_match_function(chip, &pprof->functions[i]);
    for (uint32_t i = 0; i < pprof->mapping_count; i++)
        narrowing->mapping_matches[i] =
            pprof->mappings[i].file.length > 0 && regex_matches(chip->regex, pprof->mappings[i].file);
}

static bool line_matches(const struct narrowing *narrowing, uint32_t line)
{
    uint32_t function = narrowing->pprof->lines[line].function;
    return function != PPROF_NONE && narrowing->matches[function];
}

static bool mapping_matches(const struct narrowing *narrowing, const struct pprof_location *location)
{
    return location->mapping != PPROF_NONE && narrowing->mapping_matches[location->mapping];
}

static bool location_matches(const struct narrowing *narrowing, const struct pprof_location *location)
{
    bool is_match = mapping_matches(narrowing, location);
    for (uint32_t i = 0; i < location->line_count && !is_match; i++)
        is_match = line_matches(narrowing, location->first_line + i);
    return is_match;
}

static bool hide_in(struct narrowing *narrowing, const struct pprof_location *location, unsigned char *flags)
{
    bool is_match = mapping_matches(narrowing, location), is_all = true;
    for (uint32_t i = location->first_line; i < location->first_line + location->line_count; i++) {
        if (is_match || line_matches(narrowing, i))
            narrowing->hidden_lines[i] = true;
        is_all &= narrowing->hidden_lines[i];
    }
    if (is_all && (is_match || location->line_count > 0))
        *flags |= IS_HIDDEN;
    return location_matches(narrowing, location);
}

static bool show_in(struct narrowing *narrowing, const struct pprof_location *location)
{
    bool is_match = mapping_matches(narrowing, location), is_any = is_match;
    for (uint32_t i = location->first_line; i < location->first_line + location->line_count; i++) {
        bool is_shown = is_match || line_matches(narrowing, i);
        narrowing->shown_lines[i] |= is_shown;
        is_any |= is_shown;
    }
    return is_any;
}

/* Callers above the outermost match go; those inlined beside it too. */
static bool show_from_in(struct narrowing *narrowing, const struct pprof_location *location, unsigned char *flags)
{
    bool is_match = mapping_matches(narrowing, location);
    for (uint32_t i = location->first_line + location->line_count; i-- > location->first_line && !is_match;) {
        is_match = !narrowing->hidden_lines[i] && line_matches(narrowing, i);
        for (uint32_t outer = i + 1; is_match && outer < location->first_line + location->line_count; outer++)
            narrowing->hidden_lines[outer] = true;
    }
    if (is_match && !(*flags & IS_HIDDEN))
        *flags |= SHOWS_FROM;
    return is_match;
}

static void apply_chip(struct narrowing *narrowing, struct chip *chip)
{
    const struct pprof *pprof = narrowing->pprof;
    match_functions(narrowing, chip);
    for (uint32_t i = 0; i < pprof->location_count; i++) {
        const struct pprof_location *location = &pprof->locations[i];
        unsigned char *flags = &narrowing->flags[i];
        bool is_match = false;
        switch (chip->kind) {
        case CHIP_FOCUS:
            is_match = location_matches(narrowing, location);
            narrowing->focus_counts[i] |= is_match ? UINT32_C(1) << (narrowing->focus_count & 31) : 0;
            break;
        case CHIP_IGNORE:
            is_match = location_matches(narrowing, location);
            *flags |= is_match ? IS_IGNORED : 0;
            break;
        case CHIP_HIDE: is_match = hide_in(narrowing, location, flags); break;
        case CHIP_SHOW: is_match = show_in(narrowing, location); break;
        case CHIP_SHOW_FROM: is_match = show_from_in(narrowing, location, flags); break;
        default: break;
        }
        chip->matched_count += is_match;
    }
    narrowing->focus_count += chip->kind == CHIP_FOCUS;
    narrowing->has_show |= chip->kind == CHIP_SHOW;
    narrowing->has_show_from |= chip->kind == CHIP_SHOW_FROM;
    narrowing->has_frame_filter |= chip->kind < CHIP_SHOW_FROM;
}

/* Only what a show chip names stays. A line without a function stays too, as in pprof. */
static void apply_shown(struct narrowing *narrowing)
{
    const struct pprof *pprof = narrowing->pprof;
    for (uint32_t i = 0; i < pprof->location_count; i++) {
        const struct pprof_location *location = &pprof->locations[i];
        bool is_any = false;
        for (uint32_t line = location->first_line; line < location->first_line + location->line_count; line++) {
            narrowing->hidden_lines[line] |= !narrowing->shown_lines[line];
            is_any |= !narrowing->hidden_lines[line];
        }
        if (!is_any)
            narrowing->flags[i] |= IS_HIDDEN;
    }
}

static void apply_chips(struct narrowing *narrowing)
{
    static const enum chip_kind order[] = {CHIP_FOCUS, CHIP_IGNORE, CHIP_HIDE, CHIP_SHOW, CHIP_SHOW_FROM};
    struct chips *chips = &narrowing->model->chips;
    for (size_t kind = 0; kind < sizeof(order) / sizeof(order[0]); kind++) {
        for (uint32_t i = 0; i < chips->count; i++)
            if (chips->items[i].kind == order[kind])
                apply_chip(narrowing, &chips->items[i]);
        if (order[kind] == CHIP_SHOW && narrowing->has_show)
            apply_shown(narrowing);
    }
}

/* ---- samples ---- */

/* Does the stack meet every focus and no ignore? */
static bool is_focused(const struct narrowing *narrowing, const uint32_t *stack, uint32_t depth)
{
    uint32_t wanted = narrowing->focus_count >= 32 ? UINT32_MAX : (UINT32_C(1) << narrowing->focus_count) - 1, met = 0;
    bool has_visible = false;
    for (uint32_t i = 0; i < depth; i++) {
        if (narrowing->flags[stack[i]] & IS_IGNORED)
            return false;
        met |= narrowing->focus_counts[stack[i]];
        has_visible |= !(narrowing->flags[stack[i]] & IS_HIDDEN);
    }
    return has_visible && (met & wanted) == wanted;
}

/* How much of a stack stays, counted from the leaf; 0 with `is_kept` false when the sample goes. */
static uint32_t depth_kept(const struct narrowing *narrowing, const uint32_t *stack, uint32_t depth, bool *is_kept)
{
    *is_kept = !narrowing->has_frame_filter || is_focused(narrowing, stack, depth);
    if (!*is_kept || !narrowing->has_show_from)
        return depth;
    while (depth > 0 && !(narrowing->flags[stack[depth - 1]] & SHOWS_FROM))
        depth--;
    *is_kept = depth > 0;
    return depth;
}

static void keep_samples(struct narrowing *narrowing, const bool *keep)
{
    struct model *model = narrowing->model;
    const struct pprof *pprof = narrowing->pprof;
    bool has_filter = narrowing->has_frame_filter || narrowing->has_show_from;
    model->samples = arena_array(model->arena, struct model_sample, (size_t)pprof->sample_count + 1);
    for (uint32_t i = 0; i < pprof->sample_count; i++) {
        uint32_t depth = pprof->stack_starts[i + 1] - pprof->stack_starts[i];
        bool is_kept = keep == NULL || keep[pprof->label_sets[i]];
        if (is_kept && has_filter) {
            arena_work(model->arena, depth);
            depth = depth_kept(narrowing, pprof->stacks + pprof->stack_starts[i], depth, &is_kept);
        }
        if (is_kept)
            model->samples[model->sample_count++] = (struct model_sample){i, depth};
    }
}

/* ---- steps ---- */

/* Functions through which JAX and PyTorch pass every call: their names say nothing of what was called. */
static bool is_wrapper(struct str function)
{
    static const char *const names[] = {"__call__",
                                        "wrapper",
                                        "wrapped",
                                        "wrapper_fun",
                                        "wrapped_fun",
                                        "inner",
                                        "call",
                                        "reraise_with_filtered_traceback",
                                        "cache_miss",
                                        "aot_cache_miss",
                                        "_run_python_pjit",
                                        "_python_pjit_helper",
                                        "_pjit_call_impl",
                                        "_pjit_call_impl_python",
                                        "_call_impl",
                                        "_wrapped_call_impl",
                                        "decorate_context",
                                        "_use_grad"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_equal(function, str_of(names[i])))
            return true;
    return false;
}

/* Of PyTorch's own frames the operator that was called says most: the others are ways to it. */
static bool is_operator(struct str function) { return str_starts(function, STR("at::_ops::")); }

/* Functions of frames that are no Python, in a profile of both. */
static void mark_native(const struct pprof *pprof, struct model *model, bool *is_machinery)
{
    for (uint32_t i = 0; i < pprof->location_count; i++) {
        const struct pprof_location *location = &pprof->locations[i];
        if (location->mapping == PPROF_NONE ||
            !str_equal(pprof->mappings[location->mapping].file, STR(LIBRARY_NATIVE_MAPPING)))
            continue;
        for (uint32_t line = location->first_line; line < location->first_line + location->line_count; line++) {
            uint32_t function = pprof->lines[line].function;
            is_machinery[function] = true;
            model->is_wrapper[function] = !is_operator(pprof->functions[function].name);
        }
    }
}

static void make_steps(struct narrowing *narrowing)
{
    struct model *model = narrowing->model;
    const struct pprof *pprof = narrowing->pprof;
    bool *is_machinery = arena_array(model->arena, bool, (size_t)pprof->function_count + 1);
    size_t room = (size_t)pprof->line_count + pprof->location_count + 1;
    uint32_t count = 0, max = 1;
    model->steps = arena_array(model->arena, uint32_t, room);
    model->step_lines = arena_array(model->arena, uint32_t, room);
    model->step_starts = arena_array(model->arena, uint32_t, (size_t)pprof->location_count + 1);
    model->is_wrapper = arena_array(model->arena, bool, (size_t)pprof->function_count + 1);
    for (uint32_t i = 0; i < pprof->function_count; i++) {
        arena_work(model->arena, pprof->functions[i].file.length);
        is_machinery[i] = library_of(pprof->functions[i].file, (struct str){"", 0}) == LIBRARY_MACHINERY;
        model->is_wrapper[i] = is_machinery[i] && is_wrapper(pprof->functions[i].name);
    }
    mark_native(pprof, model, is_machinery);
    for (uint32_t i = 0; i < pprof->location_count; i++) {
        const struct pprof_location *location = &pprof->locations[i];
        bool is_hidden = narrowing->flags != NULL && (narrowing->flags[i] & IS_HIDDEN);
        model->step_starts[i] = count;
        if (location->line_count == 0 && !is_hidden) {
            model->step_lines[count] = PPROF_NONE;
            model->steps[count++] = frames_of(model->frames, NULL, 0, false);
        }
        for (uint32_t line = location->first_line + location->line_count;
             line-- > location->first_line && !is_hidden;) {
            uint32_t function = pprof->lines[line].function;
            if (narrowing->hidden_lines != NULL && narrowing->hidden_lines[line])
                continue;
            uint32_t frame =
                frames_of(model->frames, &pprof->functions[function], pprof->lines[line].line, is_machinery[function]);
            model->step_lines[count] = line;
            model->steps[count++] = frame | (is_machinery[function] ? MODEL_MACHINERY : 0);
            if (model->drops_inlined)
                break; /* the outermost that the filters left, as in pprof */
        }
        max = count - model->step_starts[i] > max ? count - model->step_starts[i] : max;
    }
    assert(count < room);
    model->step_starts[pprof->location_count] = count;
    model->depth_max = max == 1 ? pprof->depth_max + 1 : PPROF_NONE;
}

/* The longest stack in steps: what a walk must hold. */
static void find_depth(struct model *model)
{
    const struct pprof *pprof = model->pprof;
    if (model->depth_max != PPROF_NONE)
        return; /* one step a location at most */
    uint64_t max = 0;
    for (uint32_t i = 0; i < model->sample_count; i++) {
        const uint32_t *stack = pprof->stacks + pprof->stack_starts[model->samples[i].at];
        uint64_t depth = 0;
        arena_work(model->arena, model->samples[i].depth);
        for (uint32_t at = 0; at < model->samples[i].depth; at++)
            depth += model->step_starts[stack[at] + 1] - model->step_starts[stack[at]];
        max = depth > max ? depth : max;
    }
    if (max >= PPROF_NONE) {
        err_set(model->arena->err, ERR_limit, ERR_NO_OFFSET, "a stack of more than four thousand million frames");
        arena_give_up(model->arena);
    }
    model->depth_max = (uint32_t)max + 1;
}

void narrow(struct model *model, const bool *keep)
{
    const struct pprof *pprof = model->pprof;
    struct narrowing narrowing = {.model = model, .pprof = pprof};
    bool has_frame_chip = false;
    for (uint32_t i = 0; i < model->chips.count; i++)
        has_frame_chip |= model->chips.items[i].kind < CHIP_TAG;
    if (has_frame_chip) {
        narrowing.matches = arena_array(model->arena, bool, (size_t)pprof->function_count + 1);
        narrowing.mapping_matches = arena_array(model->arena, bool, (size_t)pprof->mapping_count + 1);
        narrowing.focus_counts = arena_array(model->arena, uint32_t, (size_t)pprof->location_count + 1);
        narrowing.flags = arena_array(model->arena, unsigned char, (size_t)pprof->location_count + 1);
        narrowing.hidden_lines = arena_array(model->arena, bool, (size_t)pprof->line_count + 1);
        narrowing.shown_lines = arena_array(model->arena, bool, (size_t)pprof->line_count + 1);
        apply_chips(&narrowing);
    }
    keep_samples(&narrowing, keep);
    make_steps(&narrowing);
    find_depth(model);
}

/* ---- what the profile itself asks to be left out ---- */

/* What happens to a location. */
enum { STAYS, ENDS_INSIDE, GOES };

/* ^(expression)$; NULL when it is broken. */
static struct regex *read_whole(struct str expression, struct arena *arena)
{
    struct regex_fault fault;
    const char *text = arena_format(arena, "^(?:%.*s)$", (int)expression.length, expression.data);
    return regex_read(str_of(text), false, arena, &fault);
}

/* The name of a function without its parameters. */
static struct str bare_name(struct str name)
{
    static const struct str kept[] = {STR_INIT("(anonymous namespace)"), STR_INIT("operator()")};
    if (name.length > 0 && name.data[0] == '.')
        name = (struct str){name.data + 1, name.length - 1};
    for (size_t at = 0; at < name.length; at++) {
        size_t skipped = 0;
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
            if (str_starts((struct str){name.data + at, name.length - at}, kept[i]))
                skipped = kept[i].length;
        if (skipped > 0)
            at += skipped - 1;
        else if (name.data[at] == '(')
            name.length = at;
    }
    return name;
}

static bool *find_dropped(const struct pprof *pprof, struct regex *drop, struct regex *keep, struct arena *arena)
{
    bool *is_dropped = arena_array(arena, bool, (size_t)pprof->function_count + 1);
    for (uint32_t i = 0; i < pprof->function_count; i++) {
        struct str name = bare_name(pprof->functions[i].name);
        is_dropped[i] = pprof->functions[i].name.length > 0 && regex_matches(drop, name) &&
                        (keep == NULL || !regex_matches(keep, name));
    }
    return is_dropped;
}

/* Lines are innermost first: those up to the outermost dropped one are removed. */
static unsigned char cut_lines(const struct pprof *pprof, const bool *is_dropped, struct pprof_location *location)
{
    uint32_t at = location->line_count;
    while (at > 0) {
        uint32_t function = pprof->lines[location->first_line + at - 1].function;
        if (function != PPROF_NONE && is_dropped[function])
            break;
        at--;
    }
    if (at == 0)
        return STAYS;
    if (at == location->line_count)
        return GOES;
    location->first_line += at;
    location->line_count -= at;
    return ENDS_INSIDE;
}

/* How many locations at the leaf of a stack go. */
static uint32_t count_gone(const unsigned char *fates, const uint32_t *stack, uint32_t depth)
{
    bool has_stayed = false;
    for (uint32_t i = depth; i-- > 0;) {
        unsigned char fate = fates[stack[i]];
        if (fate != STAYS && has_stayed)
            return fate == GOES ? i + 1 : i;
        has_stayed |= fate == STAYS;
    }
    return 0;
}

static void cut_stacks(const struct pprof *from, const unsigned char *fates, struct arena *arena, struct pprof *pruned)
{
    uint32_t length = 0;
    pruned->stacks = arena_array(arena, uint32_t, (size_t)from->stack_starts[from->sample_count] + 1);
    pruned->stack_starts = arena_array(arena, uint32_t, (size_t)from->sample_count + 1);
    for (uint32_t i = 0; i < from->sample_count; i++) {
        const uint32_t *stack = from->stacks + from->stack_starts[i];
        uint32_t depth = from->stack_starts[i + 1] - from->stack_starts[i];
        arena_work(arena, depth + 1);
        uint32_t gone = count_gone(fates, stack, depth);
        if (depth > gone)
            memcpy(pruned->stacks + length, stack + gone, (depth - gone) * sizeof(*stack));
        length += depth - gone;
        pruned->stack_starts[i + 1] = length;
    }
}

const struct pprof *narrow_pruned(const struct pprof *pprof, struct arena *arena)
{
    if (pprof->drop_frames.length == 0)
        return pprof;
    struct regex *drop = read_whole(pprof->drop_frames, arena);
    struct regex *keep = pprof->keep_frames.length > 0 ? read_whole(pprof->keep_frames, arena) : NULL;
    if (drop == NULL || (keep == NULL && pprof->keep_frames.length > 0))
        return pprof;
    const bool *is_dropped = find_dropped(pprof, drop, keep, arena);
    unsigned char *fates = arena_array(arena, unsigned char, (size_t)pprof->location_count + 1);
    struct pprof *pruned = arena_array(arena, struct pprof, 1);
    *pruned = *pprof;
    pruned->locations = arena_array(arena, struct pprof_location, (size_t)pprof->location_count + 1);
    memcpy(pruned->locations, pprof->locations, pprof->location_count * sizeof(*pruned->locations));
    for (uint32_t i = 0; i < pprof->location_count; i++)
        fates[i] = cut_lines(pprof, is_dropped, &pruned->locations[i]);
    cut_stacks(pprof, fates, arena, pruned);
    return pruned;
}
