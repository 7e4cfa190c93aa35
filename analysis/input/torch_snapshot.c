/* SPDX-License-Identifier: Apache-2.0
 * torch_snapshot.c: the dicts of a snapshot become rows as they come. */
#include "input/torch_snapshot.h"

#include "input/torch_reading.h"
#include "input/torch_values.h"

/* What stands in the place of a dict or list that was taken: its kind in the three lowest bits, so that it is small. */
enum taken { TAKEN_FRAME, TAKEN_BLOCK, TAKEN_SEGMENT, TAKEN_STACK, TAKEN_KINDS = 8 };
#define TAKEN_MAX ((UINT32_C(1) << 29) - 1)

static uint32_t taken_as(enum taken kind, uint32_t number) { return number * TAKEN_KINDS + kind; }

/* The number of what was taken as this kind; UINT32_MAX: it is none. */
static uint32_t taken_number(uint32_t taken, enum taken kind)
{
    return taken < PICKLE_GONE && taken % TAKEN_KINDS == kind ? taken / TAKEN_KINDS : UINT32_MAX;
}

enum { MAX_STACK_FRAMES = 1 << 16 };

static const char *const WORDS[] = {
#define KEY(word) #word,
    TORCH_KEYS(KEY)
#undef KEY
};

static void keys_make(struct torch_reading *reading, struct pickle *pickle)
{
    reading->pickle = pickle;
    for (int i = 0; i < TORCH_KEY_COUNT; i++)
        reading->keys[i] = pickle_value_key(pickle, WORDS[i]);
}

static bool is_word(const struct torch_reading *reading, struct pickle_value value, enum torch_key word)
{
    return value.bits == reading->keys[word].bits;
}

/* ---- stacks ---- */

struct wanted_stack {
    const struct torch_reading *reading;
    uint32_t count;
};

static bool is_stack(const void *context, uint64_t value)
{
    const struct wanted_stack *wanted = context;
    const struct torch_reading *reading = wanted->reading;
    struct torch_stack stack = CHUNKS_AT(&reading->stacks, struct torch_stack, value);
    arena_work(reading->scratch, wanted->count / 8);
    return stack.count == wanted->count && memcmp(&COLUMN_AT(&reading->stack_frames, uint32_t, stack.first),
                                                  reading->own_frames, stack.count * sizeof(uint32_t)) == 0;
}

static uint32_t stack_add(struct torch_reading *reading, uint32_t count)
{
    struct column *column = &reading->stack_frames;
    uint32_t first = 0, at = (uint32_t)reading->stacks.count;
    if (at > 0) {
        struct torch_stack last = CHUNKS_AT(&reading->stacks, struct torch_stack, at - 1);
        first = last.first + last.count;
    }
    if (first > UINT32_MAX / 2 - count || at == TAKEN_MAX) {
        err_set(pickle_err(reading->pickle), ERR_limit, pickle_at(reading->pickle), "more frames than can be counted");
        return TORCH_NO_STACK;
    }
    if ((size_t)first + count > column->capacity)
        column_resize(column, ((size_t)first + count) * 2);
    memcpy(&COLUMN_AT(column, uint32_t, first), reading->own_frames, count * sizeof(uint32_t));
    CHUNKS_ADD(&reading->stacks, struct torch_stack, ((struct torch_stack){first, count}));
    return at;
}

