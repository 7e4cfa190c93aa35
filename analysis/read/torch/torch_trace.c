/* SPDX-License-Identifier: Apache-2.0 */
#include "read/torch/torch_trace.h"

#include "read/torch/json_read.h"
#include "read/torch/torch_trace_reading.h"
#include "read/trace/memory_reading.h"

#include <stdlib.h>

#define MAX_US 4e15

static struct pickle_value torch_trace_get(const struct torch_trace_reading *reading, struct pickle_value dict,
                                           enum torch_trace_key key)
{
    return pickle_value_get(reading->pickle, dict, reading->keys[key]);
}

/* A whole number from `min` to `max`; MEMORY_UNKNOWN if it is missing or impossible: the latter is counted. */
static int64_t torch_trace_whole(struct torch_trace_reading *reading, struct pickle_value dict,
                                 enum torch_trace_key key, int64_t min, int64_t max)
{
    return pickle_value_whole(reading->pickle, torch_trace_get(reading, dict, key), min, max, MEMORY_UNKNOWN,
                              &reading->odd_counts[key]);
}

static bool is_there(const struct torch_trace_reading *reading, struct pickle_value dict, enum torch_trace_key key)
{
    return pickle_value_kind(reading->pickle, torch_trace_get(reading, dict, key)) != PICKLE_NONE;
}

static bool is_word(const struct torch_trace_reading *reading, struct pickle_value value, enum torch_trace_key key)
{
    return value.bits == reading->keys[key].bits;
}

/* Microseconds with three digits behind the point. */
static bool time_read(const struct torch_trace_reading *reading, struct pickle_value dict, enum torch_trace_key key,
                      int64_t *ns)
{
    double us;
    bool is_told =
        pickle_value_real(reading->pickle, torch_trace_get(reading, dict, key), &us) && us >= -MAX_US && us <= MAX_US;
    *ns = is_told ? (int64_t)(us * 1000 + (us < 0 ? -0.5 : 0.5)) : 0;
    return is_told;
}

static uint32_t thread_of(struct torch_trace_reading *reading, struct pickle_value dict)
{
    const uint64_t key[2] = {torch_trace_get(reading, dict, TORCH_TRACE_KEY_pid).bits,
                             torch_trace_get(reading, dict, TORCH_TRACE_KEY_tid).bits};
    return table_number(&reading->threads, key);
}

/* ---- one event ---- */

static void span_take(struct torch_trace_reading *reading, struct pickle_value dict)
{
    struct pickle_value category = torch_trace_get(reading, dict, TORCH_TRACE_KEY_cat),
                        name = torch_trace_get(reading, dict, TORCH_TRACE_KEY_name);
    struct str text = pickle_value_text(reading->pickle, name);
    bool is_operator = is_word(reading, category, TORCH_TRACE_KEY_operator) ||
                       is_word(reading, category, TORCH_TRACE_KEY_old_operator);
    bool is_annotation = is_word(reading, category, TORCH_TRACE_KEY_annotation);
    int64_t begin_ns, length_ns;
    if (!is_operator && !is_annotation && !is_word(reading, category, TORCH_TRACE_KEY_python))
        return;
    if (!time_read(reading, dict, TORCH_TRACE_KEY_ts, &begin_ns) ||
        !time_read(reading, dict, TORCH_TRACE_KEY_dur, &length_ns) || length_ns < 0) {
        reading->out->damaged_count++;
        return;
    }
    enum torch_span_kind kind = is_operator     ? TORCH_SPAN_OPERATOR
                                : is_annotation ? TORCH_SPAN_ANNOTATION
                                                : TORCH_SPAN_PYTHON;
    if (kind != TORCH_SPAN_PYTHON && str_starts(text, STR("ProfilerStep#")))
        CHUNKS_ADD(&reading->steps, struct torch_trace_step,
                   ((struct torch_trace_step){begin_ns, begin_ns + length_ns, text}));
    else
        torch_trace_stacks_span(&reading->stacks, thread_of(reading, dict), begin_ns, begin_ns + length_ns,
                                (struct torch_span_name){text, name.bits, kind});
}

