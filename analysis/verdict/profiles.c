/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/profiles.h"

#include "base/sum.h"
#include "model/device_memory/frames.h"
#include "model/trend.h"
#include "read/library.h"

#include <assert.h>

bool profiles_is_program(const struct pprof *pprof, uint32_t sample)
{
    const struct pprof_label_set *set = &pprof->sets[pprof->label_sets[sample]];
    for (uint32_t i = 0; i < set->count; i++) {
        const struct pprof_label *label = &pprof->labels[set->first + i];
        if (str_equal(label->key, STR("kind")) && str_equal(label->text, STR("executable")))
            return true;
    }
    return false;
}

uint32_t profiles_bytes_type(const struct pprof *pprof)
{
    uint32_t type = 0;
    while (type < pprof->type_count && !str_equal(pprof->types[type].unit, STR("bytes")))
        type++;
    return type;
}

static bool is_read(const struct profile_set_item *item)
{
    return item->pprof != NULL && !item->is_base && !item->is_other;
}

/* What a profile counts instead, by the column that its readers look at first: "counts nanoseconds". */
static const char *profiles_counted(const struct pprof *pprof, struct arena *arena)
{
    if (pprof->type_count == 0)
        return "counts nothing";
    const struct pprof_type *type = &pprof->types[pprof->default_type];
    if (type->unit.length > 0 && !str_equal(type->unit, STR("count")))
        return arena_format(arena, "counts %.*s", (int)type->unit.length, type->unit.data);
    return arena_format(arena, "has values of type \"%.*s\"", (int)type->name.length, type->name.data);
}

const char *profiles_without_bytes(const struct profile_set *set, struct arena *arena)
{
    const struct profile_set_item *first = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; set != NULL && i < set->count; i++) {
        const struct profile_set_item *item = &set->items[i];
        if (!is_read(item) || profiles_bytes_type(item->pprof) < item->pprof->type_count)
            continue;
        first = first == NULL ? item : first;
        count++;
    }
    if (first == NULL)
        return NULL;
    const char *counted = profiles_counted(first->pprof, arena);
    if (count == 1)
        return arena_format(arena, "%s %s, not bytes.", first->name, counted);
    return arena_format(arena, "%u profiles have no bytes: %s %s.", count, first->name, counted);
}

int64_t profiles_bytes_of(const struct pprof *pprof, uint32_t type, uint32_t sample)
{
    int64_t value = pprof->values[(size_t)sample * pprof->type_count + type];
    return value > 0 ? value : 0;
}

const struct profile_set_item *profiles_last(const struct profile_set *set)
{
    const struct profile_set_item *last = NULL;
    for (uint32_t i = 0; set != NULL && i < set->count; i++)
        if (is_read(&set->items[i]))
            last = &set->items[i];
    return last;
}

/* ---- whose lines ---- */

uint32_t profiles_own_line(struct frames *frames, const struct pprof *pprof, uint32_t sample)
{
    for (uint32_t k = pprof->stack_starts[sample]; k < pprof->stack_starts[sample + 1]; k++) {
        const struct pprof_location *location = &pprof->locations[pprof->stacks[k]];
        arena_work(frames->arena, 1 + (uint64_t)location->line_count);
        for (uint32_t i = 0; i < location->line_count; i++) {
            const struct pprof_line *line = &pprof->lines[location->first_line + i];
            const struct pprof_function *function =
                line->function == PPROF_NONE ? NULL : &pprof->functions[line->function];
            if (function != NULL && function->file.length > 0 &&
                library_of(function->file, (struct str){"", 0}) != LIBRARY_MACHINERY)
                return frames_of(frames, function, line->line, false);
        }
    }
    return pprof->stack_starts[sample] == pprof->stack_starts[sample + 1] ? FRAMES_NO_STACK : FRAMES_NO_USER;
}

const char *profiles_place(const struct frames *frames, uint32_t at, struct buf *scratch, struct arena *arena)
{
    static const char module[] = "<module> ";
    struct str name = frames_short_name(frames, at, scratch);
    if (str_starts(name, STR(module))) {
        name.data += sizeof(module) - 1;
        name.length -= sizeof(module) - 1;
    }
    return arena_text(arena, name);
}

/* ---- where it grows ---- */

/* All live arrays of a profile; -1: it tells no sizes. */
static int64_t arrays_of(const struct pprof *pprof)
{
    uint32_t type = profiles_bytes_type(pprof);
    int64_t sum = type == pprof->type_count ? -1 : 0;
    for (uint32_t i = 0; sum >= 0 && i < pprof->sample_count; i++)
        if (!profiles_is_program(pprof, i))
            sum = sum_add(sum, profiles_bytes_of(pprof, type, i));
    return sum;
}

static void place_find(const struct pprof *first, const struct pprof *last, struct buf *scratch, struct arena *arena,
                       struct profiles_growth *out)
{
    const struct pprof *sides[] = {first, last};
    struct frames frames;
    size_t capacity = 0;
    int64_t *growth = NULL;
    uint32_t count = 0, best = MAP_NONE;
    frames_init(&frames, FRAMES_BY_LINE, arena);
    for (int side = 0; side < 2; side++) {
        uint32_t type = profiles_bytes_type(sides[side]);
        for (uint32_t i = 0; i < sides[side]->sample_count && type < sides[side]->type_count; i++) {
            uint32_t frame =
                profiles_is_program(sides[side], i) ? FRAMES_NO_STACK : profiles_own_line(&frames, sides[side], i);
            if (frame < FRAMES_SPECIAL_COUNT)
                continue;
            if (frame >= count) {
                growth = arena_grown(arena, growth, (size_t)frame + 1, &capacity, sizeof(*growth));
                count = frame + 1;
            }
            int64_t bytes = profiles_bytes_of(sides[side], type, i);
            growth[frame] = pprof_add(growth[frame], side == 0 ? -bytes : bytes);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (growth[i] > 0 && (best == MAP_NONE || growth[i] > growth[best]))
            best = i;
    if (best == MAP_NONE)
        return;
    out->place = profiles_place(&frames, best, scratch, arena);
    out->place_bytes = growth[best];
}

struct profiles_growth profiles_growth_of(const struct profile_set *set, struct buf *scratch, struct arena *arena)
{
    struct profiles_growth growth = {.grows = false};
    const struct profile_set_item *first = NULL, *last = NULL;
    uint32_t count = 0;
    if (set == NULL)
        return growth;
    int64_t *values = arena_array(arena, int64_t, set->count);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct profile_set_item *item = &set->items[i];
        int64_t bytes = is_read(item) ? arrays_of(item->pprof) : -1;
        if (bytes < 0)
            continue;
        first = count == 0 ? item : first;
        last = item;
        values[count++] = bytes;
    }
    const struct trend trend = trend_of(values, count);
    if (trend.kind != TREND_GROWS || trend.change <= 0)
        return growth;
    assert(first != NULL && last != NULL); /* what grows has values */
    growth = (struct profiles_growth){.grows = true, .bytes = trend.change};
    growth.first_name = arena_text(arena, str_of(first->name));
    growth.last_name = arena_text(arena, str_of(last->name));
    place_find(first->pprof, last->pprof, scratch, arena, &growth);
    return growth;
}