/* A list of frames becomes the number of a stack, and stands for it from then on. */
static uint32_t stack_of(struct torch_reading *reading, struct pickle_value frames)
{
    struct pickle *pickle = reading->pickle;
    size_t count;
    uint32_t taken = pickle_value_taken(pickle, frames), used = 0;
    if (taken != UINT32_MAX)
        return taken_number(taken, TAKEN_STACK) < reading->stacks.count ? taken_number(taken, TAKEN_STACK)
                                                                        : TORCH_NO_STACK;
    const struct pickle_value *items = pickle_value_items(pickle, frames, &count);
    if (count == 0 || pickle_value_list_number(frames) == UINT32_MAX)
        return TORCH_NO_STACK;
    if (count > MAX_STACK_FRAMES) {
        reading->snapshot->damaged_count++;
        return TORCH_NO_STACK;
    }
    reading->own_frames =
        arena_grown(reading->scratch, reading->own_frames, count, &reading->own_frame_capacity, sizeof(uint32_t));
    for (size_t i = 0; i < count; i++) {
        uint32_t frame = taken_number(pickle_value_taken(pickle, items[i]), TAKEN_FRAME);
        bool is_frame = frame < table_count(&reading->frames);
        reading->snapshot->damaged_count += !is_frame;
        if (is_frame)
            reading->own_frames[used++] = frame;
    }
    arena_work(reading->scratch, count / 4);
    if (used == 0)
        return TORCH_NO_STACK;
    const struct wanted_stack wanted = {reading, used};
    uint64_t hash = hash_bytes((const char *)reading->own_frames, used * sizeof(uint32_t), 0);
    uint64_t found = map_find(&reading->stack_map, hash, is_stack, &wanted);
    uint32_t stack = (uint32_t)found;
    if (found == MAP_FREE) {
        stack = stack_add(reading, used);
        if (stack == TORCH_NO_STACK)
            return stack;
        map_add(&reading->stack_map, hash, stack);
    }
    pickle_take_list(pickle, frames, taken_as(TAKEN_STACK, stack));
    return stack;
}

static uint32_t frame_take(struct torch_reading *reading, struct pickle_value dict)
{
    int64_t line = torch_reading_int(reading, dict, TORCH_KEY_line, 0);
    const uint64_t key[3] = {torch_reading_get(reading, dict, TORCH_KEY_name).bits,
                             torch_reading_get(reading, dict, TORCH_KEY_filename).bits,
                             line < 0 || line > UINT32_MAX ? 0 : (uint64_t)line};
    return table_number(&reading->frames, key);
}

/* ---- events ---- */

/* A size that can be one; else 0, and it is counted. */
static int64_t size_of(struct torch_reading *reading, struct pickle_value dict, enum torch_key key)
{
    int64_t size = torch_reading_int(reading, dict, key, -1);
    if (size >= 0 && size <= SUM_MAX_BYTES && reading->sum_bytes <= MEMORY_MAX_BYTES - size) {
        reading->sum_bytes += size;
        return size;
    }
    reading->out->absurd_count++;
    return 0;
}

static uint32_t trace_of(struct torch_reading *reading, uint32_t list)
{
    const uint64_t key = list;
    return table_number_near(&reading->traces, &key, 1, &reading->last_trace);
}

static int64_t time_of(struct torch_reading *reading, struct pickle_value dict)
{
    int64_t time_us = torch_reading_int(reading, dict, TORCH_KEY_time_us, -1);
    reading->untimed_count += time_us < 0;
    return time_us < 0 ? (int64_t)(reading->out->count + reading->events.count) : time_us;
}

static void row_add(struct torch_reading *reading, struct pickle_value dict, uint32_t trace, bool is_free)
{
    struct memory_events *out = reading->out;
    uint64_t what[3] = {stack_of(reading, torch_reading_get(reading, dict, TORCH_KEY_frames)),
                        torch_reading_get(reading, dict, TORCH_KEY_compile_context).bits,
                        torch_reading_get(reading, dict, TORCH_KEY_user_metadata).bits};
    if (out->count == out->offset_ps.capacity)
        memory_reading_columns_grow(out);
    size_t at = out->count++;
    COLUMN_AT(&out->offset_ps, int64_t, at) = time_of(reading, dict);
    COLUMN_AT(&out->in_use_bytes, int64_t, at) = 0; /* once it is known what there was at the end */
    COLUMN_AT(&out->size_bytes, int64_t, at) = size_of(reading, dict, TORCH_KEY_size);
    COLUMN_AT(&out->address, uint64_t, at) = (uint64_t)torch_reading_int(reading, dict, TORCH_KEY_addr, 0);
    COLUMN_AT(&out->what, uint32_t, at) = table_number_near(&reading->whats, what, 3, &reading->last_what);
    COLUMN_AT(&out->figures, uint32_t, at) = 0;
    COLUMN_AT(&out->step, int32_t, at) = -1;
    COLUMN_AT(&out->pool, uint16_t, at) = (uint16_t)trace;
    COLUMN_AT(&out->flags, uint8_t, at) =
        MEMORY_HAS_SIZE | MEMORY_HAS_REQUESTED | MEMORY_HAS_ADDRESS | MEMORY_HAS_IN_USE | (is_free ? MEMORY_FREED : 0);
}

