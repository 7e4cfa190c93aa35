/* SPDX-License-Identifier: Apache-2.0
 * torch_events.c: what only all rows of a snapshot together tell: levels, texts, steps. */
#include "read/torch/torch_reading.h"

#include <ctype.h>
#include <stdlib.h>

/* ---- which device ---- */

/* The lists of `device_traces` are by device; events of any other list are of none. */
static void devices_find(struct torch_reading *reading, struct pickle_value root)
{
    size_t count, traces = table_count(&reading->traces);
    struct pickle_value list = torch_reading_get(reading, root, TORCH_KEY_device_traces);
    const struct pickle_value *items = pickle_value_items(reading->pickle, list, &count);
    reading->snapshot->has_traces = count > 0;
    reading->devices = arena_array(reading->scratch, int64_t, traces + 1);
    for (size_t i = 0; i < traces; i++)
        reading->devices[i] = -1;
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = pickle_value_list_number(items[i]);
        uint32_t trace = table_find(&reading->traces, &key, 1);
        if (trace < traces && reading->devices[trace] < 0)
            reading->devices[trace] = (int64_t)i;
    }
}

/* A list without an allocation or free has no curve, and is no pool: what else it tells is left out, and counted. */
static void pools_number(struct torch_reading *reading)
{
    struct memory_events *out = reading->out;
    size_t traces = table_count(&reading->traces), kept = 0;
    traces = traces < MEMORY_POOLS_MAX ? traces : MEMORY_POOLS_MAX;
    bool *has_rows = arena_array(reading->scratch, bool, traces + 1);
    uint16_t *number = arena_array(reading->scratch, uint16_t, traces + 1);
    for (size_t i = 0; i < out->count; i++)
        has_rows[COLUMN_AT(&out->pool, uint16_t, i)] = true;
    for (size_t i = 0; i < traces; i++) {
        number[i] = (uint16_t)out->pool_count;
        reading->devices[out->pool_count] = reading->devices[i];
        out->pool_count += has_rows[i];
    }
    for (size_t i = 0; i < out->count && out->pool_count < traces; i++)
        COLUMN_AT(&out->pool, uint16_t, i) = number[COLUMN_AT(&out->pool, uint16_t, i)];
    for (size_t i = 0; i < reading->events.count; i++) {
        struct torch_event event = CHUNKS_AT(&reading->events, struct torch_event, i);
        if (!has_rows[event.pool]) {
            reading->snapshot->lone_failure_count += event.action == TORCH_OOM;
            continue;
        }
        event.pool = number[event.pool];
        CHUNKS_AT(&reading->events, struct torch_event, kept++) = event;
    }
    reading->events.count = kept;
}

static void pools_name(struct torch_reading *reading)
{
    size_t count = reading->out->pool_count;
    struct memory_pool *pools = arena_array(reading->arena, struct memory_pool, count + 1);
    for (size_t i = 0; i < count; i++) {
        bool is_known = reading->devices[i] >= 0;
        pools[i].device = reading->devices[i];
        pools[i].name =
            is_known ? str_of(arena_format(reading->arena, "GPU %lld", (long long)reading->devices[i])) : STR("");
    }
    reading->out->pools = pools;
}

/* ---- what ---- */

static struct str copied(struct torch_reading *reading, struct str text)
{
    return (struct str){arena_text(reading->arena, text), text.length};
}

static struct pickle_value value_of(uint64_t bits) { return (struct pickle_value){bits}; }

/* Python on Windows writes backslashes. */
static enum library torch_events_whose(struct torch_reading *reading, struct str file)
{
    char *path = arena_text(reading->scratch, file);
    for (char *at = path; *at != '\0'; at++)
        *at = *at == '\\' ? '/' : *at;
    return library_of((struct str){path, file.length}, (struct str){"", 0});
}

