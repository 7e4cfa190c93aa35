/* SPDX-License-Identifier: Apache-2.0
 * notes.c: see notes.h. */
#include "model/memory_profile/notes.h"

#include "base/size_text.h"
#include "base/sum.h"
#include "model/memory_profile/held_blocks.h"
#include "read/torch/torch_snapshot.h"
#include "read/trace/memory_pieces.h"

enum { RECORDER_EVENTS = 1000000 };
#define UNPARSED                                                                                                       \
    "Memory events whose figures are in a name (MemoryAllocation#key=value,...#) that is cut or longer than 4 kB: "    \
    "they are left out."
_Static_assert(MEMORY_LINES_MAX == 1048576, "as the note says");
static const int64_t JUMP_PS = INT64_C(3600) * 1000000000000;

static uint64_t host_events(const struct memory_profile *profile)
{
    uint64_t count = 0;
    for (size_t i = 0; i < profile->events.line_count; i++)
        count += profile->events.lines[i].event_count;
    return count;
}

/* Lines with memory events whose start differs from the first such line's. */
static uint64_t other_bases(const struct memory_profile *profile, struct arena *arena)
{
    struct arena *scratch = arena_child(arena);
    bool *has_memory = arena_array(scratch, bool, profile->events.line_count + 1);
    int64_t base = 0;
    uint64_t count = 0;
    for (uint32_t i = 0; i < profile->count; i++)
        has_memory[profile->line[i]] = true;
    bool has_base = false;
    for (size_t i = 0; i < profile->events.line_count; i++) {
        if (!has_memory[i])
            continue;
        base = has_base ? base : profile->events.lines[i].timestamp_ns;
        has_base = true;
        count += profile->events.lines[i].timestamp_ns != base;
    }
    arena_free(scratch);
    return count;
}

/* Bytes that blocks of the device hold at the end, as they were asked for. */
static int64_t active_at_end(const struct memory_profile_pool *pool)
{
    const struct torch_snapshot *snapshot = pool->profile->events.snapshot;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < snapshot->block_count; i++) {
        const struct torch_block *block = &snapshot->blocks[i];
        bytes = sum_add(bytes, memory_profile_held_blocks_is_end(pool, block) ? block->requested_bytes : 0);
    }
    return bytes;
}

/* The curve is the sum of what is open at each event, and ends at the blocks that are active at the end: where it does
 * not, by how much. */
static void note_curve(struct memory_profile *profile, const struct memory_profile_pool *pool, struct arena *arena)
{
    char size[SIZE_TEXT_BYTES];
    int64_t by = memory_profile_in_use_bytes(profile, pool->first + pool->count - 1) - active_at_end(pool);
    if (by == 0)
        return;
    size_text(size, by < 0 ? (uint64_t)-by : (uint64_t)by);
    memory_profile_note(&profile->notes, "curve_end", (uint64_t)(by < 0 ? -by : by),
                        arena_format(arena,
                                     "The curve of %.*s ends %s %s the blocks that are active at the end: events are "
                                     "missing, or do not match the blocks.",
                                     (int)pool->name.length, pool->name.data, size, by > 0 ? "above" : "below"));
}

