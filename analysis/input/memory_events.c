/* SPDX-License-Identifier: Apache-2.0
 * memory_events.c: see memory_events.h. */
#include "input/memory_events.h"

#include "base/intern.h"
#include "base/sum.h"
#include "input/kernel_launches.h"
#include "input/trace_encoded.h"
#include "xplane.fields.h"

enum { POOLS_MOST = 4096, LINES_MOST = 1 << 20 };
/* Start times below this count from the start of the capture; larger ones are a clock's. */
#define CAPTURE_MOST_NS (INT64_C(1) << 43)

/* A text or number of an event as it stands in the file: kind in the two highest bits. */
#define KEY_NONE UINT64_C(0)
#define KEY_REF (UINT64_C(1) << 62)
#define KEY_TEXT (UINT64_C(2) << 62)
#define KEY_NUMBER (UINT64_C(3) << 62)
#define KEY_VALUE(key) ((key) << 2 >> 2)

/* Texts that stand in events themselves, each once. */
struct texts {
    struct chunks items; /* struct str */
    struct intern table;
    struct str text; /* the one that is looked for */
};

struct reading {
    struct memory_events *out;
    struct arena *arena;   /* of the result */
    struct arena *scratch; /* let go at the end */
    struct stream *stream;
    struct trace_plane plane;
    struct trace_groups *groups;
    struct trace_encoded *encoded; /* NULL: no memory event stands in a name */
    struct table whats, figures, pools;
    uint32_t last_what, last_pool, last_figures[POOLS_MOST]; /* found last; figures of each pool */
    struct texts texts;
    struct chunks lines;       /* struct trace_line */
    struct chunks given_steps; /* int32_t of each event, where the file tells any */
    uint32_t line_at;
    int64_t sum_bytes; /* of all sizes so far */
};

/* ---- columns ---- */

enum { COLUMNS = 12, FIRST_CAPACITY = 1024 };

static void columns_of(struct memory_events *out, struct column *columns[COLUMNS])
{
    struct column *const all[COLUMNS] = {&out->offset_ps,     &out->in_use_bytes, &out->requested_bytes,
                                         &out->size_bytes,    &out->address,      &out->what,
                                         &out->fragmentation, &out->figures,      &out->line,
                                         &out->step,          &out->pool,         &out->flags};
    memcpy(columns, all, sizeof all);
}

static void columns_init(struct memory_events *out, struct arena *arena)
{
    static const uint8_t widths[COLUMNS] = {8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 2, 1};
    struct column *columns[COLUMNS];
    columns_of(out, columns);
    for (size_t i = 0; i < COLUMNS; i++)
        column_init(columns[i], arena, widths[i]);
}

static __attribute__((noinline)) void columns_grow(struct memory_events *out)
{
    struct column *columns[COLUMNS];
    size_t capacity = out->offset_ps.capacity == 0 ? FIRST_CAPACITY : out->offset_ps.capacity / 2 * 3;
    columns_of(out, columns);
    for (size_t i = 0; i < COLUMNS; i++)
        column_resize(columns[i], capacity);
}

/* What they have too much goes back. */
static void columns_trim(struct memory_events *out)
{
    struct column *columns[COLUMNS];
    columns_of(out, columns);
    for (size_t i = 0; i < COLUMNS; i++)
        column_resize(columns[i], out->count);
}

/* ---- one event ---- */

static bool is_text(const void *context, uint32_t at)
{
    const struct texts *texts = context;
    return str_equal(*(const struct str *)chunks_at(&texts->items, at), texts->text);
}

static uint32_t text_number(struct reading *reading, struct str text)
{
    struct texts *texts = &reading->texts;
    uint64_t hash = intern_hash_text(reading->arena, text, 0);
    texts->text = text;
    uint32_t at = intern_find(&texts->table, hash, is_text, texts);
    if (at != INTERN_NONE)
        return at;
    *(struct str *)chunks_add(&texts->items) = (struct str){arena_text(reading->scratch, text), text.length};
    return intern_add(&texts->table, hash);
}

static __attribute__((noinline)) uint64_t own_text_key(struct reading *reading, const struct trace_event *event,
                                                       enum trace_stat stat)
{
    if (event->type[stat] != TRACE_TEXT || event->text[stat].length == 0)
        return KEY_NONE;
    return KEY_TEXT | text_number(reading, event->text[stat]);
}

static inline uint64_t text_key(struct reading *reading, const struct trace_event *event, enum trace_stat stat)
{
    if (!trace_line_has(event, stat))
        return KEY_NONE;
    if (event->type[stat] == TRACE_REF)
        return KEY_REF | KEY_VALUE(event->value[stat]);
    return own_text_key(reading, event, stat);
}