static void memory_take(struct torch_trace_reading *reading, struct pickle_value dict, bool is_failure)
{
    struct pickle_value args = torch_trace_get(reading, dict, TORCH_TRACE_KEY_args);
    const int64_t least = is_failure ? 0 : -SUM_MAX_BYTES, first_address = is_failure ? 0 : 1;
    struct torch_trace_row row = {
        .bytes = torch_trace_whole(reading, args, TORCH_TRACE_KEY_bytes, least, SUM_MAX_BYTES),
        .allocated_bytes = torch_trace_whole(reading, args, TORCH_TRACE_KEY_allocated, 0, SUM_MAX_BYTES),
        .reserved_bytes = torch_trace_whole(reading, args, TORCH_TRACE_KEY_reserved, 0, SUM_MAX_BYTES),
        .device_type = torch_trace_whole(reading, args, TORCH_TRACE_KEY_device_type, 0, TORCH_MAX_DEVICE),
        .device_id = torch_trace_whole(reading, args, TORCH_TRACE_KEY_device_id, -1, TORCH_MAX_DEVICE),
        .is_failure = is_failure};
    int64_t address = torch_trace_whole(reading, args, TORCH_TRACE_KEY_address, first_address, TORCH_MAX_ADDRESS);
    if (row.device_type == DEVICE_CUDA && row.device_id < 0 && row.device_id != MEMORY_UNKNOWN) {
        reading->odd_counts[TORCH_TRACE_KEY_device_id]++;
        row.device_id = MEMORY_UNKNOWN;
    }
    if (!time_read(reading, dict, TORCH_TRACE_KEY_ts, &row.at_ns)) {
        reading->odd_counts[TORCH_TRACE_KEY_ts]++;
        row.at_ns = MEMORY_UNKNOWN;
    }
    if (row.bytes != MEMORY_UNKNOWN && reading->sum_bytes > MEMORY_MAX_BYTES - llabs(row.bytes)) {
        reading->out->absurd_count++;
        row.bytes = MEMORY_UNKNOWN;
    }
    if (row.bytes == MEMORY_UNKNOWN && (is_failure || row.allocated_bytes == MEMORY_UNKNOWN)) {
        reading->out->damaged_count++;
        return;
    }
    if (reading->rows.count >= UINT32_MAX / 2) {
        reading->out->pool_overflow_count++;
        return;
    }
    reading->sum_bytes += row.bytes == MEMORY_UNKNOWN ? 0 : llabs(row.bytes);
    row.has_address = address != MEMORY_UNKNOWN && !is_failure;
    row.address = row.has_address ? (uint64_t)address : 0;
    row.thread = thread_of(reading, dict);
    CHUNKS_ADD(&reading->rows, struct torch_trace_row, row);
}

static void keys_make(struct torch_trace_reading *reading, struct pickle *pickle)
{
    static const char *const WORDS[] = {
#define KEY(name, text) text,
        TORCH_TRACE_KEYS(KEY)
#undef KEY
    };
    reading->pickle = pickle;
    for (int i = 0; i < TORCH_TRACE_KEY_COUNT; i++)
        reading->keys[i] = pickle_value_key(pickle, WORDS[i]);
}

/* An event that tells bytes as memory events do, by another name: that is odd. */
static bool is_misnamed(const struct torch_trace_reading *reading, struct pickle_value dict)
{
    struct pickle_value args = torch_trace_get(reading, dict, TORCH_TRACE_KEY_args);
    return is_there(reading, args, TORCH_TRACE_KEY_bytes) && is_there(reading, args, TORCH_TRACE_KEY_device_type) &&
           (is_there(reading, args, TORCH_TRACE_KEY_allocated) || is_there(reading, args, TORCH_TRACE_KEY_address));
}

