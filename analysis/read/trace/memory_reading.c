/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/memory_reading.h"

/* ---- columns ---- */

enum { FIRST_CAPACITY = 1024 };

void memory_reading_columns(struct memory_events *out, struct column *columns[MEMORY_COLUMNS])
{
#define COLUMN(name, ordered_name, type) &out->name,
    struct column *const all[MEMORY_COLUMNS] = {
#include "read/trace/memory_columns.def"
        &out->pool, &out->flags};
#undef COLUMN
    memcpy(columns, all, sizeof(all));
}

void memory_reading_columns_init(struct memory_events *out, struct arena *arena)
{
#define COLUMN(name, ordered_name, type) sizeof(type),
    static const uint8_t widths[MEMORY_COLUMNS] = {
#include "read/trace/memory_columns.def"
        sizeof(uint16_t), sizeof(uint8_t)};
#undef COLUMN
    struct column *columns[MEMORY_COLUMNS];
    memory_reading_columns(out, columns);
    for (size_t i = 0; i < MEMORY_COLUMNS; i++)
        column_init(columns[i], arena, widths[i]);
}

__attribute__((noinline)) void memory_reading_columns_grow(struct memory_events *out)
{
    struct column *columns[MEMORY_COLUMNS];
    size_t capacity = out->offset_ps.capacity == 0 ? FIRST_CAPACITY : out->offset_ps.capacity / 2 * 3;
    memory_reading_columns(out, columns);
    for (size_t i = 0; i < MEMORY_COLUMNS; i++)
        column_resize(columns[i], capacity);
}

void memory_reading_columns_trim(struct memory_events *out)
{
    struct column *columns[MEMORY_COLUMNS];
    memory_reading_columns(out, columns);
    for (size_t i = 0; i < MEMORY_COLUMNS; i++)
        column_resize(columns[i], out->count);
}

/* ---- one event ---- */

static __attribute__((noinline)) uint64_t own_text_key(struct memory_reading *reading, const struct trace_event *event,
                                                       enum trace_stat stat)
{
    if (event->type[stat] != TRACE_TEXT || event->text[stat].length == 0)
        return KEY_NONE;
    return KEY_TEXT | intern_number(&reading->texts, event->text[stat]);
}

static inline uint64_t text_key(struct memory_reading *reading, const struct trace_event *event, enum trace_stat stat)
{
    if (!trace_line_has(event, stat))
        return KEY_NONE;
    if (event->type[stat] == TRACE_REF)
        return KEY_REF | KEY_VALUE(event->value[stat]);
    return own_text_key(reading, event, stat);
}

/* The pool is named by the last of three stats that the event has. */
static inline uint64_t pool_key(struct memory_reading *reading, const struct trace_event *event)
{
    if (trace_line_has(event, TRACE_STAT_DEVICE_ORDINAL))
        return KEY_NUMBER | KEY_VALUE((uint64_t)trace_line_number(event, TRACE_STAT_DEVICE_ORDINAL, 0));
    if (trace_line_has(event, TRACE_STAT_INDEX_ON_HOST))
        return KEY_NUMBER | KEY_VALUE((uint64_t)trace_line_number(event, TRACE_STAT_INDEX_ON_HOST, 0));
    return text_key(reading, event, TRACE_STAT_ALLOCATOR_NAME);
}

/* A size that can be one; else 0 and no flag. */
static inline int64_t size_of(struct memory_reading *reading, const struct trace_event *event, enum trace_stat stat,
                              enum memory_flag flag, unsigned *flags)
{
    if (!trace_line_has(event, stat))
        return 0;
    int64_t size = trace_line_number(event, stat, -1);
    bool adds_up = stat == TRACE_STAT_ALLOCATION_BYTES || stat == TRACE_STAT_REQUESTED_BYTES;
    if ((uint64_t)size > SUM_MAX_BYTES || (adds_up && reading->sum_bytes > MEMORY_MAX_BYTES - size)) {
        reading->out->absurd_count++;
        return 0;
    }
    reading->sum_bytes += adds_up ? size : 0;
    *flags |= flag;
    return size;
}

