/* SPDX-License-Identifier: Apache-2.0
 * torch_snapshot.c: the dicts of a snapshot become rows as they come. */
#include "read/torch/torch_snapshot.h"

#include "read/torch/torch_reading.h"
#include "read/torch/torch_values.h"

enum { NOT_TOLD = -1 };

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

/* ---- events ---- */

static bool has(const struct torch_reading *reading, struct pickle_value dict, enum torch_key key)
{
    return torch_reading_is_there(reading, torch_reading_get(reading, dict, key));
}

/* A size that can be one; else NOT_TOLD. */
static int64_t size_of(struct torch_reading *reading, struct pickle_value dict, enum torch_key key)
{
    int64_t size = torch_reading_int(reading, dict, key, 0, SUM_MAX_BYTES, NOT_TOLD);
    if (size >= 0 && reading->sum_bytes <= MEMORY_MAX_BYTES - size) {
        reading->sum_bytes += size;
        return size;
    }
    reading->out->absurd_count++;
    return NOT_TOLD;
}

static uint32_t trace_of(struct torch_reading *reading, uint32_t list)
{
    const uint64_t key = list;
    return table_number_near(&reading->traces, &key, 1, &reading->last_trace);
}

static int64_t time_of(struct torch_reading *reading, struct pickle_value dict)
{
    int64_t time_us = torch_reading_int(reading, dict, TORCH_KEY_time_us, 0, TORCH_MAX_TIME_US, NOT_TOLD);
    bool is_odd = time_us == NOT_TOLD && has(reading, dict, TORCH_KEY_time_us);
    return is_odd ? TORCH_ODD_TIME : time_us;
}

/* The free of this list that was requested by the event before; of size NOT_TOLD: none was. */
static struct torch_event *asked_of(struct torch_reading *reading, uint32_t trace)
{
    reading->asked = arena_grown(reading->scratch, reading->asked, (size_t)trace + 1, &reading->asked_capacity,
                                 sizeof(*reading->asked));
    while (reading->asked_count <= trace)
        reading->asked[reading->asked_count++].size_bytes = NOT_TOLD;
    return &reading->asked[trace];
}

static void row_add(struct torch_reading *reading, struct pickle_value dict, uint32_t trace, bool is_free)
{
    struct memory_events *out = reading->out;
    const struct torch_event *asked = asked_of(reading, trace);
    uint64_t what[3] = {torch_stacks_of(reading, torch_reading_get(reading, dict, TORCH_KEY_frames)),
                        torch_reading_text(reading, dict, TORCH_KEY_compile_context),
                        torch_reading_text(reading, dict, TORCH_KEY_user_metadata)};
    uint64_t address = torch_reading_address(reading, dict, TORCH_KEY_addr);
    int64_t size_bytes = size_of(reading, dict, TORCH_KEY_size);
    if (is_free && asked->size_bytes > 0 && (address == 0 || address == asked->address || asked->address == 0)) {
        reading->snapshot->found_count += (address == 0 ? 1U : 0U) + (size_bytes == NOT_TOLD ? 1U : 0U);
        address = address == 0 ? asked->address : address;
        size_bytes = size_bytes == NOT_TOLD ? asked->size_bytes : size_bytes;
    }
    if (out->count == out->offset_ps.capacity)
        memory_reading_columns_grow(out);
    size_t at = out->count++;
    COLUMN_AT(&out->offset_ps, int64_t, at) = time_of(reading, dict);
    COLUMN_AT(&out->in_use_bytes, int64_t, at) = 0; /* once it is known what there was at the end */
    COLUMN_AT(&out->size_bytes, int64_t, at) = size_bytes == NOT_TOLD ? 0 : size_bytes;
    COLUMN_AT(&out->address, uint64_t, at) = address;
    COLUMN_AT(&out->what, uint32_t, at) = table_number_near(&reading->whats, what, 3, &reading->last_what);
    COLUMN_AT(&out->figures, uint32_t, at) = 0;
    COLUMN_AT(&out->step, int32_t, at) = -1;
    COLUMN_AT(&out->pool, uint16_t, at) = (uint16_t)trace;
    COLUMN_AT(&out->flags, uint8_t, at) =
        (uint8_t)((size_bytes == NOT_TOLD ? 0 : MEMORY_HAS_SIZE | MEMORY_HAS_REQUESTED) |
                  (address == 0 ? 0 : MEMORY_HAS_ADDRESS) | MEMORY_HAS_IN_USE | (is_free ? MEMORY_FREED : 0));
}

