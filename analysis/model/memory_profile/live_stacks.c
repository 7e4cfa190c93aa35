/* SPDX-License-Identifier: Apache-2.0
 * live_stacks.c: see live_stacks.h. */
#include "model/memory_profile/live_stacks.h"

#include "base/intern.h"
#include "base/table.h"
#include "model/memory_profile/held_blocks.h"
#include "read/library.h"
#include "read/torch/torch_snapshot.h"

/* Samples without a stack of the snapshot, beside TORCH_NO_STACK. */
enum { BEFORE = UINT32_MAX - 1, UNEXPLAINED = UINT32_MAX - 2 };
static const struct str before_name = STR_INIT("before recording began"),
                        unexplained_name = STR_INIT("not in any event");

enum { TYPE_COUNT, TYPE_BYTES, TYPE_BLOCK_BYTES, TYPES };
static const struct pprof_type types[TYPES] = {{STR_INIT("blocks"), STR_INIT("count")},
                                               {STR_INIT("requested"), STR_INIT("bytes")},
                                               {STR_INIT("block_size"), STR_INIT("bytes")}};

struct live_stacks_gathering {
    const struct memory_profile_pool *pool;
    const struct torch_snapshot *snapshot;
    struct arena *arena;
    struct pprof *out;
    uint32_t count; /* events that have happened */
    bool has_block_bytes;
    struct map ends;      /* memory_profile_held_blocks_ends */
    struct table samples; /* stack, size, region */
    struct chunks values; /* of each sample: int64_t[TYPES] */
    int64_t sum_bytes;
    /* places in `out`; UINT32_MAX: not used yet */
    uint32_t *location_of; /* of each frame of the snapshot */
    struct intern texts;
    struct table functions, sets;
    struct chunks location_rows, line_rows, function_rows;
};

/* ---- what is live ---- */

/* Whoever read the snapshot held all its sizes together below MEMORY_MAX_BYTES, so that no sum can wrap. */

static void sample_add(struct live_stacks_gathering *gathering, uint32_t stack, int64_t bytes, uint32_t region,
                       int64_t count, int64_t block_bytes)
{
    const uint64_t key[3] = {stack, count > 0 ? (uint64_t)bytes : UINT64_MAX, region};
    uint32_t number = table_number(&gathering->samples, key);
    if (number == gathering->values.count)
        memset(chunks_add(&gathering->values), 0, TYPES * sizeof(int64_t));
    int64_t *values = chunks_at(&gathering->values, number);
    values[TYPE_COUNT] += count;
    values[TYPE_BYTES] += bytes;
    values[TYPE_BLOCK_BYTES] += block_bytes;
    gathering->sum_bytes += bytes;
}

/* The block that an allocation became which nothing frees; NULL when the snapshot has none there. */
static const struct torch_block *end_block_of(const struct live_stacks_gathering *gathering, uint64_t address)
{
    uint32_t found = map_get(&gathering->ends, address);
    return found == MAP_NONE ? NULL : &gathering->snapshot->blocks[found];
}

static void allocation_take(struct live_stacks_gathering *gathering, uint32_t event, uint32_t end)
{
    const struct memory_profile *profile = gathering->pool->profile;
    const struct torch_block *block = end == PROFILE_NONE ? end_block_of(gathering, profile->address[event]) : NULL;
    bool is_open = event - gathering->pool->first < gathering->count &&
                   (end == PROFILE_NONE || end - gathering->pool->first >= gathering->count);
    if (!is_open)
        return;
    const struct memory_what *what = &profile->events.whats[profile->what[event]];
    uint32_t stack = what->stack < gathering->snapshot->stack_count ? what->stack
                     : block != NULL                                ? block->stack
                                                                    : TORCH_NO_STACK;
    gathering->has_block_bytes &= block != NULL;
    sample_add(gathering, stack, profile->size_bytes[event], what->region, 1, block != NULL ? block->size_bytes : 0);
}

/* Blocks that no event allocates have been there since before the first. */
static void before_take(struct live_stacks_gathering *gathering, int64_t freed_later_bytes)
{
    const struct memory_profile_torch *torch = &gathering->pool->torch;
    int64_t rest = gathering->pool->base_bytes - freed_later_bytes;
    for (uint32_t i = 0; i < torch->kept_count; i++) {
        const struct torch_block *block = &gathering->snapshot->blocks[torch->kept[i]];
        bool is_known = block->stack < gathering->snapshot->stack_count;
        sample_add(gathering, is_known ? block->stack : BEFORE, block->requested_bytes, MEMORY_NO_TEXT, 1,
                   block->size_bytes);
        rest -= block->requested_bytes;
    }
    if (rest > 0)
        sample_add(gathering, BEFORE, rest, MEMORY_NO_TEXT, 0, 0);
    gathering->has_block_bytes &= rest <= 0;
}