static void frames_take(struct torch_reading *reading)
{
    struct torch_snapshot *snapshot = reading->snapshot;
    struct table texts; /* a file's name is copied once */
    struct chunks files;
    table_init(&texts, reading->scratch, 1);
    chunks_init(&files, reading->scratch, sizeof(struct str));
    snapshot->frame_count = table_count(&reading->frames);
    snapshot->frames = arena_array(reading->arena, struct torch_frame, snapshot->frame_count + 1);
    for (size_t i = 0; i < snapshot->frame_count; i++) {
        const uint64_t *key = table_key(&reading->frames, i);
        uint32_t file = table_number(&texts, &key[1]);
        if (file == files.count)
            CHUNKS_ADD(&files, struct str, copied(reading, pickle_value_text(reading->pickle, value_of(key[1]))));
        struct torch_frame *frame = &snapshot->frames[i];
        frame->function = copied(reading, pickle_value_text(reading->pickle, value_of(key[0])));
        frame->file = CHUNKS_AT(&files, struct str, file);
        frame->line = (uint32_t)key[2];
        frame->is_python = str_ends(frame->file, STR(".py")) || str_starts(frame->file, STR("<"));
        frame->whose = frame->is_python ? torch_events_whose(reading, frame->file) : LIBRARY_MACHINERY;
    }
}

static void stacks_take(struct torch_reading *reading)
{
    struct torch_snapshot *snapshot = reading->snapshot;
    snapshot->stack_count = reading->stacks.count;
    snapshot->stacks = chunks_copy(&reading->stacks, reading->arena);
    snapshot->stack_frames = (uint32_t *)(void *)reading->stack_frames.items;
}

/* "aten::empty_strided" of the outermost frame "at::_ops::empty_strided::call(…)"; empty without one. */
static struct str operator_words(struct torch_reading *reading, uint32_t stack)
{
    const struct torch_snapshot *snapshot = reading->snapshot;
    const struct str head = STR("at::_ops::");
    for (uint32_t i = stack < snapshot->stack_count ? snapshot->stacks[stack].count : 0; i-- > 0;) {
        struct str name = snapshot->frames[snapshot->stack_frames[snapshot->stacks[stack].first + i]].function;
        if (!str_starts(name, head))
            continue;
        size_t end = head.length;
        while (end < name.length && name.data[end] != ':')
            end++;
        return str_of(arena_format(reading->scratch, "aten::%.*s", (int)(end - head.length), name.data + head.length));
    }
    return (struct str){"", 0};
}

static uint32_t text_number(struct intern *texts, struct str text)
{
    return text.length == 0 ? MEMORY_NO_TEXT : intern_number(texts, text);
}

/* The op is the user's own line. The region is PyTorch's operator, or what torch.compile or the program named it. */
static void whats_take(struct torch_reading *reading)
{
    struct memory_events *out = reading->out;
    struct torch_snapshot *snapshot = reading->snapshot;
    struct intern texts;
    intern_init(&texts, reading->arena);
    out->what_count = table_count(&reading->whats);
    struct memory_what *whats = arena_array(reading->arena, struct memory_what, out->what_count + 1);
    for (size_t i = 0; i < out->what_count; i++) {
        const uint64_t *key = table_key(&reading->whats, i);
        uint32_t stack = (uint32_t)key[0], own = torch_snapshot_own_frame(snapshot, stack);
        struct str context = pickle_value_text(reading->pickle, value_of(key[1]));
        struct str metadata = pickle_value_text(reading->pickle, value_of(key[2]));
        struct str region = metadata.length > 0                                     ? metadata
                            : context.length > 0 && !str_equal(context, STR("N/A")) ? context
                                                                                    : operator_words(reading, stack);
        whats[i] = (struct memory_what){
            .op = own == UINT32_MAX
                      ? MEMORY_NO_TEXT
                      : text_number(&texts, torch_snapshot_frame_words(&snapshot->frames[own], reading->scratch)),
            .region = text_number(&texts, region),
            .shape = MEMORY_NO_TEXT,
            .guess = MEMORY_NO_TEXT,
            .stack = stack,
        };
    }
    out->whats = whats;
    out->texts = texts.items;
    out->text_count = texts.map.count;
}

