/* SPDX-License-Identifier: Apache-2.0
 * notes.c: see notes.h. */
#include "plan/notes.h"

#include "base/size_text.h"
#include "plan/program_arrays.h"
#include "read/hlo/hlo_parts.h"

enum { FIXED_NOTES = 23, NOTES_PER_SPACE = 6 };

static void notes_add_one(struct plan *plan, const char *code, uint64_t count, const char *text)
{
    if (count > 0)
        plan->notes[plan->note_count++] = (struct note){code, count, text};
}

const char *notes_replay_failure(const struct plan *plan, const struct plan_space *space, struct arena *arena)
{
    static const char *const reasons[] = {
        [HEAP_FREED_TOO_OFTEN] = "it is freed more often than it is used",
        [HEAP_NEGATIVE] = "more is freed than was allocated",
        [HEAP_BAD_KIND] = "the kind of event is not known",
        [HEAP_BAD_SHARING] = "it shares memory in a circle",
        [HEAP_TOO_LARGE] = "the sum does not fit into 64 bits",
    };
    if (space->heap.failure == HEAP_FINE || space->trace_at == PLAN_NONE)
        return NULL;
    const struct hlo_event *event =
        &plan->hlo.events[plan->hlo.traces[space->trace_at].event_first + space->heap.failure_at];
    return arena_format(
        arena, "Buffer %lld in event %u of heap trace %u: %s; the curve ends there, totals and sizes are still right.",
        (long long)event->buffer_id, space->heap.failure_at, space->trace_at, reasons[space->heap.failure]);
}

/* Which allocations the replay of the space moves: one mark per allocation. */
static bool *allocations_moved(const struct plan *plan, const struct plan_space *space, struct arena *arena)
{
    bool *moved = arena_array(arena, bool, (size_t)plan->hlo.allocation_count + 1);
    for (uint32_t i = 0; i < space->heap.hold_count; i++)
        moved[plan->hlo.buffers[space->heap.holds[i].root_at].allocation_at] = true;
    return moved;
}

static void space_notes(struct plan *plan, const struct plan_space *space, struct arena *arena)
{
    const char *name = space->name;
    const char *failure = notes_replay_failure(plan, space, arena);
    if (failure != NULL)
        notes_add_one(plan, "replay_failed", 1, arena_format(arena, "%s: %s", name, failure));
    if (space->heap.unknown_count > 0)
        notes_add_one(plan, "unknown_buffers_in_trace", space->heap.unknown_count,
                      arena_format(arena,
                                   "%s: %u events name buffers without allocation or instruction; they are ignored.",
                                   name, space->heap.unknown_count));
    notes_add_one(
        plan, "mended_events", space->mended_event_count,
        arena_format(
            arena,
            "%s: events of the heap trace whose kind is lost: an event that names a buffer to share with is read as "
            "sharing, a second allocation of a buffer that is never freed is read as its free.",
            name));
    const bool *moved = allocations_moved(plan, space, arena);
    uint32_t touched = 0, untouched = 0; /* untouched: temporary ones that the replay says nothing about */
    for (uint32_t i = 0; i < plan->hlo.allocation_count; i++) {
        const struct hlo_allocation *allocation = &plan->hlo.allocations[i];
        touched += moved[i];
        untouched += allocation->color == space->space && !plan_is_indefinite(allocation) &&
                     allocation->size_bytes > 0 && !moved[i];
    }
    if (touched > 1)
        notes_add_one(plan, "several_allocations_in_trace", touched,
                      arena_format(arena,
                                   "%s: one heap trace moves buffers of %u allocations; XProf refuses such a program.",
                                   name, touched));
    if (untouched > 0)
        notes_add_one(
            plan, "allocations_without_trace", untouched,
            arena_format(arena,
                         "%s: %u temporary allocations have no heap trace; they are in the total, not in the curve.",
                         name, untouched));
    int64_t temporary = space->total_bytes - space->indefinite_bytes;
    if (space->unit == PLAN_UNIT_HEAP_TRACE && space->heap.peak_bytes > temporary)
        notes_add_one(
            plan, "replay_above_allocation", 1,
            arena_format(arena,
                         "%s: the replay reaches %s in allocations of %s: frees are recorded after the allocations "
                         "that reuse their space. The allocation is the true limit.",
                         name, size_text((char[SIZE_TEXT_BYTES]){0}, (uint64_t)space->heap.peak_bytes),
                         size_text((char[SIZE_TEXT_BYTES]){0}, (uint64_t)temporary)));
}