static void live_take(struct live_stacks_gathering *gathering)
{
    const struct memory_profile_pool *pool = gathering->pool;
    const struct memory_profile *profile = pool->profile;
    int64_t freed_later_bytes = 0; /* of what was there before the first event */
    table_init(&gathering->samples, gathering->arena, 3);
    chunks_init(&gathering->values, gathering->arena, TYPES * sizeof(int64_t));
    memory_profile_held_blocks_ends(pool, gathering->arena, &gathering->ends);
    gathering->has_block_bytes = gathering->count == pool->count && gathering->ends.count > 0;
    arena_work(gathering->arena, pool->count);
    for (uint32_t event = pool->first; event < pool->first + pool->count; event++) {
        uint32_t partner = profile->partner[event];
        if (!memory_profile_is_free(profile, event)) {
            allocation_take(gathering, event, partner);
        } else if (partner == PROFILE_NONE) {
            freed_later_bytes += profile->size_bytes[event];
            if (event - pool->first >= gathering->count)
                sample_add(gathering, BEFORE, profile->size_bytes[event], MEMORY_NO_TEXT, 1, 0);
        }
    }
    before_take(gathering, freed_later_bytes);
    int64_t in_use_bytes = gathering->count > 0
                               ? memory_profile_in_use_bytes(profile, pool->first + gathering->count - 1)
                               : pool->base_bytes;
    int64_t unexplained = in_use_bytes - gathering->sum_bytes;
    if (unexplained != 0)
        sample_add(gathering, UNEXPLAINED, unexplained, MEMORY_NO_TEXT, 0, 0);
    gathering->has_block_bytes &= unexplained == 0;
}

/* ---- frames ---- */

/* Paths of Windows as every other: with "/". */
static struct str path_of(struct live_stacks_gathering *gathering, struct str file)
{
    if (file.length < 3 || file.data[1] != ':' || file.data[2] != '\\')
        return file;
    char *path = arena_text(gathering->arena, file);
    for (size_t i = 0; i < file.length; i++)
        path[i] = path[i] == '\\' ? '/' : path[i];
    return (struct str){path, file.length};
}

static uint32_t location_add(struct live_stacks_gathering *gathering, struct str name, struct str file, uint32_t line,
                             bool is_native)
{
    const uint64_t key[2] = {intern_number(&gathering->texts, name), intern_number(&gathering->texts, file)};
    uint32_t function = table_number(&gathering->functions, key);
    if (function == gathering->function_rows.count) {
        struct pprof_function row = {.name = gathering->texts.items[key[0]],
                                     .system_name = {"", 0},
                                     .file = path_of(gathering, gathering->texts.items[key[1]])};
        CHUNKS_ADD(&gathering->function_rows, struct pprof_function, row);
    }
    struct pprof_line line_row = {.function = function, .line = line};
    struct pprof_location row = {
        .mapping = is_native ? 0 : PPROF_NONE, .first_line = (uint32_t)gathering->line_rows.count, .line_count = 1};
    CHUNKS_ADD(&gathering->line_rows, struct pprof_line, line_row);
    CHUNKS_ADD(&gathering->location_rows, struct pprof_location, row);
    return (uint32_t)gathering->location_rows.count - 1;
}

static uint32_t location_of(struct live_stacks_gathering *gathering, uint32_t frame)
{
    uint32_t *location = &gathering->location_of[frame];
    const struct torch_frame *from = &gathering->snapshot->frames[frame];
    /* a path that a profiler has shortened does not tell any more that it is one of a library */
    bool is_library = from->whose == LIBRARY_MACHINERY && !str_starts(from->file, STR("/"));
    if (*location == 0)
        *location = 1 + location_add(gathering, from->function, str_equal(from->file, STR("??")) ? STR("") : from->file,
                                     from->line, !from->is_python || is_library);
    return *location - 1;
}

static void stacks_write(struct live_stacks_gathering *gathering)
{
    const struct torch_snapshot *snapshot = gathering->snapshot;
    struct pprof *out = gathering->out;
    struct chunks places;
    uint32_t special[2] = {PPROF_NONE, PPROF_NONE}; /* locations of BEFORE and UNEXPLAINED */
    chunks_init(&places, gathering->arena, sizeof(uint32_t));
    for (uint32_t i = 0; i < out->sample_count; i++) {
        uint32_t stack = (uint32_t)table_key(&gathering->samples, i)[0];
        if (stack == BEFORE || stack == UNEXPLAINED) {
            uint32_t *location = &special[stack == BEFORE];
            if (*location == PPROF_NONE)
                *location =
                    location_add(gathering, stack == BEFORE ? before_name : unexplained_name, STR(""), 0, false);
            CHUNKS_ADD(&places, uint32_t, *location);
        } else if (stack != TORCH_NO_STACK) {
            const struct torch_stack *found = &snapshot->stacks[stack];
            arena_work(gathering->arena, found->count);
            for (uint32_t f = 0; f < found->count; f++)
                CHUNKS_ADD(&places, uint32_t, location_of(gathering, snapshot->stack_frames[found->first + f]));
        }
        out->stack_starts[i + 1] = (uint32_t)places.count;
        uint32_t depth = out->stack_starts[i + 1] - out->stack_starts[i];
        out->depth_max = depth > out->depth_max ? depth : out->depth_max;
    }
    out->stacks = chunks_copy(&places, gathering->arena);
}