static inline uint32_t figures_of(struct memory_reading *reading, const struct trace_event *event, uint32_t pool_at,
                                  int64_t in_use_bytes)
{
    unsigned has_reserved = 0, has_available = 0, has_peak = 0;
    int64_t reserved = size_of(reading, event, TRACE_STAT_BYTES_RESERVED, 1, &has_reserved);
    int64_t available = size_of(reading, event, TRACE_STAT_BYTES_AVAILABLE, 1, &has_available);
    int64_t peak = size_of(reading, event, TRACE_STAT_PEAK_BYTES_IN_USE, 1, &has_peak);
    uint64_t key[3] = {(uint64_t)(has_reserved ? reserved : MEMORY_UNKNOWN),
                       (uint64_t)(has_available ? reserved + in_use_bytes + available : MEMORY_UNKNOWN),
                       (uint64_t)(has_peak ? peak : MEMORY_UNKNOWN)};
    return table_number_near(&reading->figures, key, 3, &reading->last_figures[pool_at]);
}

static inline uint32_t what_of(struct memory_reading *reading, const struct trace_event *event, bool is_encoded)
{
    int64_t data_type = trace_line_number(event, TRACE_STAT_DATA_TYPE, 0);
    uint64_t key[4] = {text_key(reading, event, TRACE_STAT_OP), text_key(reading, event, TRACE_STAT_REGION),
                       text_key(reading, event, TRACE_STAT_SHAPE),
                       (uint64_t)(data_type < 0 || data_type > INT32_MAX ? 0 : data_type) |
                           (is_encoded ? WHAT_ENCODED : 0)};
    return table_number_near(&reading->whats, key, 4, &reading->last_what);
}

/* The step that the file itself tells; -1: none. */
static int32_t given_step(const struct trace_event *event)
{
    int64_t step = trace_line_number(event, TRACE_STAT_GROUP_ID, -1);
    return step < 0 || step > INT32_MAX ? -1 : (int32_t)step;
}