/* What no event of a snapshot has its own of: pages that nothing is written to take no memory. */
static void columns_blank(struct memory_events *out)
{
    out->requested_bytes.is_blank = true; /* it is the size */
    out->fragmentation.is_blank = true;
    out->line.is_blank = true; /* there is one */
}

/* False: it is none of these. */
static bool action_of(const struct torch_reading *reading, struct pickle_value word, enum torch_action *action)
{
    static const enum torch_key words[TORCH_FREE_REQUESTED] = {[TORCH_SEGMENT_ALLOC] = TORCH_KEY_segment_alloc,
                                                               [TORCH_SEGMENT_FREE] = TORCH_KEY_segment_free,
                                                               [TORCH_SEGMENT_MAP] = TORCH_KEY_segment_map,
                                                               [TORCH_SEGMENT_UNMAP] = TORCH_KEY_segment_unmap,
                                                               [TORCH_OOM] = TORCH_KEY_oom,
                                                               [TORCH_SNAPSHOT] = TORCH_KEY_snapshot};
    for (int i = 0; i < TORCH_FREE_REQUESTED; i++) {
        *action = (enum torch_action)i;
        if (is_word(reading, word, words[i]))
            return true;
    }
    return false;
}

static int64_t device_free_of(const struct torch_reading *reading, struct pickle_value dict)
{
    int64_t free_bytes = torch_reading_int(reading, dict, TORCH_KEY_device_free, -1);
    return free_bytes >= 0 && free_bytes <= SUM_MAX_BYTES ? free_bytes : MEMORY_UNKNOWN;
}

static struct torch_event event_of(struct torch_reading *reading, struct pickle_value dict, uint32_t trace,
                                   enum torch_action action, int64_t size_bytes)
{
    return (struct torch_event){
        .offset_ps = time_of(reading, dict),
        .size_bytes = size_bytes,
        .device_free_bytes = action == TORCH_OOM ? device_free_of(reading, dict) : MEMORY_UNKNOWN,
        .stream = torch_reading_int(reading, dict, TORCH_KEY_stream, 0),
        .address = (uint64_t)torch_reading_int(reading, dict, TORCH_KEY_addr, 0),
        .stack = stack_of(reading, torch_reading_get(reading, dict, TORCH_KEY_frames)),
        .event_at = (uint32_t)reading->out->count,
        .pool = (uint16_t)trace,
        .action = action,
    };
}

static void event_add(struct torch_reading *reading, struct pickle_value dict, uint32_t trace, enum torch_action action)
{
    int64_t size_bytes = action == TORCH_SNAPSHOT ? 0 : size_of(reading, dict, TORCH_KEY_size);
    CHUNKS_ADD(&reading->events, struct torch_event, event_of(reading, dict, trace, action, size_bytes));
}

/* ---- frees that wait for a stream ---- */

enum { NOT_ASKED = -1 };

static struct torch_event *asked_of(struct torch_reading *reading, uint32_t trace)
{
    reading->asked = arena_grown(reading->scratch, reading->asked, (size_t)trace + 1, &reading->asked_capacity,
                                 sizeof(*reading->asked));
    while (reading->asked_count <= trace)
        reading->asked[reading->asked_count++].size_bytes = NOT_ASKED;
    return &reading->asked[trace];
}