/* The pool is named by the last of three stats that the event has. */
static inline uint64_t pool_key(struct reading *reading, const struct trace_event *event)
{
    if (trace_line_has(event, TRACE_STAT_DEVICE_ORDINAL))
        return KEY_NUMBER | KEY_VALUE((uint64_t)trace_line_number(event, TRACE_STAT_DEVICE_ORDINAL, 0));
    if (trace_line_has(event, TRACE_STAT_INDEX_ON_HOST))
        return KEY_NUMBER | KEY_VALUE((uint64_t)trace_line_number(event, TRACE_STAT_INDEX_ON_HOST, 0));
    return text_key(reading, event, TRACE_STAT_ALLOCATOR_NAME);
}

/* A size that can be one; else 0 and no flag. */
static inline int64_t size_of(struct reading *reading, const struct trace_event *event, enum trace_stat stat,
                              enum memory_flag flag, unsigned *flags)
{
    if (!trace_line_has(event, stat))
        return 0;
    int64_t size = trace_line_number(event, stat, -1);
    bool adds_up = stat == TRACE_STAT_ALLOCATION_BYTES || stat == TRACE_STAT_REQUESTED_BYTES;
    if ((uint64_t)size > SUM_MOST_BYTES || (adds_up && reading->sum_bytes > MEMORY_MOST_BYTES - size)) {
        reading->out->absurd_count++;
        return 0;
    }
    reading->sum_bytes += adds_up ? size : 0;
    *flags |= flag;
    return size;
}

static inline uint32_t figures_of(struct reading *reading, const struct trace_event *event, uint32_t pool_at,
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

#define WHAT_ENCODED (UINT64_C(1) << 32)

static inline uint32_t what_of(struct reading *reading, const struct trace_event *event, bool is_encoded)
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

static void take(void *context, const struct trace_event *event)
{
    struct reading *reading = context;
    struct memory_events *out = reading->out;
    struct trace_event decoded;
    bool is_encoded = reading->encoded != NULL && trace_encoded_read(reading->encoded, event, &decoded);
    if (is_encoded)
        event = &decoded;
    uint32_t node = trace_groups_asks(event) ? trace_groups_event(reading->groups, event) : TRACE_NO_NODE;
    out->unparsed_count += event->class == TRACE_UNPARSED;
    if (!trace_class_is_memory(event->class))
        return;
    if (event->is_aggregated) {
        out->aggregated_count++;
        return;
    }
    out->encoded_count += is_encoded;
    uint64_t pool = pool_key(reading, event);
    uint32_t pool_at = table_number_near(&reading->pools, &pool, 1, &reading->last_pool);
    if (pool_at >= POOLS_MOST || out->count >= UINT32_MAX - 1) {
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
        columns_grow(out);
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
    if (reading->plane.has_group_id)
        CHUNKS_ADD(&reading->given_steps, int32_t, given_step(event));
    COLUMN_AT(&out->pool, uint16_t, at) = (uint16_t)pool_at;
    COLUMN_AT(&out->flags, uint8_t, at) = (uint8_t)flags;
}

/* ---- planes ---- */

static void host_lines(struct reading *reading)
{
    struct memory_events *out = reading->out;
    for (size_t i = 0; i < reading->plane.line_count && reading->lines.count < LINES_MOST; i++) {
        struct trace_line *line = chunks_add(&reading->lines);
        trace_line_head(reading->stream, reading->plane.lines[i], reading->arena, line);
        reading->line_at = (uint32_t)reading->lines.count - 1;
        trace_groups_line(reading->groups, line->timestamp_ns);
        trace_line_events(reading->stream, reading->plane.lines[i], &reading->plane, reading->arena, take, reading,
                          line);
        out->damaged_count += line->damaged_count;
        out->cut_line_count += line->is_cut;
    }
}

/* The steps' names, and which step each event is in: as numbered here, else as the file says, as XProf has it. */
static void steps_take(struct reading *reading, bool is_grouped)
{
    struct memory_events *out = reading->out;
    struct trace_step *steps;
    trace_groups_number(reading->groups, is_grouped, out->origin_ns, reading->arena, &steps, &out->step_count);
    struct str *names = arena_array(reading->arena, struct str, out->step_count + 1);
    for (size_t i = 0; i < out->step_count; i++) {
        bool is_same = i > 0 && steps[i].name_id == steps[i - 1].name_id; /* nearly all are */
        if (is_same)
            names[i] = names[i - 1];
        else
            names[i] = trace_encoded_base(
                trace_plane_event_name(reading->stream, &reading->plane, steps[i].name_id, reading->arena));
    }
    out->steps = steps;
    out->step_names = names;
    for (size_t i = 0; i < out->count; i++) {
        int32_t *step = &COLUMN_AT(&out->step, int32_t, i);
        int64_t number = trace_groups_of(reading->groups, (uint32_t)*step); /* it is a node's so far */
        *step = number > INT32_MAX ? -1 : (int32_t)number;
        if (*step < 0 && reading->plane.has_group_id)
            *step = CHUNKS_AT(&reading->given_steps, int32_t, i);
        out->has_steps |= *step >= 0;
    }
}

/* Small start times count from the capture's start; else the first line's start is the origin. */
static int64_t origin_of(const struct chunks *lines)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < lines->count; i++) {
        const struct trace_line *line = chunks_at(lines, i);
        if (line->event_count == 0)
            continue;
        least = line->timestamp_ns < least ? line->timestamp_ns : least;
        most = line->timestamp_ns > most ? line->timestamp_ns : most;
    }
    return least > most || (least >= 0 && most < CAPTURE_MOST_NS) ? 0 : least;
}