static void memory_reading_take_one(void *context, const struct trace_event *event)
{
    struct memory_reading *reading = context;
    struct memory_events *out = reading->out;
    struct trace_event decoded;
    bool is_encoded = reading->encoded != NULL && trace_encoded_read(reading->encoded, event, &decoded);
    if (is_encoded)
        event = &decoded;
    uint32_t node = trace_groups_asks(event) ? trace_groups_event(reading->groups, event) : TRACE_NO_NODE;
    out->unparsed_count += event->class == TRACE_UNPARSED;
    out->unnamed_count += event->class == TRACE_UNNAMED;
    if (!trace_class_is_memory(event->class))
        return;
    if (reading->plane->lacks_figures && !is_encoded) {
        out->untold_count++;
        return;
    }
    if (event->is_aggregated) {
        out->aggregated_count++;
        return;
    }
    out->encoded_count += is_encoded;
    uint64_t pool = pool_key(reading, event);
    uint32_t pool_at = table_number_near(&reading->pools, &pool, 1, &reading->last_pool);
    if (pool_at >= MEMORY_POOLS_MAX || out->count >= UINT32_MAX - 1) {
        out->pool_overflow_count++;
        return;
    }
    unsigned flags = event->class == TRACE_DEALLOCATION ? MEMORY_FREED : 0;
    int64_t in_use = size_of(reading, event, TRACE_STAT_BYTES_ALLOCATED, MEMORY_HAS_IN_USE, &flags);
    int64_t size = size_of(reading, event, TRACE_STAT_ALLOCATION_BYTES, MEMORY_HAS_SIZE, &flags);
    int64_t requested = size_of(reading, event, TRACE_STAT_REQUESTED_BYTES, MEMORY_HAS_REQUESTED, &flags);
    double fragmentation = trace_line_real(event, TRACE_STAT_FRAGMENTATION, -1);
    flags |= fragmentation >= 0 && fragmentation <= 1 ? MEMORY_HAS_FRAGMENTATION : 0;
    flags |= trace_line_has(event, TRACE_STAT_ADDRESS) ? MEMORY_HAS_ADDRESS : 0;
    out->missing_count += (flags & MEMORY_HAS_IN_USE) == 0 || (flags & MEMORY_HAS_ADDRESS) == 0 ||
                          (flags & (MEMORY_HAS_SIZE | MEMORY_FREED)) == 0;
    if (out->count == out->offset_ps.capacity)
        memory_reading_columns_grow(out);
    size_t at = out->count++;
    COLUMN_AT(&out->offset_ps, int64_t, at) = event->offset_ps;
    COLUMN_AT(&out->in_use_bytes, int64_t, at) = in_use;
    COLUMN_AT(&out->size_bytes, int64_t, at) = size;
    COLUMN_AT(&out->requested_bytes, int64_t, at) = requested;
    COLUMN_AT(&out->address, uint64_t, at) = (uint64_t)trace_line_number(event, TRACE_STAT_ADDRESS, 0);
    COLUMN_AT(&out->fragmentation, float, at) = (float)((flags & MEMORY_HAS_FRAGMENTATION) != 0 ? fragmentation : 0);
    COLUMN_AT(&out->what, uint32_t, at) = what_of(reading, event, is_encoded);
    COLUMN_AT(&out->figures, uint32_t, at) = figures_of(reading, event, pool_at, in_use);
    COLUMN_AT(&out->line, uint32_t, at) = reading->line_at;
    COLUMN_AT(&out->step, int32_t, at) = (int32_t)node; /* its step once the steps are numbered */
    if (reading->plane->has_group_id)
        CHUNKS_ADD(&reading->given_steps, int32_t, given_step(event));
    COLUMN_AT(&out->pool, uint16_t, at) = (uint16_t)pool_at;
    COLUMN_AT(&out->flags, uint8_t, at) = (uint8_t)flags;
}

/* ---- lines ---- */

void memory_reading_init(struct memory_reading *reading, struct stream *stream, struct memory_events *out,
                         struct arena *arena, struct arena *scratch)
{
    *reading = (struct memory_reading){.out = out, .arena = arena, .scratch = scratch, .stream = stream};
    reading->groups = trace_groups_new(scratch, arena);
    memory_reading_columns_init(out, arena);
    table_init(&reading->whats, scratch, 4);
    table_init(&reading->figures, scratch, 3);
    table_init(&reading->pools, scratch, 1);
    intern_init(&reading->texts, scratch);
    chunks_init(&reading->lines, scratch, sizeof(struct trace_line));
    chunks_init(&reading->given_steps, scratch, sizeof(int32_t));
}

void memory_reading_lines(struct memory_reading *reading, struct memory_place from, struct memory_place to)
{
    const struct stream_scope *lines = reading->plane->lines;
    struct memory_events *out = reading->out;
    bool is_left_open = to.at > 0 && to.at > lines[to.line].at;
    for (size_t i = from.line; i < to.line + is_left_open; i++) {
        struct stream_scope scope = lines[i];
        struct trace_line *line = chunks_add(&reading->lines);
        bool is_resumed = i == from.line && from.at > scope.at, is_left = i == to.line;
        trace_line_head(reading->stream, scope, reading->arena, line);
        int64_t timestamp_ns = line->timestamp_ns;
        reading->line_at = (uint32_t)i;
        if (is_resumed) {
            line->damaged_count = 0; /* counted by who began it */
            scope.at = from.at;
            trace_groups_resume(reading->groups, timestamp_ns);
        } else {
            trace_groups_line(reading->groups, timestamp_ns);
        }
        scope.end = is_left ? to.at : scope.end;
        trace_line_events(reading->stream, scope, reading->plane, reading->arena, memory_reading_take_one, reading,
                          line);
        reading->is_torn |= is_left && (line->read_to != to.at || line->timestamp_ns != timestamp_ns);
        out->damaged_count += line->damaged_count;
    }
}