void notes_build(struct plan *plan, struct arena *arena)
{
    const struct hlo *hlo = &plan->hlo;
    size_t max = FIXED_NOTES + (size_t)plan->space_count * NOTES_PER_SPACE;
    plan->notes = arena_array(arena, struct note, max);
    if (!hlo->has_assignment)
        notes_add_one(plan, "no_buffer_assignment", 1,
                      plan->unplanned != NULL ? plan->unplanned->sentence : PROGRAM_ARRAYS_NOTHING);
    notes_add_one(
        plan, "no_heap_trace", (hlo->lacks & HLO_LACKS_HEAP_TRACE) != 0,
        hlo->lacks & HLO_LACKS_MODULE
            ? "The buffer assignment is a text and its module is missing: sizes and offsets are exact, but the "
              "lifetimes of values are not known, so there is a total but no curve."
            : "The buffer assignment is a text, which contains no heap trace: sizes and offsets are exact, the curve "
              "is computed from the schedule and live ranges.");
    notes_add_one(
        plan, "no_module", (hlo->lacks & HLO_LACKS_MODULE) != 0,
        hlo->lacks & HLO_LACKS_NAMES
            ? "The file is only a buffer assignment: it numbers instructions but does not name them. With the module "
              "next to it (compiled.as_text(), or the HloModuleProto) names, shapes and lines of code are shown."
            : "The module of this buffer assignment is not next to it: operations, lines of code and categories "
              "are not known.");
    notes_add_one(
        plan, "other_assignment", (hlo->lacks & HLO_LACKS_MATCH) != 0,
        "The buffer assignment next to the module numbers instructions that are not in it: it belongs to another "
        "program, or the module is a text, which has no numbers. It was ignored.");
    notes_add_one(
        plan, "unread_numbers", (hlo->lacks & HLO_LACKS_NUMBERS) != 0,
        "The text has numbers or shapes that cannot be read, or names that are never defined: they are not known, "
        "and sizes that depend on them come from other places or count as 0.");
    notes_add_one(plan, "absurd_sizes", plan->insane_size_count,
                  "Sizes and offsets below 0 or above 256 TiB, and sizes whose sum is above 2 EiB, count as 0.");
    notes_add_one(
        plan, "mended_sizes", plan->mended_size_count,
        "Sizes of buffers and allocations that contradict each other: a buffer gets the size of its allocation "
        "if its own is larger, and an allocation is as large as its buffers.");
    notes_add_one(plan, "unknown_unpadded_size", plan->unknown_size_count,
                  "Buffers whose shape has no size (unbounded, damaged or of an unknown type) count as unpadded.");
    notes_add_one(
        plan, "assigned_without_buffer", hlo->assigned_without_buffer_count,
        "Allocations name logical buffers that are not in the file; their space counts in the totals, without a name.");
    notes_add_one(
        plan, "buffer_without_instruction", hlo->buffer_without_instruction_count,
        "Logical buffers are defined by instructions that are not in the file; they are left out of the curve.");
    notes_add_one(plan, "duplicate_buffers", hlo->duplicate_buffer_count,
                  "Logical buffers share an id; the last one counts.");
    notes_add_one(plan, "duplicate_instructions", hlo->duplicate_instruction_count,
                  "Instructions share an id; the last one counts.");
    notes_add_one(plan, "long_backend_configs", hlo->long_config_count,
                  "Backend configurations above 4 MiB are not searched for scoped memory.");
    notes_add_one(
        plan, "untold_readers", plan->untold_count,
        "Buffers have more readers than are followed; their category depends on the readers that were followed.");
    notes_add_one(plan, "hidden_spaces", plan->hidden_space_count, "Memory spaces beyond the first 64 are not shown.");
    for (uint32_t i = 0; i < plan->space_count; i++)
        space_notes(plan, &plan->spaces[i], arena);
}