/* Nearly every request is completed by the very next event of its device: it is no event of its own then. */
static void asked_settle(struct torch_reading *reading, uint32_t trace, bool is_completed)
{
    struct torch_event *asked = asked_of(reading, trace);
    if (asked->size_bytes != NOT_ASKED && !is_completed)
        CHUNKS_ADD(&reading->events, struct torch_event, *asked);
    asked->size_bytes = NOT_ASKED;
}

static void asked_set(struct torch_reading *reading, struct pickle_value dict, uint32_t trace)
{
    int64_t size_bytes = torch_reading_int(reading, dict, TORCH_KEY_size, 0);
    reading->snapshot->free_requested_count++;
    size_bytes = size_bytes < 0 || size_bytes > SUM_MAX_BYTES ? 0 : size_bytes;
    *asked_of(reading, trace) = event_of(reading, dict, trace, TORCH_FREE_REQUESTED, size_bytes);
}

static bool is_completed(struct torch_reading *reading, struct pickle_value dict, struct pickle_value word,
                         uint32_t trace)
{
    return is_word(reading, word, TORCH_KEY_free_completed) &&
           asked_of(reading, trace)->address == (uint64_t)torch_reading_int(reading, dict, TORCH_KEY_addr, 0);
}

static void event_take(struct torch_reading *reading, struct pickle_value dict, struct pickle_value word, uint32_t list)
{
    enum torch_action action;
    uint32_t trace = trace_of(reading, list);
    if (trace < MEMORY_POOLS_MAX)
        asked_settle(reading, trace, is_completed(reading, dict, word, trace));
    if (trace >= MEMORY_POOLS_MAX || reading->out->count >= UINT32_MAX / 2)
        reading->out->pool_overflow_count++;
    else if (is_word(reading, word, TORCH_KEY_alloc) || is_word(reading, word, TORCH_KEY_free_completed))
        row_add(reading, dict, trace, !is_word(reading, word, TORCH_KEY_alloc));
    else if (is_word(reading, word, TORCH_KEY_free_requested))
        asked_set(reading, dict, trace);
    else if (action_of(reading, word, &action))
        event_add(reading, dict, trace, action);
    else
        reading->snapshot->unknown_action_count++;
}

/* ---- segments and blocks ---- */

static enum torch_state state_of(const struct torch_reading *reading, struct pickle_value word)
{
    if (is_word(reading, word, TORCH_KEY_active_allocated))
        return TORCH_ACTIVE;
    bool is_pending =
        is_word(reading, word, TORCH_KEY_active_pending_free) || is_word(reading, word, TORCH_KEY_active_awaiting_free);
    return is_pending ? TORCH_PENDING_FREE : TORCH_INACTIVE;
}

/* Before PyTorch 2.1 a block has no size that was asked for and no frames, but a history whose first entry has both. */
static struct pickle_value history_of(const struct torch_reading *reading, struct pickle_value dict)
{
    size_t count;
    struct pickle_value history = torch_reading_get(reading, dict, TORCH_KEY_history);
    const struct pickle_value *items = pickle_value_items(reading->pickle, history, &count);
    return count > 0 ? items[0] : history;
}

/* Of a block or a segment: nothing else is told of it. */
static uint32_t what_of_stack(struct torch_reading *reading, uint32_t stack)
{
    const struct pickle_value none = pickle_value_none();
    const uint64_t what[3] = {stack, none.bits, none.bits};
    return table_number_near(&reading->whats, what, 3, &reading->last_what);
}

