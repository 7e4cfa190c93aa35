/* SPDX-License-Identifier: Apache-2.0
 * prune.c: see prune.h. */
#include "tool/device_memory/prune.h"

#include "base/regex.h"

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
    static const struct str kept[] = {{"(anonymous namespace)", 21}, {"operator()", 10}};
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

/* Lines stand innermost first: those up to the outermost dropped one go. */
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

const struct pprof *prune(const struct pprof *pprof, struct arena *arena)
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