/* Notes on an allocator snapshot of PyTorch. */
static void notes_snapshot(struct memory_profile *profile, struct arena *arena)
{
    const struct torch_snapshot *snapshot = profile->events.snapshot;
    struct memory_profile_notes *notes = &profile->notes;
    uint64_t oom_count = 0, unknown_count = 0;
    for (uint32_t p = 0; p < profile->pool_count; p++) {
        oom_count += profile->pools[p].failure_count;
        for (uint32_t i = 0; i < profile->pools[p].failure_count; i++)
            unknown_count += profile->pools[p].failures[i].kind == PROFILE_FAILURE_UNKNOWN;
    }
    memory_profile_note(notes, "out_of_memory", oom_count,
                        "Requests that failed because memory ran out (action oom) during the recording.");
    memory_profile_note(
        notes, "failure_without_segments", unknown_count,
        "Failed requests for which the free memory in segments is not known: the snapshot does not "
        "contain the segments, or more requests failed than are examined; the latest ones are examined.");
    memory_profile_note(notes, "failure_without_history", snapshot->lone_failure_count,
                        "Failed requests on devices without any recorded allocation or free: they are in no "
                        "curve, and left out.");
    memory_profile_note(
        notes, "no_times", !snapshot->has_times && profile->count > 0,
        "The snapshot has no times (PyTorch before 2.1, or a setting): events are drawn one microsecond "
        "apart, in their order.");
    for (uint32_t p = 0; p < profile->pool_count; p++)
        if (profile->pools[p].torch.is_known && snapshot->segment_count > 0)
            note_curve(profile, &profile->pools[p], arena);
    memory_profile_note(
        notes, "time_back", snapshot->time_back_count,
        "Events with an earlier time than the event before them; they are drawn at that event's time, in "
        "the order in which the allocator wrote them.");
    memory_profile_note(notes, "unknown_action", snapshot->unknown_action_count,
                        "Events with an unknown action, or with none; they are left out.");
    memory_profile_note(notes, "odd_value", snapshot->odd_count,
                        arena_format(arena, "Impossible values of %s: each counts as not known, and the rest is read.",
                                     snapshot->odd_words));
    memory_profile_note(
        notes, "free_size_differs", snapshot->free_size_count,
        "Frees whose size differs from the allocation at their address (memory or a segment): the allocated "
        "size counts.");
    memory_profile_note(
        notes, "told_elsewhere", snapshot->found_count,
        "Sizes and addresses that are missing in events, or impossible: they are taken from the free, the "
        "allocation or the block that belongs to the event.");
    memory_profile_note(
        notes, "reserved_unknown", snapshot->low_reserved_count,
        "Events after which less is reserved than in use, according to the segment events: the reserved memory "
        "there counts as not known.");
    memory_profile_note(notes, "damaged_snapshot", snapshot->damaged_count,
                        "Frames, blocks and levels that do not match the rest of the snapshot; they are left out.");
}

/* Why a file that is cut has no curve; NULL: that is not why. */
static const char *cut_reason(const struct memory_events *events, struct arena *arena)
{
    const char *place = cut_place(&events->cut, arena);
    if (!events->has_host_plane)
        return arena_format(arena, "%s, before the events of the host.", place);
    if (!events->lacks_names)
        return NULL;
    if (events->untold_count > 0)
        return arena_format(arena,
                            "%s: %llu memory events came before, but the names of their figures came after them.",
                            place, (unsigned long long)events->untold_count);
    return arena_format(arena, "%s: %llu events of the host came before, but their names came after them.", place,
                        (unsigned long long)events->unnamed_count);
}

static void notes_cut(struct memory_profile *profile, struct arena *arena)
{
    const struct memory_events *events = &profile->events;
    struct memory_profile_notes *notes = &profile->notes;
    memory_profile_note(notes, "cut", 1, cut_sentence(&events->cut, arena));
    if (profile->count == 0)
        profile->cut_reason = cut_reason(events, arena);
    memory_profile_note(notes, "unnamed_event", events->unnamed_count,
                        "Events of the host whose names came after them and are missing; they are left out.");
    memory_profile_note(
        notes, "untold_event", events->untold_count,
        "Memory events whose figures have no names, because the names came after them and are missing; they "
        "are left out.");
    memory_profile_note(notes, "lost_text", events->lost_text_count,
                        "Texts of memory events (ops, allocators, shapes) that came after them and are missing; they "
                        "count as not known.");
    memory_profile_note(notes, "unnamed_launch", events->launches.unnamed_count,
                        "Launches of modules whose names came after them and are missing; they are left out.");
}

