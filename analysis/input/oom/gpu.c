/* SPDX-License-Identifier: Apache-2.0
 * gpu.c: XLA on GPUs: the status texts of its allocators, and the buffer assignment
 * that is printed behind them. */
#include "input/oom/cursor.h"
#include "input/oom/entry.h"
#include "input/oom/handlers.h"

#include <ctype.h>

enum { NEAR = 16 << 10, TABLE = 800, PAYLOAD = 400 };

#define FIGURE_OF(failure, name) (&(failure)->figures[OOM_##name])

/* A number of bytes or a printed size. */
static bool amount_take(const struct oom_text *text, size_t *at, struct oom_figure *figure)
{
    return oom_cursor_take_size(text, at, figure) || oom_cursor_take_number(text, at, figure);
}

/* "[executable_name='jit_f']" in the status' payloads, which come in any order. */
size_t oom_gpu_payload(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    size_t next = at, from, status = at;
    bool has_other = oom_cursor_find(text, &status, "RESOURCE_EXHAUSTED", PAYLOAD);
    if (!oom_cursor_find(text, &next, "executable_name='", PAYLOAD) || (has_other && next > status))
        return at;
    from = next;
    if (!oom_cursor_skip_to(text, &next, "'", PAYLOAD))
        return at;
    oom_draft_name(reader, &failure->module, from, next);
    return next + 1;
}

/* "Reported by CUDA: Free memory/Total memory: F/T" */
static size_t there_read(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure free_memory, total;
    size_t next = at;
    if (!oom_cursor_find(text, &next, "Freememory/Totalmemory:", 80) ||
        !oom_cursor_take_number(text, &next, &free_memory) || !oom_cursor_take(text, &next, "/") ||
        !oom_cursor_take_number(text, &next, &total))
        return at;
    *FIGURE_OF(failure, free_bytes) = free_memory;
    *FIGURE_OF(failure, capacity_bytes) = total;
    return next;
}

/* "failed to allocate 154.06GiB (165425291480 bytes) from device: HIP_ERROR_OutOfMemory": the driver's line before the status. */
static size_t driver_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure figure;
    size_t cause;
    if (!amount_take(text, &at, &figure))
        return 0;
    if (oom_cursor_take(text, &at, "("))
        amount_take(text, &at, &figure);
    cause = at;
    if (!oom_cursor_find(text, &cause, "ERROR_", 60) ||
        (!oom_cursor_take(text, &cause, "OutOfMemory") && !oom_cursor_take(text, &cause, "OUT_OF_MEMORY")))
        return 0;
    struct oom_failure *failure = oom_draft_begin(reader, OOM_FAMILY_gpu_xla, "driver", from, cause);
    *FIGURE_OF(failure, needed_bytes) = figure;
    size_t host = at;
    if (oom_cursor_find(text, &host, "host", 30))
        failure->memory_space.text = STR("host");
    reader->draft.is_weak = true;
    return oom_draft_reach(reader, there_read(reader, cause, failure));
}

/* ---- the buffer assignment ---- */

static size_t stats_read(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    static const struct {
        const char *name;
        enum oom_figure_at figure;
    } rows[] = {
        {"parameterallocation:", OOM_arguments_bytes},
        {"maybe_live_outallocation:", OOM_output_bytes},
        {"preallocatedtempallocation:", OOM_program_bytes},
        {"totalallocation:", OOM_total_bytes},
        {"preallocatedtempfragmentation:", OOM_temporary_fragmentation_bytes},
        {"totalfragmentation:", OOM_fragmentation_bytes},
    };
    size_t end = at;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct oom_figure figure;
        size_t next = at;
        if (!oom_cursor_find(&reader->text, &next, rows[i].name, TABLE) ||
            !oom_cursor_take_size(&reader->text, &next, &figure))
            continue;
        failure->figures[rows[i].figure] = figure;
        end = next > end ? next : end;
    }
    return end;
}

static size_t assignment_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    if (!oom_draft_takes(reader, OOM_FAMILY_gpu_xla, from, NEAR))
        oom_draft_begin(reader, OOM_FAMILY_gpu_xla, "assignment", from, at);
    reader->draft.is_weak = false;
    struct oom_failure *failure = &reader->draft.failure;
    if (failure->lists[OOM_ALLOCATIONS].count > 0)
        return oom_draft_reach(reader, at);
    at = stats_read(reader, at, failure);
    size_t next = at;
    if (oom_cursor_find(text, &next, "Peakbuffers:", 200))
        at = oom_entry_list(reader, next, OOM_ALLOCATIONS);
    return oom_draft_reach(reader, oom_gpu_payload(reader, at, failure));
}

const struct oom_handler oom_gpu_handlers[] = {
    {"failedtoallocate", driver_read, true},
    {"failedtoalloc", driver_read, true},
    {"BufferAssignmentOOMDebugging", assignment_read, true},
    {NULL, NULL, false},
};