static uint32_t block_take(struct torch_reading *reading, struct pickle_value dict)
{
    struct pickle_value history = history_of(reading, dict);
    struct pickle_value frames = torch_reading_get(reading, dict, TORCH_KEY_frames);
    if (pickle_value_kind(reading->pickle, frames) == PICKLE_NONE)
        frames = torch_reading_get(reading, history, TORCH_KEY_frames);
    struct torch_block block = {
        .address = (uint64_t)torch_reading_int(reading, dict, TORCH_KEY_address, 0),
        .size_bytes = size_of(reading, dict, TORCH_KEY_size),
        .stack = stack_of(reading, frames),
        .segment = UINT32_MAX,
        .state = state_of(reading, torch_reading_get(reading, dict, TORCH_KEY_state)),
    };
    int64_t requested = torch_reading_int(reading, dict, TORCH_KEY_requested_size,
                                          torch_reading_int(reading, history, TORCH_KEY_real_size, block.size_bytes));
    block.requested_bytes = requested >= 0 && requested <= block.size_bytes ? requested : block.size_bytes;
    block.what = what_of_stack(reading, block.state == TORCH_INACTIVE ? TORCH_NO_STACK : block.stack);
    CHUNKS_ADD(&reading->blocks, struct torch_block, block);
    return (uint32_t)reading->blocks.count - 1;
}

static int64_t pool_id_part(const struct torch_reading *reading, struct pickle_value dict, size_t part)
{
    size_t count;
    int64_t number;
    struct pickle_value id = torch_reading_get(reading, dict, TORCH_KEY_segment_pool_id);
    const struct pickle_value *items = pickle_value_items(reading->pickle, id, &count);
    return count == 2 && pickle_value_int(reading->pickle, items[part], &number) ? number : 0;
}

/* Blocks came in the order of their list, right before the segment that has the list. */
static uint32_t segment_take(struct torch_reading *reading, struct pickle_value dict)
{
    size_t count;
    bool is_expandable = false;
    const struct pickle_value *items =
        pickle_value_items(reading->pickle, torch_reading_get(reading, dict, TORCH_KEY_blocks), &count);
    uint32_t at = (uint32_t)reading->segments.count;
    pickle_value_bool(torch_reading_get(reading, dict, TORCH_KEY_is_expandable), &is_expandable);
    struct torch_segment segment = {
        .address = (uint64_t)torch_reading_int(reading, dict, TORCH_KEY_address, 0),
        .total_bytes = size_of(reading, dict, TORCH_KEY_total_size),
        .allocated_bytes = torch_reading_int(reading, dict, TORCH_KEY_allocated_size, 0),
        .active_bytes = torch_reading_int(reading, dict, TORCH_KEY_active_size, 0),
        .device = torch_reading_int(reading, dict, TORCH_KEY_device, 0),
        .stream = torch_reading_int(reading, dict, TORCH_KEY_stream, 0),
        .stack = stack_of(reading, torch_reading_get(reading, dict, TORCH_KEY_frames)),
        .pool_id = {pool_id_part(reading, dict, 0), pool_id_part(reading, dict, 1)},
        .first_block = UINT32_MAX,
        .is_large = is_word(reading, torch_reading_get(reading, dict, TORCH_KEY_segment_type), TORCH_KEY_large),
        .is_expandable = is_expandable,
    };
    segment.what = what_of_stack(reading, segment.stack);
    uint64_t address = segment.address;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = taken_number(pickle_value_taken(reading->pickle, items[i]), TAKEN_BLOCK);
        bool is_block = number < reading->blocks.count;
        struct torch_block *block = is_block ? chunks_at(&reading->blocks, number) : NULL;
        if (block == NULL || block->segment != UINT32_MAX ||
            (segment.block_count > 0 && number != segment.first_block + segment.block_count)) {
            reading->snapshot->damaged_count++;
            continue;
        }
        segment.first_block = segment.block_count == 0 ? number : segment.first_block;
        segment.block_count++;
        block->segment = at;
        block->address = block->address != 0 ? block->address : address;
        address = block->address + (uint64_t)block->size_bytes;
    }
    CHUNKS_ADD(&reading->segments, struct torch_segment, segment);
    return at;
}

/* ---- all of it ---- */

static bool is_there(const struct torch_reading *reading, struct pickle_value value)
{
    return pickle_value_kind(reading->pickle, value) != PICKLE_NONE;
}