static bool torch_trace_take(void *context, struct pickle *pickle, struct pickle_value dict, uint32_t list,
                             uint32_t *number)
{
    struct torch_trace_reading *reading = context;
    (void)list;
    if (reading->pickle == NULL)
        keys_make(reading, pickle);
    struct pickle_value phase = torch_trace_get(reading, dict, TORCH_TRACE_KEY_ph),
                        name = torch_trace_get(reading, dict, TORCH_TRACE_KEY_name);
    bool is_failure = is_word(reading, name, TORCH_TRACE_KEY_failure);
    bool is_memory = is_failure || is_word(reading, name, TORCH_TRACE_KEY_memory) || is_misnamed(reading, dict);
    bool is_instant = is_word(reading, phase, TORCH_TRACE_KEY_instant),
         is_complete = is_word(reading, phase, TORCH_TRACE_KEY_complete);
    if (!is_memory && pickle_value_kind(pickle, phase) == PICKLE_NONE)
        return false;
    if (is_memory && !is_complete) {
        reading->odd_counts[TORCH_TRACE_KEY_ph] += !is_instant;
        reading->odd_counts[TORCH_TRACE_KEY_name] += !is_failure && !is_word(reading, name, TORCH_TRACE_KEY_memory);
        memory_take(reading, dict, is_failure);
    } else if (is_complete) {
        span_take(reading, dict);
    }
    *number = PICKLE_GONE;
    return true;
}

/* ---- all of them ---- */

/* What the trace tells of GPUs; of several that have one number the first counts. */
static void devices_tell(struct torch_trace_reading *reading, struct pickle_value root, struct memory_pool *pools,
                         size_t pool_count)
{
    size_t count;
    const struct pickle_value *items =
        pickle_value_items(reading->pickle, torch_trace_get(reading, root, TORCH_TRACE_KEY_properties), &count);
    for (size_t i = 0; i < count; i++) {
        int64_t number = torch_trace_whole(reading, items[i], TORCH_TRACE_KEY_number, 0, TORCH_MAX_DEVICE);
        const uint64_t device[2] = {DEVICE_CUDA, (uint64_t)number};
        uint32_t at = number != MEMORY_UNKNOWN ? table_find(&reading->devices, device, 2) : MAP_NONE;
        if (at == MAP_NONE || at >= pool_count || pools[at].device_bytes > 0 || pools[at].device_name != NULL)
            continue;
        int64_t bytes = torch_trace_whole(reading, items[i], TORCH_TRACE_KEY_memory_of_device, 1, SUM_MAX_BYTES);
        struct str name = pickle_value_text(reading->pickle, torch_trace_get(reading, items[i], TORCH_TRACE_KEY_name));
        pools[at].device_bytes = bytes != MEMORY_UNKNOWN ? bytes : 0;
        pools[at].device_name = name.length > 0 ? arena_text(reading->arena, name) : NULL;
    }
}

static void pools_name(struct torch_trace_reading *reading, struct pickle_value root)
{
    size_t count = table_count(&reading->devices);
    count = count < MEMORY_POOLS_MAX ? count : MEMORY_POOLS_MAX;
    struct memory_pool *pools = arena_array(reading->arena, struct memory_pool, count + 1);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *device = table_key(&reading->devices, i);
        int64_t type = (int64_t)device[0], id = (int64_t)device[1];
        bool is_gpu = type == DEVICE_CUDA;
        const char *name =
            type == MEMORY_UNKNOWN ? "unknown device"
            : type == DEVICE_CPU   ? "CPU"
            : is_gpu               ? arena_format(reading->arena, "GPU %lld", (long long)id)
                     : arena_format(reading->arena, "device %lld of type %lld", (long long)id, (long long)type);
        pools[i] = (struct memory_pool){.name = str_of(name), .device = is_gpu ? id : -1};
    }
    devices_tell(reading, root, pools, count);
    reading->out->pools = pools;
    reading->out->pool_count = count;
}