void memory_profile_notes_file(struct memory_profile *profile, struct arena *arena)
{
    const struct memory_events *events = &profile->events;
    struct memory_profile_notes *notes = &profile->notes;
    if (events->cut.is)
        notes_cut(profile, arena);
    memory_profile_note(notes, "damaged_event", events->damaged_count + events->launches.damaged_count,
                        "Events, lines or names that do not decode; they are left out.");
    memory_profile_note(notes, "aggregated_event", events->aggregated_count,
                        "Memory events without their own time (aggregated counts); they are left out.");
    memory_profile_note(
        notes, "encoded_event", events->encoded_count,
        "Memory events whose figures are in their names (MemoryAllocation#key=value,...#), because the tool "
        "that recorded them did not parse them: they are read from the names. XProf shows none of them.");
    memory_profile_note(notes, "unparsed_event", events->unparsed_count, UNPARSED);
    memory_profile_note(notes, "missing_stat", events->missing_count,
                        "Memory events without bytes in use, size or address; missing values are taken from the "
                        "events around them, else they are unknown.");
    memory_profile_note(
        notes, "absurd_size", events->absurd_count,
        "Sizes below 0 or above 2^48 in memory events, and those whose sum is above 2^59; they count as not known.");
    memory_profile_note(notes, "too_many_pools", events->pool_overflow_count,
                        "Memory events of more allocators than can be shown; they are left out.");
    memory_profile_note(notes, "too_many_lines", events->line_overflow_count,
                        "Lines of the host's plane after the first 1,048,576; they and their events are left out.");
    memory_profile_note(
        notes, "line_bases_differ", other_bases(profile, arena),
        "Lines of the trace whose time starts at another moment than the first line's; times here follow each line's "
        "own start (XProf's do not).");
    if (events->snapshot != NULL)
        notes_snapshot(profile, arena);
    uint64_t open_count = 0;
    for (uint32_t i = 0; i < profile->step_count; i++)
        open_count += profile->steps[i].end_ps > profile->recorded_ps;
    memory_profile_note(
        notes, "step_beyond_end", open_count,
        "Steps that end after the last recorded moment: what is live at their end is not known and is not counted "
        "in growth.");
    memory_profile_note(notes, "no_module_launches",
                        profile->count > 0 && events->has_gpu_plane && events->launches.items.count == 0 &&
                            !events->cut.is,
                        "No launches of modules below the curve: the GPU profiler writes no line XLA Modules, and the "
                        "kernels of this trace do not name their module.");
    memory_profile_note(
        notes, "inferred_launch", events->launches.inferred_count,
        "Launches of modules on GPUs, inferred from their kernels: a launch ends when a kernel of another module "
        "begins on its stream, or when an op repeats and another run of the host called it.");
    memory_profile_note(
        notes, "unclear_launch", events->launches.unclear_count,
        "Kernels with the same op as the kernel before them on their stream; the host does not show whether another "
        "run called them. If so, two launches are shown as one.");
    memory_profile_note(
        notes, "event_limit", host_events(profile) == RECORDER_EVENTS,
        "The trace ends at 1,000,000 events, the limit of the recorder; later allocations are not known.");
}