static bool take(void *context, struct pickle *pickle, struct pickle_value dict, uint32_t list, uint32_t *number)
{
    struct torch_reading *reading = context;
    if (reading->pickle == NULL)
        keys_make(reading, pickle);
    struct pickle_value action = torch_reading_get(reading, dict, TORCH_KEY_action);
    enum taken kind;
    uint32_t taken;
    if (is_there(reading, action)) {
        event_take(reading, dict, action, list);
        *number = PICKLE_GONE; /* nobody asks for the lists of events again */
        return true;
    }
    if (is_there(reading, torch_reading_get(reading, dict, TORCH_KEY_filename))) {
        kind = TAKEN_FRAME;
        taken = frame_take(reading, dict);
    } else if (is_there(reading, torch_reading_get(reading, dict, TORCH_KEY_blocks))) {
        kind = TAKEN_SEGMENT;
        taken = segment_take(reading, dict);
    } else if (is_there(reading, torch_reading_get(reading, dict, TORCH_KEY_state))) {
        kind = TAKEN_BLOCK;
        taken = block_take(reading, dict);
    } else {
        return false;
    }
    if (taken >= TAKEN_MAX)
        err_set(pickle_err(pickle), ERR_limit, pickle_at(pickle), "more things than can be counted");
    *number = taken_as(kind, taken);
    return true;
}

/* A snapshot is a dict; before PyTorch 1.14 it was the list of its segments. */
static bool is_snapshot(const struct torch_reading *reading, struct pickle_value root)
{
    size_t count;
    if (reading->pickle == NULL)
        return false;
    if (is_there(reading, torch_reading_get(reading, root, TORCH_KEY_segments)) ||
        is_there(reading, torch_reading_get(reading, root, TORCH_KEY_device_traces)))
        return true;
    const struct pickle_value *items = pickle_value_items(reading->pickle, root, &count);
    uint32_t taken = count > 0 ? pickle_value_taken(reading->pickle, items[0]) : UINT32_MAX;
    return taken_number(taken, TAKEN_SEGMENT) != UINT32_MAX;
}

static void reading_init(struct torch_reading *reading, struct arena *arena, struct memory_events *out)
{
    struct arena *scratch = arena_child(arena);
    *reading = (struct torch_reading){.arena = arena, .scratch = scratch, .out = out};
    reading->snapshot = arena_array(arena, struct torch_snapshot, 1);
    table_init(&reading->frames, scratch, 3);
    table_init(&reading->whats, scratch, 3);
    table_init(&reading->traces, scratch, 1);
    map_init(&reading->stack_map, scratch, 64);
    column_init(&reading->stack_frames, arena, sizeof(uint32_t));
    chunks_init(&reading->stacks, scratch, sizeof(struct torch_stack));
    chunks_init(&reading->blocks, scratch, sizeof(struct torch_block));
    chunks_init(&reading->segments, scratch, sizeof(struct torch_segment));
    chunks_init(&reading->events, scratch, sizeof(struct torch_event));
}

bool torch_snapshot_read(const struct source *source, struct arena *arena, struct memory_events *out, struct err *err)
{
    struct torch_reading *reading = arena_array(arena, struct torch_reading, 1);
    struct torch_values values = {.form = TORCH_FORM_NONE};
    *out = (struct memory_events){.count = 0};
    memory_reading_columns_init(out, arena);
    columns_blank(out);
    reading_init(reading, arena, out);
    if (!torch_values_read(source, take, reading, reading->scratch, &values, err))
        return false;
    if (reading->pickle == NULL)
        keys_make(reading, values.pickle);
    if (!is_snapshot(reading, values.root))
        return err_set(err, ERR_unsupported, 0,
                       "%s, but no allocator snapshot of PyTorch: it has no segments and no device_traces",
                       values.form == TORCH_FORM_JSON ? "JSON" : "a pickle");
    for (uint32_t trace = 0; trace < reading->asked_count; trace++)
        asked_settle(reading, trace, false);
    torch_events_finish(reading, values.root);
    arena_free(reading->scratch);
    return true;
}