static void rows_take(struct torch_reading *reading)
{
    struct torch_snapshot *snapshot = reading->snapshot;
    snapshot->segment_count = reading->segments.count;
    snapshot->segments = chunks_copy(&reading->segments, reading->arena);
    for (size_t i = 0; i < snapshot->segment_count; i++) {
        if (snapshot->segments[i].block_count == 0)
            snapshot->segments[i].first_block = 0;
    }
    snapshot->block_count = reading->blocks.count;
    snapshot->blocks = chunks_copy(&reading->blocks, reading->arena);
    for (size_t i = 0; i < snapshot->block_count; i++)
        snapshot->damaged_count += snapshot->blocks[i].segment == UINT32_MAX;
}

/* From a place among the rows of the file to one among those of the pool. */
static void places_set(struct torch_reading *reading)
{
    const struct memory_events *out = reading->out;
    uint32_t *counts = arena_array(reading->scratch, uint32_t, out->pool_count + 1);
    size_t next = 0;
    for (size_t i = 0; i <= out->count; i++) {
        for (struct torch_event *event; (event = torch_times_before(reading, i, &next)) != NULL;)
            event->event_at = counts[event->pool];
        if (i < out->count)
            counts[COLUMN_AT(&out->pool, uint16_t, i)]++;
    }
}

static void events_take(struct torch_reading *reading)
{
    struct torch_snapshot *snapshot = reading->snapshot;
    size_t pool_count = reading->out->pool_count;
    uint32_t *next = arena_array(reading->scratch, uint32_t, pool_count + 1);
    places_set(reading);
    snapshot->event_count = reading->events.count;
    snapshot->events = arena_array(reading->arena, struct torch_event, snapshot->event_count + 1);
    snapshot->pool_events = arena_array(reading->arena, uint32_t, pool_count + 1);
    for (size_t i = 0; i < snapshot->event_count; i++)
        snapshot->pool_events[CHUNKS_AT(&reading->events, struct torch_event, i).pool + 1]++;
    for (size_t pool = 0; pool < pool_count; pool++) {
        snapshot->pool_events[pool + 1] += snapshot->pool_events[pool];
        next[pool] = snapshot->pool_events[pool];
    }
    for (size_t i = 0; i < snapshot->event_count; i++) {
        struct torch_event event = CHUNKS_AT(&reading->events, struct torch_event, i);
        snapshot->events[next[event.pool]++] = event;
    }
}

/* ---- settings ---- */

/* For a setting that is a dict: no allocator has more pairs, or longer words. */
enum { MAX_SETTING_PAIRS = 64, MAX_SETTING_WORD = 32 };

static struct str words_of(struct torch_reading *reading, struct pickle_value value)
{
    int64_t whole;
    double real;
    bool is_true;
    if (pickle_value_kind(reading->pickle, value) == PICKLE_TEXT)
        return copied(reading, pickle_value_text(reading->pickle, value));
    if (pickle_value_bool(value, &is_true))
        return is_true ? STR("True") : STR("False");
    if (pickle_value_int(reading->pickle, value, &whole))
        return str_of(arena_format(reading->arena, "%lld", (long long)whole));
    if (pickle_value_real(reading->pickle, value, &real))
        return str_of(arena_format(reading->arena, "%g", real));
    return (struct str){"", 0};
}