static uint32_t resolved(struct table *keys, uint64_t key)
{
    return key == KEY_NONE ? MEMORY_NO_TEXT : table_number(keys, &key);
}

static struct str text_of_key(struct reading *reading, uint64_t key)
{
    uint64_t value = KEY_VALUE(key);
    if (key >> 62 == KEY_TEXT >> 62) {
        struct str text = *(const struct str *)chunks_at(&reading->texts.items, value);
        return (struct str){arena_text(reading->arena, text), text.length};
    }
    int64_t id = (int64_t)(value << 2) >> 2; /* negative ids are rare, but there are */
    if (key >> 62 == KEY_REF >> 62)
        return trace_plane_stat_name(reading->stream, &reading->plane, id, reading->arena);
    return str_of(arena_format(reading->arena, "%lld", (long long)id));
}

/* Only the texts that memory events use are read, each once. */
static void texts_take(struct reading *reading)
{
    struct memory_events *out = reading->out;
    struct table keys;
    table_init(&keys, reading->scratch, 1);
    struct memory_what *whats = arena_array(reading->arena, struct memory_what, table_count(&reading->whats) + 1);
    for (size_t i = 0; i < table_count(&reading->whats); i++) {
        const uint64_t *key = table_key(&reading->whats, i);
        whats[i] = (struct memory_what){resolved(&keys, key[0]), resolved(&keys, key[1]), resolved(&keys, key[2]),
                                        (int32_t)(key[3] & INT32_MAX), (key[3] & WHAT_ENCODED) != 0};
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

static void figures_take(struct reading *reading)
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

static void pools_take(struct reading *reading)
{
    size_t count = table_count(&reading->pools);
    count = count < POOLS_MOST ? count : POOLS_MOST;
    struct memory_pool *pools = arena_array(reading->arena, struct memory_pool, count + 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t key = *table_key(&reading->pools, i);
        pools[i].is_numbered = key >> 62 == KEY_NUMBER >> 62;
        pools[i].name = key == KEY_NONE ? (struct str){"", 0} : text_of_key(reading, key);
    }
    reading->out->pools = pools;
    reading->out->pool_count = count;
}

/* ---- the file ---- */

struct places {                       /* of the planes that matter */
    struct chunks tpus, gpus, others; /* struct stream_scope; others: all but the host's */
    struct stream_scope host, environment;
    bool has_host, has_environment;
};

static void planes_find(struct stream *stream, struct arena *arena, struct memory_events *out, struct places *places)
{
    struct stream_scope scope = stream_whole(stream);
    struct stream_field field;
    chunks_init(&places->tpus, arena, sizeof scope);
    chunks_init(&places->gpus, arena, sizeof scope);
    chunks_init(&places->others, arena, sizeof scope);
    while (stream_next(stream, &scope, &field)) {
        if (field.number != XSPACE_PLANES || field.type != WIRE_BYTES)
            continue;
        arena_work(arena, 64);
        struct str name = trace_plane_name(stream, field.payload, arena);
        if (stream->err->code == ERR_malformed || stream->err->code == ERR_truncated) {
            *stream->err = (struct err)ERR_INIT;
            out->damaged_count++;
        }
        bool is_host = str_equal(name, STR("/host:CPU"));
        if (!is_host)
            *(struct stream_scope *)chunks_add(&places->others) = field.payload;
        if (str_starts(name, STR("/device:GPU:"))) {
            out->has_gpu_plane = true;
            *(struct stream_scope *)chunks_add(&places->gpus) = field.payload;
        } else if (str_starts(name, STR("/device:TPU:"))) {
            out->has_tpu_plane = true;
            *(struct stream_scope *)chunks_add(&places->tpus) = field.payload;
        } else if (is_host && !places->has_host) {
            places->host = field.payload;
            places->has_host = true;
        } else if (str_equal(name, STR("Task Environment"))) {
            places->environment = field.payload;
            places->has_environment = true;
        }
    }
    out->is_cut = stream->is_cut;
    out->cut_at = stream->cut_at;
}

/* Do other planes tell of loops of TensorFlow? The steps of such a file are never numbered. */
static bool has_loops(struct stream *stream, const struct places *places, struct arena *parent)
{
    bool is = false;
    for (size_t i = 0; i < places->others.count && !is && !err_is_set(stream->err); i++) {
        struct arena *arena = arena_child(parent);
        struct trace_plane plane;
        trace_plane_read(stream, CHUNKS_AT(&places->others, struct stream_scope, i), arena, &plane);
        trace_plane_resolve(stream, arena, &plane);
        is = plane.has_loops;
        arena_free(arena);
    }
    return is;
}

static void host_plane(struct reading *reading, const struct places *places)
{
    struct memory_events *out = reading->out;
    trace_plane_read(reading->stream, places->host, reading->arena, &reading->plane);
    trace_plane_resolve(reading->stream, reading->arena, &reading->plane);
    out->has_host_plane = true;
    if (reading->plane.has_unparsed) {
        reading->encoded = arena_array(reading->scratch, struct trace_encoded, 1);
        trace_encoded_find(reading->encoded, reading->stream, &reading->plane, reading->scratch);
    }
    if (reading->plane.has_memory_events || reading->plane.has_unparsed)
        host_lines(reading);
    out->damaged_count += reading->plane.damaged_count;
    if (out->count == 0 && err_is_set(&reading->plane.damage) && !err_is_set(reading->stream->err))
        *reading->stream->err = reading->plane.damage; /* it is why there is nothing */
    out->origin_ns = origin_of(&reading->lines);
    bool is_settled = reading->plane.has_loops || out->count == 0;
    steps_take(reading, is_settled || has_loops(reading->stream, places, reading->scratch));
}

bool memory_events_read(const struct source *source, struct arena *arena, struct memory_events *out, struct err *err)
{
    struct stream stream;
    struct places places = {.has_host = false};
    struct reading *reading = arena_array(arena, struct reading, 1);
    *out = (struct memory_events){.count = 0};
    reading->scratch = arena_child(arena);
    stream_init(&stream, source, reading->scratch, err);
    reading->out = out;
    reading->arena = arena;
    reading->stream = &stream;
    reading->groups = trace_groups_new(reading->scratch, arena);
    columns_init(out, arena);
    table_init(&reading->whats, reading->scratch, 4);
    table_init(&reading->figures, reading->scratch, 3);
    table_init(&reading->pools, reading->scratch, 1);
    chunks_init(&reading->texts.items, reading->scratch, sizeof(struct str));
    intern_init(&reading->texts.table, reading->scratch);
    chunks_init(&reading->lines, reading->scratch, sizeof(struct trace_line));
    chunks_init(&reading->given_steps, reading->scratch, sizeof(int32_t));
    planes_find(&stream, reading->scratch, out, &places);
    if (places.has_host)
        host_plane(reading, &places);
    trace_groups_free(reading->groups);
    if (out->count > 0)
        columns_trim(out);
    texts_take(reading);
    figures_take(reading);
    pools_take(reading);
    struct trace_line *lines = arena_array(arena, struct trace_line, reading->lines.count + 1);
    for (size_t i = 0; i < reading->lines.count; i++)
        lines[i] = CHUNKS_AT(&reading->lines, struct trace_line, i);
    out->lines = lines;
    out->line_count = reading->lines.count;
    module_launches_init(&out->launches, arena);
    for (size_t i = 0; i < places.tpus.count && !err_is_set(err); i++)
        module_launches_read(&stream, CHUNKS_AT(&places.tpus, struct stream_scope, i), out->origin_ns, arena,
                             &out->launches);
    struct kernel_host host = {.plane = places.host, .arena = reading->scratch, .has_plane = places.has_host};
    for (size_t i = 0; i < places.gpus.count && out->count > 0 && !err_is_set(err); i++)
        kernel_launches_read(&stream, CHUNKS_AT(&places.gpus, struct stream_scope, i), &host, out->origin_ns, arena,
                             &out->launches);
    if (places.has_environment && !err_is_set(err))
        trace_capture_read(&stream, places.environment, reading->scratch, &out->capture);
    arena_free(reading->scratch);
    return !err_is_set(err);
}