/* what the keys mean */

static uint32_t memory_reading_resolved(struct table *keys, uint64_t key)
{
    return key == KEY_NONE ? MEMORY_NO_TEXT : table_number(keys, &key);
}

static struct str text_of_key(struct memory_reading *reading, uint64_t key)
{
    uint64_t value = KEY_VALUE(key);
    if (key >> 62 == KEY_TEXT >> 62) {
        struct str text = reading->texts.items[value];
        return (struct str){arena_text(reading->arena, text), text.length};
    }
    int64_t id = (int64_t)(value << 2) >> 2; /* negative ids are rare, but there are */
    if (key >> 62 == KEY_REF >> 62) {
        reading->out->lost_text_count += reading->plane->is_cut && !trace_plane_has_stat(reading->plane, id);
        return trace_plane_stat_name(reading->stream, reading->plane, id, reading->arena);
    }
    return str_of(arena_format(reading->arena, "%lld", (long long)id));
}

/* Only the texts that memory events use are read, each once. */
static void texts_take(struct memory_reading *reading)
{
    struct memory_events *out = reading->out;
    struct table keys;
    table_init(&keys, reading->scratch, 1);
    struct memory_what *whats = arena_array(reading->arena, struct memory_what, table_count(&reading->whats) + 1);
    for (size_t i = 0; i < table_count(&reading->whats); i++) {
        const uint64_t *key = table_key(&reading->whats, i);
        whats[i] = (struct memory_what){memory_reading_resolved(&keys, key[0]),
                                        memory_reading_resolved(&keys, key[1]),
                                        memory_reading_resolved(&keys, key[2]),
                                        (int32_t)(key[3] & INT32_MAX),
                                        (key[3] & WHAT_ENCODED) != 0,
                                        MEMORY_NO_TEXT,
                                        MEMORY_NO_TEXT};
    }
    out->whats = whats;
    out->what_count = table_count(&reading->whats);
    struct str *texts = arena_array(reading->arena, struct str, table_count(&keys) + 1);
    for (size_t i = 0; i < table_count(&keys); i++)
        texts[i] = text_of_key(reading, *table_key(&keys, i));
    out->texts = texts;
    out->text_count = table_count(&keys);
    for (size_t i = 0; i < out->what_count; i++) { /* a text that is empty is none */
        uint32_t *parts[] = {&whats[i].op, &whats[i].region, &whats[i].shape};
        for (int j = 0; j < 3; j++)
            if (*parts[j] != MEMORY_NO_TEXT && texts[*parts[j]].length == 0)
                *parts[j] = MEMORY_NO_TEXT;
    }
}

static void figures_take(struct memory_reading *reading)
{
    struct memory_figures *sets =
        arena_array(reading->arena, struct memory_figures, table_count(&reading->figures) + 1);
    for (size_t i = 0; i < table_count(&reading->figures); i++) {
        const uint64_t *key = table_key(&reading->figures, i);
        sets[i] = (struct memory_figures){(int64_t)key[0], (int64_t)key[1], (int64_t)key[2]};
    }
    reading->out->figure_sets = sets;
    reading->out->figures_count = table_count(&reading->figures);
}

static void pools_take(struct memory_reading *reading)
{
    size_t count = table_count(&reading->pools);
    count = count < MEMORY_POOLS_MAX ? count : MEMORY_POOLS_MAX;
    struct memory_pool *pools = arena_array(reading->arena, struct memory_pool, count + 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t key = *table_key(&reading->pools, i);
        pools[i].is_numbered = key >> 62 == KEY_NUMBER >> 62;
        pools[i].name = key == KEY_NONE ? (struct str){"", 0} : text_of_key(reading, key);
    }
    reading->out->pools = pools;
    reading->out->pool_count = count;
}

void memory_reading_take(struct memory_reading *reading)
{
    texts_take(reading);
    figures_take(reading);
    pools_take(reading);
}