/* "1:4,2:2" of a dict, as roundup_power2_divisions is one; what is 0 in it is left out. */
static struct str setting_words(struct torch_reading *reading, struct pickle_value value)
{
    size_t count;
    const char *words = "";
    const struct pickle_value *pairs = pickle_value_pairs(reading->pickle, value, &count);
    if (pickle_value_kind(reading->pickle, value) != PICKLE_DICT)
        return words_of(reading, value);
    for (size_t i = 0; i < count && i < MAX_SETTING_PAIRS; i++) {
        struct str key = words_of(reading, pairs[2 * i]), of = words_of(reading, pairs[2 * i + 1]);
        if (key.length > MAX_SETTING_WORD || of.length > MAX_SETTING_WORD || str_equal(of, STR("0")))
            continue;
        words = arena_format(reading->arena, "%s%s%.*s:%.*s", words, *words == '\0' ? "" : ",", (int)key.length,
                             key.data, (int)of.length, of.data);
    }
    return str_of(words);
}

static void settings_take(struct torch_reading *reading, struct pickle_value root)
{
    size_t count;
    struct pickle_value dict = torch_reading_get(reading, root, TORCH_KEY_allocator_settings);
    const struct pickle_value *pairs = pickle_value_pairs(reading->pickle, dict, &count);
    struct torch_setting *settings = arena_array(reading->arena, struct torch_setting, count + 1);
    for (size_t i = 0; i < count; i++) {
        settings[reading->snapshot->setting_count++] =
            (struct torch_setting){words_of(reading, pairs[2 * i]), setting_words(reading, pairs[2 * i + 1])};
    }
    reading->snapshot->settings = settings;
}

/* ---- steps ---- */

static bool is_step(struct str name, bool is_profiler)
{
    return str_starts(name, is_profiler ? STR("ProfilerStep#") : STR("Optimizer.step#"));
}

/* Steps of torch.profiler; else from one optimizer's step to the next. Each device says them once. */
static size_t steps_read(struct torch_reading *reading, struct pickle_value root, bool is_profiler,
                         struct trace_step *steps, struct str *names)
{
    size_t count, found = 0;
    struct pickle_value list = torch_reading_get(reading, root, TORCH_KEY_external_annotations);
    const struct pickle_value *items = pickle_value_items(reading->pickle, list, &count);
    int64_t device = -1, last_ps = -1;
    for (size_t i = 0; i < count; i++) {
        struct str name = pickle_value_text(reading->pickle, torch_reading_get(reading, items[i], TORCH_KEY_name));
        struct pickle_value stage = torch_reading_get(reading, items[i], TORCH_KEY_stage);
        int64_t own = torch_reading_int(reading, items[i], TORCH_KEY_device, 0, MEMORY_POOLS_MAX - 1, 0);
        int64_t time_us = torch_reading_int(reading, items[i], TORCH_KEY_time_us, 0, TORCH_MAX_TIME_US, -1) -
                          reading->out->origin_ns / 1000;
        device = device < 0 ? own : device;
        bool is_begin = stage.bits == reading->keys[TORCH_KEY_START].bits;
        bool is_end = stage.bits == reading->keys[TORCH_KEY_END].bits;
        if (!is_step(name, is_profiler) || own != device || time_us > TORCH_MAX_US)
            continue;
        if (time_us < 0) { /* a step that the first event is in begins with it */
            last_ps = is_profiler && is_begin ? 0 : -1;
            continue;
        }
        int64_t time_ps = time_us * TORCH_PS_PER_US;
        if (is_profiler ? is_end && last_ps >= 0 : is_begin && last_ps >= 0) {
            steps[found] = (struct trace_step){(int64_t)found, -1, (int64_t)found, last_ps, time_ps};
            names[found++] = copied(reading, name);
            last_ps = -1;
        }
        last_ps = is_begin ? time_ps : last_ps;
    }
    return found;
}