void memory_profile_notes_pool(struct memory_profile_pool *pool)
{
    const struct memory_profile *profile = pool->profile;
    uint64_t jumps = 0, inferred = 0;
    for (uint32_t i = pool->first; i < pool->first + pool->count; i++) {
        jumps += i > pool->first && profile->time_ps[i] - profile->time_ps[i - 1] > JUMP_PS;
        inferred += (profile->flags[i] & PROFILE_SIZE_INFERRED) != 0;
    }
    memory_profile_note(
        &pool->notes, "no_addresses", pool->is_unpaired ? pool->count : 0,
        "Events without an address, as in traces of PyTorch before 1.10: it is not known which allocation a free ends, "
        "so memory in use is shown only as one sum.");
    memory_profile_note(&pool->notes, "one_event",
                        profile->events.snapshot != NULL && pool->count == 1 &&
                            pool->allocation_count + pool->deallocation_count == 1,
                        "Only one event is recorded: the peak is that moment, and there is no curve over time.");
    bool has_totals = false;
    for (uint32_t i = pool->first; i < pool->first + pool->count && !has_totals; i++)
        has_totals = (profile->flags[i] & MEMORY_HAS_IN_USE) != 0;
    memory_profile_note(
        &pool->notes, "no_totals", has_totals || profile->events.snapshot == NULL ? 0 : pool->count,
        "Events without the memory in use after them: the curve is the sum of the events so far, from 0; what was in "
        "use before the first is not known.");
    memory_profile_note(
        &pool->notes, "chain_break", pool->break_count,
        "Events after which the bytes in use are not those before plus their size: events are missing, or "
        "their order is not known.");
    memory_profile_note(
        &pool->notes, "free_without_allocation", pool->pairs.before_window,
        "Frees whose allocation is not in the trace: it was made before the trace began, or the free has no "
        "address.");
    memory_profile_note(
        &pool->notes, "allocated_twice", pool->pairs.replaced,
        "Allocations at an address that another allocation held: the free of that one was not recorded, so it ends "
        "there.");
    memory_profile_note(&pool->notes, "size_inferred", inferred,
                        "Frees without a size, as on TPUs; their size is that of the allocation, or the change "
                        "of bytes in use.");
    memory_profile_note(&pool->notes, "clock_jump", jumps,
                        "Gaps of more than an hour between two memory events: a clock jumped, or the trace paused.");
}

struct memory_profile_reason memory_profile_notes_reason(const struct memory_profile *profile)
{
    if (profile->count > 0)
        return (struct memory_profile_reason){NULL, NULL};
    if (profile->events.snapshot != NULL && profile->events.snapshot->segment_count == 0)
        return (struct memory_profile_reason){
            "no_history",
            "The snapshot is empty: it has no segment, no allocation and no free. PyTorch's allocator held "
            "nothing on this device when it was taken."};
    if (profile->events.snapshot != NULL)
        return (struct memory_profile_reason){
            "no_history", "The snapshot has no allocations and frees, only what is in use at its end: "
                          "torch.cuda.memory._record_memory_history() records them."};
    if (profile->cut_reason != NULL)
        return (struct memory_profile_reason){"cut", profile->cut_reason};
    if (profile->events.is_empty)
        return (struct memory_profile_reason){"empty_file", "The file is empty (0 bytes): nothing was written to it."};
    if (!profile->events.has_host_plane)
        return (struct memory_profile_reason){
            "no_host_plane", "The trace has no host plane (/host:CPU), where allocators write their events."};
    if (profile->events.unparsed_count > 0)
        return (struct memory_profile_reason){"unparsed_events", UNPARSED};
    return (struct memory_profile_reason){
        "no_memory_events", "The trace has no memory events. JAX on CPU records none; on GPU and TPU they "
                            "need host tracer level 2 or higher: "
                            "options = jax.profiler.ProfileOptions(); options.host_tracer_level = 2; "
                            "jax.profiler.start_trace(\"/tmp/xprof\", profiler_options=options)"};
}

struct memory_profile_reason memory_profile_notes_finding(const struct memory_profile_pool *pool)
{
    const struct memory_profile *profile = pool->profile;
    int64_t peak = memory_profile_in_use_bytes(profile, pool->peak_at),
            min = memory_profile_in_use_bytes(profile, pool->min_at);
    bool is_flat = peak > 0 && (peak - min) <= peak / 100;
    if (is_flat && profile->events.has_tpu_plane)
        return (struct memory_profile_reason){
            "flat_line",
            "The line is flat: the TPU runtime reserves HBM at start. What fills it is in the compiler's plan."};
    if (is_flat)
        return (struct memory_profile_reason){
            "flat_line", "The line is flat: what fills this memory was allocated before the trace began."};
    return (struct memory_profile_reason){NULL, NULL};
}
