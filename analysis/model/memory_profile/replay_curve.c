/* SPDX-License-Identifier: Apache-2.0
 * replay_curve.c: see replay_curve.h. */
#include "model/memory_profile/replay_curve.h"

#include "base/arena.h"

void replay_curve_begin(struct replay_curve *curve, int64_t from_ps, int64_t to_ps, uint32_t width, struct arena *arena)
{
    *curve = (struct replay_curve){.from_ps = from_ps, .to_ps = to_ps, .width = width};
    curve->reserved_bytes = arena_array(arena, int64_t, (size_t)width + 1);
    curve->allocated_bytes = arena_array(arena, int64_t, (size_t)width + 1);
}

static uint32_t part_of(const struct replay_curve *curve, int64_t time_ps)
{
    double span = (double)curve->to_ps - (double)curve->from_ps;
    double share = span > 0 ? ((double)time_ps - (double)curve->from_ps) / span : 0;
    double part = share * curve->width;
    return part < 0 ? 0 : part >= curve->width ? curve->width - 1 : (uint32_t)part;
}

/* Parts without an event have what was held before; so has the beginning of the next one. Index `width` keeps what is
 * held now. */
static void parts_until(struct replay_curve *curve, uint32_t end)
{
    for (; curve->count < end; curve->count++) {
        curve->reserved_bytes[curve->count] = curve->reserved_bytes[curve->width];
        curve->allocated_bytes[curve->count] = curve->allocated_bytes[curve->width];
    }
}

void replay_curve_add(struct replay_curve *curve, int64_t time_ps, const struct caching *caching)
{
    const int64_t reserved = caching->reserved.bytes, allocated = caching->allocated.bytes;
    uint32_t part = part_of(curve, time_ps);
    parts_until(curve, part + 1);
    part = curve->count - 1;
    if (reserved > curve->reserved_bytes[part])
        curve->reserved_bytes[part] = reserved;
    if (allocated > curve->allocated_bytes[part])
        curve->allocated_bytes[part] = allocated;
    curve->reserved_bytes[curve->width] = reserved;
    curve->allocated_bytes[curve->width] = allocated;
}

void replay_curve_end(struct replay_curve *curve) { parts_until(curve, curve->width); }