static void steps_take(struct torch_reading *reading, struct pickle_value root)
{
    size_t count;
    struct memory_events *out = reading->out;
    struct pickle_value list = torch_reading_get(reading, root, TORCH_KEY_external_annotations);
    pickle_value_items(reading->pickle, list, &count);
    struct trace_step *steps = arena_array(reading->arena, struct trace_step, count + 1);
    struct str *names = arena_array(reading->arena, struct str, count + 1);
    out->step_count = steps_read(reading, root, true, steps, names);
    uint64_t odd_times = reading->odd_counts[TORCH_KEY_time_us], odd_devices = reading->odd_counts[TORCH_KEY_device];
    if (out->step_count == 0)
        out->step_count = steps_read(reading, root, false, steps, names);
    reading->odd_counts[TORCH_KEY_time_us] = odd_times; /* they are the same ones */
    reading->odd_counts[TORCH_KEY_device] = odd_devices;
    out->steps = steps;
    out->step_names = names;
    for (size_t i = 0, at = 0; i < out->count && out->step_count > 0; i++) {
        int64_t time = COLUMN_AT(&out->offset_ps, int64_t, i);
        while (at > 0 && steps[at].begin_ps > time) /* another device begins again */
            at--;
        while (at + 1 < out->step_count && steps[at + 1].begin_ps <= time)
            at++;
        bool is_inside = steps[at].begin_ps <= time && time <= steps[at].end_ps;
        COLUMN_AT(&out->step, int32_t, i) = is_inside ? (int32_t)at : -1;
        out->has_steps |= is_inside;
    }
}

/* ---- what cannot be ---- */

/* If all segments with a device have the same one, those without get it too; else they keep none. */
static void segment_devices_settle(struct torch_reading *reading)
{
    int64_t device = TORCH_UNKNOWN_DEVICE;
    bool is_one = true;
    for (size_t i = 0; i < reading->segments.count; i++) {
        int64_t own = CHUNKS_AT(&reading->segments, struct torch_segment, i).device;
        is_one &= own == TORCH_UNKNOWN_DEVICE || device == TORCH_UNKNOWN_DEVICE || own == device;
        device = own == TORCH_UNKNOWN_DEVICE ? device : own;
    }
    for (size_t i = 0; i < table_count(&reading->traces) && device == TORCH_UNKNOWN_DEVICE && is_one; i++)
        device = reading->devices[i] >= 0 ? reading->devices[i] : device;
    for (size_t i = 0; i < reading->segments.count && is_one; i++) {
        int64_t *own = &CHUNKS_AT(&reading->segments, struct torch_segment, i).device;
        *own = *own == TORCH_UNKNOWN_DEVICE ? device : *own;
    }
}

void torch_events_odd_words(struct torch_snapshot *snapshot, const char *const *keys, const uint64_t *odd_counts,
                            size_t count, struct arena *arena)
{
    const char *words = "";
    for (size_t i = 0; i < count; i++) {
        if (odd_counts[i] == 0)
            continue;
        snapshot->odd_count += odd_counts[i];
        words = arena_format(arena, "%s%s%s (%llu)", words, *words == '\0' ? "" : ", ", keys[i],
                             (unsigned long long)odd_counts[i]);
    }
    snapshot->odd_words = words;
}

static void odd_words_make(struct torch_reading *reading)
{
    static const char *const WORDS[] = {
#define KEY(word) #word,
        TORCH_KEYS(KEY)
#undef KEY
    };
    torch_events_odd_words(reading->snapshot, WORDS, reading->odd_counts, TORCH_KEY_COUNT, reading->arena);
}

void torch_events_finish(struct torch_reading *reading, struct pickle_value root)
{
    struct memory_events *out = reading->out;
    devices_find(reading, root);
    segment_devices_settle(reading);
    pools_number(reading);
    if (reading->out->count == 0)
        torch_end_take(reading);
    pools_name(reading);
    torch_times_set(reading);
    rows_take(reading);
    torch_levels_set(reading);
    events_take(reading);
    frames_take(reading);
    stacks_take(reading);
    whats_take(reading);
    settings_take(reading, root);
    steps_take(reading, root);
    odd_words_make(reading);
    if (out->count > 0)
        memory_reading_columns_trim(out);
    module_launches_init(&out->launches, reading->arena);
    out->piece_count = 1;
    out->capture.start_ns = reading->snapshot->has_times ? (uint64_t)out->origin_ns : 0;
    out->snapshot = reading->snapshot;
}