/* What no event of a snapshot has its own of: pages that nothing is written to take no memory. */
static void columns_blank(struct memory_events *out)
{
    out->requested_bytes.is_blank = true; /* it is the size */
    out->fragmentation.is_blank = true;
    out->line.is_blank = true; /* there is one */
}

/* False: the word is no action. */
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
        if (torch_reading_is_word(reading, word, words[i]))
            return true;
    }
    return false;
}

static int64_t device_free_of(struct torch_reading *reading, struct pickle_value dict)
{
    return torch_reading_int(reading, dict, TORCH_KEY_device_free, 0, SUM_MAX_BYTES, MEMORY_UNKNOWN);
}

static int64_t stream_of(struct torch_reading *reading, struct pickle_value dict)
{
    return torch_reading_int(reading, dict, TORCH_KEY_stream, 0, TORCH_MAX_ADDRESS, 0);
}

static struct torch_event event_of(struct torch_reading *reading, struct pickle_value dict, uint32_t trace,
                                   enum torch_action action, int64_t size_bytes)
{
    return (struct torch_event){
        .offset_ps = time_of(reading, dict),
        .size_bytes = size_bytes,
        .device_free_bytes = action == TORCH_OOM ? device_free_of(reading, dict) : MEMORY_UNKNOWN,
        .stream = stream_of(reading, dict),
        .address = (uint64_t)torch_reading_int(reading, dict, TORCH_KEY_addr, INT64_MIN, INT64_MAX, 0),
        .stack = torch_stacks_of(reading, torch_reading_get(reading, dict, TORCH_KEY_frames)),
        .event_at = (uint32_t)reading->out->count,
        .pool = (uint16_t)trace,
        .action = action,
    };
}

static void event_add(struct torch_reading *reading, struct pickle_value dict, uint32_t trace, enum torch_action action)
{
    int64_t size_bytes = action == TORCH_SNAPSHOT ? 0 : size_of(reading, dict, TORCH_KEY_size);
    size_bytes = size_bytes == NOT_TOLD ? 0 : size_bytes;
    CHUNKS_ADD(&reading->events, struct torch_event, event_of(reading, dict, trace, action, size_bytes));
}

/* ---- frees that wait for a stream ---- */

/* Nearly every request is completed by the very next event of its device: it is no event of its own then. */
static void asked_settle(struct torch_reading *reading, uint32_t trace, bool is_completed)
{
    struct torch_event *asked = asked_of(reading, trace);
    if (asked->size_bytes != NOT_TOLD && !is_completed)
        CHUNKS_ADD(&reading->events, struct torch_event, *asked);
    asked->size_bytes = NOT_TOLD;
}

static void asked_set(struct torch_reading *reading, struct pickle_value dict, uint32_t trace)
{
    int64_t size_bytes = torch_reading_int(reading, dict, TORCH_KEY_size, 0, SUM_MAX_BYTES, 0);
    reading->snapshot->free_requested_count++;
    *asked_of(reading, trace) = event_of(reading, dict, trace, TORCH_FREE_REQUESTED, size_bytes);
}

/* The free that was requested right before; also where one of both tells no address. */
static bool is_completed(struct torch_reading *reading, struct pickle_value dict, struct pickle_value word,
                         uint32_t trace)
{
    int64_t address;
    const struct torch_event *asked = asked_of(reading, trace);
    bool is_told = pickle_value_int(reading->pickle, torch_reading_get(reading, dict, TORCH_KEY_addr), &address) &&
                   address > 0 && address <= TORCH_MAX_ADDRESS;
    return torch_reading_is_word(reading, word, TORCH_KEY_free_completed) && asked->size_bytes != NOT_TOLD &&
           (!is_told || asked->address == 0 || asked->address == (uint64_t)address);
}

static void event_take(struct torch_reading *reading, struct pickle_value dict, struct pickle_value word, uint32_t list)
{
    enum torch_action action;
    uint32_t trace = trace_of(reading, list);
    bool ends_asked = trace < MEMORY_POOLS_MAX && is_completed(reading, dict, word, trace);
    if (trace < MEMORY_POOLS_MAX && !ends_asked)
        asked_settle(reading, trace, false);
    if (trace >= MEMORY_POOLS_MAX || reading->out->count >= UINT32_MAX / 2)
        reading->out->pool_overflow_count++;
    else if (torch_reading_is_word(reading, word, TORCH_KEY_alloc) ||
             torch_reading_is_word(reading, word, TORCH_KEY_free_completed))
        row_add(reading, dict, trace, !torch_reading_is_word(reading, word, TORCH_KEY_alloc));
    else if (torch_reading_is_word(reading, word, TORCH_KEY_free_requested))
        asked_set(reading, dict, trace);
    else if (action_of(reading, word, &action))
        event_add(reading, dict, trace, action);
    else
        reading->snapshot->unknown_action_count++;
    if (ends_asked)
        asked_settle(reading, trace, true);
}