static int compare_steps(const void *left, const void *right)
{
    const struct torch_trace_step *a = left, *b = right;
    return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

static int64_t ps_since(int64_t at_ns, int64_t origin_ns)
{
    int64_t since_ns = at_ns - origin_ns;
    int64_t max_ns = TRACE_TIME_MAX_PS / PS_PER_NS;
    return (since_ns < -max_ns ? -max_ns : since_ns > max_ns ? max_ns : since_ns) * PS_PER_NS;
}

static void steps_take(struct torch_trace_reading *reading, int64_t origin_ns)
{
    struct memory_events *out = reading->out;
    size_t count = reading->steps.count, used = 0;
    struct torch_trace_step *sorted = chunks_copy(&reading->steps, reading->scratch);
    struct trace_step *steps = arena_array(reading->arena, struct trace_step, count + 1);
    struct str *names = arena_array(reading->arena, struct str, count + 1);
    qsort(sorted, count, sizeof(*sorted), compare_steps);
    for (size_t i = 0; i < count; i++) {
        int64_t begin_ps = ps_since(sorted[i].begin_ns, origin_ns), end_ps = ps_since(sorted[i].end_ns, origin_ns);
        if (used > 0 && begin_ps < steps[used - 1].end_ps)
            continue; /* said by another thread as well */
        names[used] = (struct str){arena_text(reading->arena, sorted[i].name), sorted[i].name.length};
        steps[used] = (struct trace_step){(int64_t)used, -1, (int64_t)used, begin_ps, end_ps};
        used++;
    }
    out->steps = steps;
    out->step_names = names;
    out->step_count = used;
}

static void row_write(struct memory_events *out, size_t at, const struct torch_trace_row *row, int64_t origin_ns)
{
    bool has_total = row->allocated_bytes != MEMORY_UNKNOWN, has_size = row->bytes != MEMORY_UNKNOWN;
    COLUMN_AT(&out->offset_ps, int64_t, at) = ps_since(row->at_ns, origin_ns);
    COLUMN_AT(&out->in_use_bytes, int64_t, at) = has_total ? row->allocated_bytes : 0;
    COLUMN_AT(&out->size_bytes, int64_t, at) = has_size ? llabs(row->bytes) : 0;
    COLUMN_AT(&out->address, uint64_t, at) = row->address;
    COLUMN_AT(&out->step, int32_t, at) = -1;
    COLUMN_AT(&out->pool, uint16_t, at) = row->pool;
    COLUMN_AT(&out->flags, uint8_t, at) =
        (uint8_t)((has_size ? MEMORY_HAS_SIZE : 0) | (row->has_address ? MEMORY_HAS_ADDRESS : 0) |
                  (has_total ? MEMORY_HAS_IN_USE : 0) | (has_size && row->bytes < 0 ? MEMORY_FREED : 0));
    out->missing_count += !has_total || !row->has_address;
}

static int compare_moments(const void *left, const void *right)
{
    const struct torch_moment *a = left, *b = right;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static void figures_take(struct torch_trace_reading *reading, const struct table *figures)
{
    size_t count = table_count(figures);
    struct memory_figures *sets = arena_array(reading->arena, struct memory_figures, count + 1);
    for (size_t i = 0; i < count; i++)
        sets[i] = (struct memory_figures){MEMORY_UNKNOWN, (int64_t)*table_key(figures, i), MEMORY_UNKNOWN};
    reading->out->figure_sets = sets;
    reading->out->figures_count = count;
}

/* Behind those rows of its pool that were written already. */
static void failure_add(struct torch_trace_reading *reading, const struct torch_trace_row *row, int64_t offset_ps,
                        uint32_t stack)
{
    const struct torch_event failure = {.offset_ps = offset_ps,
                                        .size_bytes = row->bytes,
                                        .device_free_bytes = MEMORY_UNKNOWN,
                                        .stack = stack,
                                        .event_at = reading->pool_counts[row->pool],
                                        .pool = row->pool,
                                        .action = TORCH_OOM};
    CHUNKS_ADD(&reading->failures, struct torch_event, failure);
}

static void failures_take(struct torch_trace_reading *reading)
{
    struct torch_snapshot *snapshot = reading->snapshot;
    size_t pool_count = reading->out->pool_count, count = reading->failures.count;
    uint32_t *firsts = arena_array(reading->arena, uint32_t, pool_count + 1);
    uint32_t *next = arena_array(reading->scratch, uint32_t, pool_count + 1);
    snapshot->events = arena_array(reading->arena, struct torch_event, count + 1);
    snapshot->event_count = count;
    snapshot->pool_events = firsts;
    for (size_t i = 0; i < count; i++)
        firsts[CHUNKS_AT(&reading->failures, struct torch_event, i).pool + 1]++;
    for (size_t pool = 0; pool < pool_count; pool++) {
        firsts[pool + 1] += firsts[pool];
        next[pool] = firsts[pool];
    }
    for (size_t i = 0; i < count; i++) {
        struct torch_event failure = CHUNKS_AT(&reading->failures, struct torch_event, i);
        snapshot->events[next[failure.pool]++] = failure;
    }
}

/* A device with only failures: nothing changes at the first of them, and its pool has an event. */
static struct torch_trace_row unchanged_at(const struct torch_trace_row *failure)
{
    struct torch_trace_row row = *failure;
    row.bytes = 0;
    row.has_address = false;
    return row;
}

/* In the order of their times; on equal ones in that of the file. */
static void rows_write(struct torch_trace_reading *reading, struct torch_moment *moments, int64_t origin_ns)
{
    struct memory_events *out = reading->out;
    struct table figures;
    size_t count = reading->rows.count;
    bool *has_rows = arena_array(reading->scratch, bool, MEMORY_POOLS_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct torch_trace_row *row = chunks_at(&reading->rows, i);
        has_rows[row->pool] |= !row->is_failure;
    }
    table_init(&figures, reading->scratch, 1);
    torch_trace_stacks_hold(&reading->stacks, moments, count);
    qsort(moments, count, sizeof(*moments), compare_moments);
    for (size_t i = 0, step = 0; i < count; i++) {
        const struct torch_trace_row *row = chunks_at(&reading->rows, moments[i].order);
        struct torch_trace_row unchanged;
        uint32_t what = torch_trace_stacks_what(&reading->stacks, moments[i].stack);
        if (row->is_failure) {
            failure_add(reading, row, ps_since(row->at_ns, origin_ns), moments[i].stack > 0 ? what : TORCH_NO_STACK);
            if (has_rows[row->pool])
                continue;
            has_rows[row->pool] = true;
            unchanged = unchanged_at(row);
            row = &unchanged;
        }
        reading->pool_counts[row->pool]++;
        if (out->count == out->offset_ps.capacity)
            memory_reading_columns_grow(out);
        size_t at = out->count++;
        row_write(out, at, row, origin_ns);
        bool is_low = row->reserved_bytes > 0 && row->reserved_bytes < row->allocated_bytes;
        const uint64_t reserved = (uint64_t)(row->reserved_bytes > 0 && !is_low ? row->reserved_bytes : MEMORY_UNKNOWN);
        reading->snapshot->low_reserved_count += is_low;
        COLUMN_AT(&out->figures, uint32_t, at) = table_number(&figures, &reserved);
        COLUMN_AT(&out->what, uint32_t, at) = what;
        int64_t time_ps = COLUMN_AT(&out->offset_ps, int64_t, at);
        while (step < out->step_count && out->steps[step].end_ps < time_ps)
            step++;
        if (step < out->step_count && out->steps[step].begin_ps <= time_ps) {
            COLUMN_AT(&out->step, int32_t, at) = (int32_t)step;
            out->has_steps = true;
        }
    }
    figures_take(reading, &figures);
}

static void torch_trace_finish(struct torch_trace_reading *reading, struct pickle_value root)
{
    struct memory_events *out = reading->out;
    size_t count = reading->rows.count;
    struct torch_moment *moments = arena_array(reading->scratch, struct torch_moment, count + 1);
    struct torch_chains chains = {0, 0, 0};
    int64_t origin_ns = INT64_MAX,
            base_ns = torch_trace_whole(reading, root, TORCH_TRACE_KEY_base, 0, INT64_MAX - (int64_t)(MAX_US * 1000));
    for (size_t i = 0; i < count; i++) {
        const struct torch_trace_row *row = chunks_at(&reading->rows, i);
        moments[i] = (struct torch_moment){.at_ns = row->at_ns, .thread = row->thread, .order = i};
        origin_ns = row->at_ns < origin_ns ? row->at_ns : origin_ns;
    }
    steps_take(reading, origin_ns);
    rows_write(reading, moments, origin_ns);
    torch_trace_stacks_take(&reading->stacks, reading->snapshot, out);
    pools_name(reading, root);
    torch_chains_settle(out, reading->scratch, &chains);
    reading->odd_counts[TORCH_TRACE_KEY_allocated] += chains.total_count;
    reading->odd_counts[TORCH_TRACE_KEY_bytes] += chains.size_count;
    reading->odd_counts[TORCH_TRACE_KEY_device_id] += chains.foreign_count;
    torch_mend_rows(out, reading->snapshot, reading->scratch);
    torch_trace_odd_words(reading);
    failures_take(reading);
    if (out->count > 0)
        memory_reading_columns_trim(out);
    out->origin_ns = base_ns != MEMORY_UNKNOWN ? base_ns + origin_ns : origin_ns;
    struct trace_line *line = arena_array(reading->arena, struct trace_line, 1);
    *line = (struct trace_line){.timestamp_ns = out->origin_ns, .event_count = out->count};
    out->lines = line;
    out->line_count = 1;
    out->capture.start_ns = out->origin_ns > 0 ? (uint64_t)out->origin_ns : 0;
    module_launches_init(&out->launches, reading->arena);
    out->piece_count = 1;
    reading->snapshot->has_times = true;
    reading->snapshot->has_traces = true;
    reading->snapshot->is_of_profiler = true;
    out->snapshot = reading->snapshot;
}

/* JSON does not tell how long it should be. */
static void cut_take(const struct source *source, struct cut *cut)
{
    cut->is |= source->cut_packed_bytes > 0;
    cut->at_bytes = cut->is ? source->size_bytes : 0;
    cut->packed_bytes = source->cut_packed_bytes;
}

static bool refuse_cut(const struct cut *cut, struct arena *arena, struct err *err)
{
    return err_set(err, ERR_truncated, cut->at_bytes, "%s, before the first memory event.", cut_place(cut, arena));
}

bool torch_trace_read(const struct source *source, struct arena *arena, struct memory_events *out, struct err *err)
{
    struct torch_trace_reading *reading = arena_array(arena, struct torch_trace_reading, 1);
    struct pickle *pickle;
    struct pickle_value root;
    *out = (struct memory_events){.count = 0};
    memory_reading_columns_init(out, arena);
    out->requested_bytes.is_blank = true;
    out->fragmentation.is_blank = true;
    out->line.is_blank = true;
    reading->arena = arena;
    reading->scratch = arena_child(arena);
    reading->out = out;
    reading->snapshot = arena_array(arena, struct torch_snapshot, 1);
    table_init(&reading->threads, reading->scratch, 2);
    table_init(&reading->devices, reading->scratch, 2);
    chunks_init(&reading->rows, reading->scratch, sizeof(struct torch_trace_row));
    chunks_init(&reading->steps, reading->scratch, sizeof(struct torch_trace_step));
    chunks_init(&reading->failures, reading->scratch, sizeof(struct torch_event));
    torch_trace_stacks_init(&reading->stacks, arena, reading->scratch);
    if (!json_read(source, torch_trace_take, reading, reading->scratch, &pickle, &root, &out->cut.is, err))
        return false;
    cut_take(source, &out->cut);
    torch_trace_pools_settle(reading);
    bool has_rows = reading->rows.count > 0 && torch_trace_times_settle(reading);
    if (!has_rows && out->cut.is)
        return refuse_cut(&out->cut, reading->scratch, err);
    if (!has_rows)
        return err_set(err, ERR_unsupported, 0,
                       "a trace of torch.profiler without memory events: profile(profile_memory=True) records them");
    torch_trace_finish(reading, root);
    arena_free(reading->scratch);
    return true;
}