static void frames_write(struct live_stacks_gathering *gathering)
{
    struct arena *arena = gathering->arena;
    struct pprof *out = gathering->out;
    gathering->location_of = arena_array(arena, uint32_t, gathering->snapshot->frame_count + 1);
    intern_init(&gathering->texts, arena);
    table_init(&gathering->functions, arena, 2);
    chunks_init(&gathering->function_rows, arena, sizeof(struct pprof_function));
    chunks_init(&gathering->line_rows, arena, sizeof(struct pprof_line));
    chunks_init(&gathering->location_rows, arena, sizeof(struct pprof_location));
    stacks_write(gathering);
    out->locations = chunks_copy(&gathering->location_rows, arena);
    out->lines = chunks_copy(&gathering->line_rows, arena);
    out->functions = chunks_copy(&gathering->function_rows, arena);
    out->location_count = (uint32_t)gathering->location_rows.count;
    out->line_count = (uint32_t)gathering->line_rows.count;
    out->function_count = (uint32_t)gathering->function_rows.count;
    out->mappings = arena_array(arena, struct pprof_mapping, 1);
    out->mappings[0] = (struct pprof_mapping){.file = STR(LIBRARY_NATIVE_MAPPING),
                                              .has_functions = true,
                                              .has_filenames = true,
                                              .has_line_numbers = true,
                                              .has_inline_frames = true};
    out->mapping_count = 1;
}

/* ---- labels and values ---- */

static void sets_write(struct live_stacks_gathering *gathering)
{
    const struct memory_profile *profile = gathering->pool->profile;
    struct pprof *out = gathering->out;
    enum { LABELS_MAX = 3 };
    table_init(&gathering->sets, gathering->arena, 2);
    for (uint32_t i = 0; i < out->sample_count; i++)
        out->label_sets[i] = table_number(&gathering->sets, table_key(&gathering->samples, i) + 1);
    out->set_count = (uint32_t)table_count(&gathering->sets);
    out->sets = arena_array(gathering->arena, struct pprof_label_set, (size_t)out->set_count + 1);
    out->labels = arena_array(gathering->arena, struct pprof_label, (size_t)out->set_count * LABELS_MAX + 1);
    for (uint32_t set = 0; set < out->set_count; set++) {
        const uint64_t *key = table_key(&gathering->sets, set);
        uint32_t first = out->label_count;
        out->labels[out->label_count++] = (struct pprof_label){.key = STR("device"), .text = gathering->pool->name};
        if (key[1] != MEMORY_NO_TEXT)
            out->labels[out->label_count++] =
                (struct pprof_label){.key = STR("region"), .text = memory_profile_text(profile, (uint32_t)key[1])};
        if (key[0] != UINT64_MAX)
            out->labels[out->label_count++] = (struct pprof_label){
                .key = STR("bytes"), .unit = STR("bytes"), .number = (int64_t)key[0], .is_number = true};
        out->sets[set] = (struct pprof_label_set){first, out->label_count - first};
    }
}

static void values_write(struct live_stacks_gathering *gathering)
{
    struct pprof *out = gathering->out;
    out->type_count = gathering->has_block_bytes ? TYPES : TYPE_BLOCK_BYTES;
    out->types = arena_array(gathering->arena, struct pprof_type, TYPES);
    memcpy(out->types, types, sizeof(types));
    out->default_type = TYPE_BYTES;
    out->values = arena_array(gathering->arena, int64_t, (size_t)out->sample_count * out->type_count + 1);
    for (uint32_t i = 0; i < out->sample_count; i++)
        memcpy(out->values + (size_t)i * out->type_count, chunks_at(&gathering->values, i),
               out->type_count * sizeof(int64_t));
}

void memory_profile_live_stacks(const struct memory_profile_pool *pool, uint32_t count, struct arena *arena,
                                struct pprof *out)
{
    const struct memory_profile *profile = pool->profile;
    struct live_stacks_gathering gathering = {
        .pool = pool, .snapshot = profile->events.snapshot, .arena = arena, .out = out, .count = count};
    *out = (struct pprof){.sample_count = 0};
    live_take(&gathering);
    out->sample_count = (uint32_t)table_count(&gathering.samples);
    out->stack_starts = arena_array(arena, uint32_t, (size_t)out->sample_count + 1);
    out->label_sets = arena_array(arena, uint32_t, (size_t)out->sample_count + 1);
    frames_write(&gathering);
    sets_write(&gathering);
    values_write(&gathering);
    bool has_time = gathering.snapshot->has_times && profile->events.origin_ns > 0;
    int64_t at_ps = profile->time_ps[pool->first + (count > 0 ? count - 1 : 0)];
    out->time_ns = has_time ? profile->events.origin_ns + at_ps / 1000 : 0;
}