/* ---- segments and blocks ---- */

static enum torch_state state_of(struct torch_reading *reading, struct pickle_value word)
{
    bool is_inactive = pickle_value_kind(reading->pickle, word) == PICKLE_TEXT &&
                       str_equal(pickle_value_text(reading->pickle, word), STR("inactive"));
    if (torch_reading_is_word(reading, word, TORCH_KEY_active_allocated))
        return TORCH_ACTIVE;
    bool is_pending = torch_reading_is_word(reading, word, TORCH_KEY_active_pending_free) ||
                      torch_reading_is_word(reading, word, TORCH_KEY_active_awaiting_free);
    reading->odd_counts[TORCH_KEY_state] += !is_pending && !is_inactive;
    return is_pending ? TORCH_PENDING_FREE : is_inactive ? TORCH_INACTIVE : TORCH_STATE_UNKNOWN;
}

/* Before PyTorch 2.1 a block has no size that was asked for and no frames, but a history whose first entry has both. */
static struct pickle_value history_of(const struct torch_reading *reading, struct pickle_value dict)
{
    size_t count;
    struct pickle_value history = torch_reading_get(reading, dict, TORCH_KEY_history);
    const struct pickle_value *items = pickle_value_items(reading->pickle, history, &count);
    return count > 0 ? items[0] : history;
}

/* For a block or a segment, which has only a stack. */
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
        .address = torch_reading_address(reading, dict, TORCH_KEY_address),
        .size_bytes = size_of(reading, dict, TORCH_KEY_size),
        .requested_bytes =
            torch_reading_int(reading, dict, TORCH_KEY_requested_size, 0, SUM_MAX_BYTES,
                              torch_reading_int(reading, history, TORCH_KEY_real_size, 0, SUM_MAX_BYTES, NOT_TOLD)),
        .stack = torch_stacks_of(reading, frames),
        .segment = UINT32_MAX,
        .state = state_of(reading, torch_reading_get(reading, dict, TORCH_KEY_state)),
    };
    block.what = what_of_stack(reading, block.state == TORCH_INACTIVE ? TORCH_NO_STACK : block.stack);
    CHUNKS_ADD(&reading->blocks, struct torch_block, block);
    return (uint32_t)reading->blocks.count - 1;
}

static int64_t pool_id_part(struct torch_reading *reading, struct pickle_value dict, size_t part)
{
    size_t count;
    int64_t number;
    struct pickle_value id = torch_reading_get(reading, dict, TORCH_KEY_segment_pool_id);
    const struct pickle_value *items = pickle_value_items(reading->pickle, id, &count);
    bool is_told = count == 2 && pickle_value_int(reading->pickle, items[part], &number) && number >= 0;
    reading->odd_counts[TORCH_KEY_segment_pool_id] +=
        !is_told && part == 0 && pickle_value_kind(reading->pickle, id) != PICKLE_NONE;
    return is_told ? number : 0;
}

/* UNKNOWN_DEVICE: it says one that cannot be. */
static int64_t device_of(struct torch_reading *reading, struct pickle_value dict)
{
    bool is_there_any = torch_reading_is_there(reading, torch_reading_get(reading, dict, TORCH_KEY_device));
    return torch_reading_int(reading, dict, TORCH_KEY_device, 0, MEMORY_POOLS_MAX - 1,
                             is_there_any ? TORCH_UNKNOWN_DEVICE : 0);
}

/* Blocks came in the order of their list, right before the segment that has the list. */
static uint32_t segment_take(struct torch_reading *reading, struct pickle_value dict)
{
    size_t count;
    bool is_expandable = false;
    const struct pickle_value *items =
        pickle_value_items(reading->pickle, torch_reading_get(reading, dict, TORCH_KEY_blocks), &count);
    uint32_t at = (uint32_t)reading->segments.count;
    struct pickle_value expandable = torch_reading_get(reading, dict, TORCH_KEY_is_expandable),
                        type = torch_reading_get(reading, dict, TORCH_KEY_segment_type);
    reading->odd_counts[TORCH_KEY_is_expandable] +=
        !pickle_value_bool(expandable, &is_expandable) && torch_reading_is_there(reading, expandable);
    reading->odd_counts[TORCH_KEY_segment_type] += torch_reading_is_there(reading, type) &&
                                                   !torch_reading_is_word(reading, type, TORCH_KEY_large) &&
                                                   !torch_reading_is_word(reading, type, TORCH_KEY_small);
    struct torch_segment segment = {
        .address = torch_reading_address(reading, dict, TORCH_KEY_address),
        .total_bytes = size_of(reading, dict, TORCH_KEY_total_size),
        .allocated_bytes = torch_reading_int(reading, dict, TORCH_KEY_allocated_size, 0, SUM_MAX_BYTES, NOT_TOLD),
        .active_bytes = torch_reading_int(reading, dict, TORCH_KEY_active_size, 0, SUM_MAX_BYTES, NOT_TOLD),
        .device = device_of(reading, dict),
        .stream = stream_of(reading, dict),
        .stack = torch_stacks_of(reading, torch_reading_get(reading, dict, TORCH_KEY_frames)),
        .pool_id = {pool_id_part(reading, dict, 0), pool_id_part(reading, dict, 1)},
        .first_block = UINT32_MAX,
        .is_large = torch_reading_is_word(reading, type, TORCH_KEY_large),
        .is_expandable = is_expandable,
    };
    segment.what = what_of_stack(reading, segment.stack);
    for (size_t i = 0; i < count; i++) {
        uint32_t number = torch_taken_number(pickle_value_taken(reading->pickle, items[i]), TORCH_TAKEN_BLOCK);
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
    }
    torch_blocks_settle(reading, &segment);
    CHUNKS_ADD(&reading->segments, struct torch_segment, segment);
    return at;
}

/* the whole snapshot */

/* Without its action; what a block's history has tells an address, too. */
static bool is_event(const struct torch_reading *reading, struct pickle_value dict)
{
    return has(reading, dict, TORCH_KEY_device_free) ||
           (has(reading, dict, TORCH_KEY_addr) && has(reading, dict, TORCH_KEY_size));
}

static bool is_frame(const struct torch_reading *reading, struct pickle_value dict)
{
    return has(reading, dict, TORCH_KEY_filename) ||
           (has(reading, dict, TORCH_KEY_line) && has(reading, dict, TORCH_KEY_name));
}

static bool is_block(const struct torch_reading *reading, struct pickle_value dict)
{
    return has(reading, dict, TORCH_KEY_state) ||
           (has(reading, dict, TORCH_KEY_address) && has(reading, dict, TORCH_KEY_size));
}

static bool torch_snapshot_take(void *context, struct pickle *pickle, struct pickle_value dict, uint32_t list,
                                uint32_t *number)
{
    struct torch_reading *reading = context;
    if (reading->pickle == NULL)
        keys_make(reading, pickle);
    struct pickle_value action = torch_reading_get(reading, dict, TORCH_KEY_action);
    enum torch_taken kind;
    uint32_t taken;
    if (torch_reading_is_there(reading, action) || is_event(reading, dict)) {
        event_take(reading, dict, action, list);
        *number = PICKLE_GONE; /* the lists of events are not used again */
        return true;
    }
    if (is_frame(reading, dict)) {
        kind = TORCH_TAKEN_FRAME;
        taken = torch_stacks_frame(reading, dict);
    } else if (torch_reading_is_there(reading, torch_reading_get(reading, dict, TORCH_KEY_blocks))) {
        kind = TORCH_TAKEN_SEGMENT;
        taken = segment_take(reading, dict);
    } else if (is_block(reading, dict)) {
        kind = TORCH_TAKEN_BLOCK;
        taken = block_take(reading, dict);
    } else {
        return false;
    }
    if (taken >= TORCH_TAKEN_MAX)
        err_set(pickle_err(pickle), ERR_limit, pickle_at(pickle), "more things than can be counted");
    *number = torch_taken_as(kind, taken);
    return true;
}

/* A snapshot is a dict; before PyTorch 1.14 it was the list of its segments. */
static bool is_snapshot(const struct torch_reading *reading, struct pickle_value root)
{
    size_t count;
    if (reading->pickle == NULL)
        return false;
    if (torch_reading_is_there(reading, torch_reading_get(reading, root, TORCH_KEY_segments)) ||
        torch_reading_is_there(reading, torch_reading_get(reading, root, TORCH_KEY_device_traces)))
        return true;
    const struct pickle_value *items = pickle_value_items(reading->pickle, root, &count);
    uint32_t taken = count > 0 ? pickle_value_taken(reading->pickle, items[0]) : UINT32_MAX;
    return torch_taken_number(taken, TORCH_TAKEN_SEGMENT) != UINT32_MAX;
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
    if (!torch_values_read(source, torch_snapshot_take, reading, reading->scratch, &values, err))
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
