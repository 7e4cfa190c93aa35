/* SPDX-License-Identifier: Apache-2.0
 * bfc.c: the dump of the BFC allocator, in its wordings since 2017. It can be
 * as long as there are chunks; each line is added to sums and forgotten. */
#include "read/oom/cursor.h"
#include "read/oom/handlers.h"
#include "read/oom/patterns.h"

#include <ctype.h>

enum { NEAR = 64 << 10, SENTENCE = 500, TABLE = 800, LINE = 200 };

#define NO_LIMIT_BYTES (UINT64_C(1) << 60)
#define FIGURE_OF(failure, name) (&(failure)->figures[OOM_##name])

static bool amount_take(const struct oom_text *text, size_t *at, struct oom_figure *figure)
{
    return oom_cursor_take_size(text, at, figure) || oom_cursor_take_number(text, at, figure);
}

static bool is_harmless(const struct oom_text *text, size_t at)
{
    size_t next = at, other = at;
    return oom_cursor_find(text, &next, "indicatesthatthisisnotafailure", SENTENCE) &&
           !(oom_cursor_find(text, &other, "ranoutofmemorytryingtoallocate", SENTENCE) && other < next);
}

/* JAX names no operation behind "requested by op", and has TensorFlow's files as "external/org_tensorflow/…". */
static bool is_of_tensorflow(const struct oom_text *text, size_t from, size_t at)
{
    static const char *const files[] = {" tensorflow/", "local_tsl/", "local_xla/"};
    size_t raw = text->raw_of[from], begin = raw, op = at;
    while (begin > 0 && raw - begin < LINE && text->raw[begin - 1] != '\n')
        begin--;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (memmem(text->raw + begin, raw - begin, files[i], strlen(files[i])) != NULL)
            return true;
    return oom_cursor_find(text, &op, "requestedbyop", 40) && op < text->length && !oom_text_is_line_begin(text, op) &&
           isalpha((unsigned char)text->bytes[op]);
}

/* "Allocator (NAME) ran out of memory trying to allocate H (rounded to N)…" */
static size_t allocator_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure figure;
    size_t name = at, end = at;
    if (!oom_cursor_find(text, &at, ")ranoutofmemorytryingtoallocate", 80) || !amount_take(text, &at, &figure))
        return 0;
    end = at - 1;
    if (is_harmless(text, at)) {
        oom_report_outside(reader);
        return at;
    }
    end = name;
    oom_cursor_skip_to(text, &end, ")", 80);
    struct oom_failure *failure = oom_draft_begin(reader, OOM_FAMILY_gpu_bfc, "bfc", from, at);
    reader->draft.is_weak = true;
    oom_draft_name(reader, &failure->device, name, end);
    *FIGURE_OF(failure, needed_bytes) = figure;
    size_t next = at;
    if (oom_cursor_find(text, &next, "(roundedto", 4) && oom_cursor_take_number(text, &next, &figure)) {
        reader->draft.rounded_bytes = figure.is_known ? figure.value : 0;
        if (figure.is_known)
            *FIGURE_OF(failure, needed_bytes) = figure;
        at = next;
    }
    if (is_of_tensorflow(text, from, at))
        failure->framework = OOM_FRAMEWORK_tensorflow;
    return oom_draft_reach(reader, at);
}

static bool dump_takes(struct oom_reader *reader, size_t from)
{
    if (!oom_draft_takes(reader, OOM_FAMILY_gpu_bfc, from, NEAR))
        return false;
    reader->draft.has_dump = true;
    reader->draft.is_weak = false;
    return true;
}

/* A dump whose first lines are lost. */
static void dump_open(struct oom_reader *reader, size_t from, size_t at)
{
    if (dump_takes(reader, from))
        return;
    oom_draft_begin(reader, OOM_FAMILY_gpu_bfc, "bfc", from, at);
    reader->draft.has_dump = true;
}

static size_t dump_read(struct oom_reader *reader, size_t from, size_t at)
{
    size_t end = at, name;
    dump_open(reader, from, at);
    oom_cursor_take_word(&reader->text, &end, &name);
    if (reader->draft.failure.device.text.data == NULL)
        oom_draft_name(reader, &reader->draft.failure.device, at, end);
    return oom_draft_reach(reader, at);
}

/* "InUse at 7f0c of size N next K"; "Free  at …"; "Chunk at 0x… of size N". */
static bool chunk_take(struct oom_reader *reader, size_t from, size_t *at, struct oom_figure *figure)
{
    size_t next = *at;
    if (!oom_cursor_find(&reader->text, &next, "ofsize", 40) || !oom_cursor_take_number(&reader->text, &next, figure) ||
        !figure->is_known)
        return false;
    dump_open(reader, from, *at);
    *at = next;
    return !reader->draft.is_dump_over;
}

static size_t used_read(struct oom_reader *reader, size_t from, size_t at)
{
    struct oom_figure figure;
    if (!chunk_take(reader, from, &at, &figure))
        return 0;
    reader->draft.chunks.used_count++;
    reader->draft.chunks.used_bytes += figure.value;
    return oom_draft_reach(reader, at);
}

static size_t free_read(struct oom_reader *reader, size_t from, size_t at)
{
    struct oom_figure figure;
    struct oom_chunks *chunks = &reader->draft.chunks;
    if (!chunk_take(reader, from, &at, &figure))
        return 0;
    chunks->free_count++;
    chunks->free_bytes += figure.value;
    if (!chunks->largest_free.is_known || figure.value > chunks->largest_free.value)
        chunks->largest_free = figure;
    return oom_draft_reach(reader, at);
}

/* ---- the pool and its statistics ---- */

/* A limit of 0, or of all that a counter can hold, is none. */
static size_t limit_check(struct oom_reader *reader, size_t at)
{
    struct oom_figure *limit = FIGURE_OF(&reader->draft.failure, capacity_bytes);
    if (limit->is_known && (limit->value == 0 || limit->value >= NO_LIMIT_BYTES))
        *limit = (struct oom_figure){.is_known = false};
    return at;
}

/* One line: "Total bytes in pool: A memory_limit_: B available bytes: C curr_region_allocation_bytes_: D". */
static size_t pool_read(struct oom_reader *reader, size_t from, size_t at)
{
    if (!dump_takes(reader, from))
        return 0;
    return oom_draft_reach(reader, limit_check(reader, oom_pattern_add(reader, at, OOM_LINE_bfc_pool)));
}

/* "Allocator memory summary: rounded request R, total free in pool F, largest free chunk usable by lower end L,
 * unallocated bytes U, pool size S, pool limit M" */
static size_t summary_read(struct oom_reader *reader, size_t from, size_t at)
{
    dump_open(reader, from, at);
    return oom_draft_reach(reader, limit_check(reader, oom_pattern_add(reader, at, OOM_LINE_bfc_summary)));
}

/* "Stats:", then a name and a number a line. A LargestFreeBlock of 0 was never computed. */
static size_t stats_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure figure, *kept = &reader->draft.failure.figures[OOM_largest_free_bytes];
    size_t limit = at, largest = at;
    if (!oom_cursor_find(text, &limit, "Limit:", 60))
        return 0;
    if (oom_draft_takes(reader, OOM_FAMILY_gpu_xla, from,
                        NEAR)) /* of an allocator that leaves the pool to the driver */
        return oom_draft_reach(reader, oom_pattern_add(reader, at, OOM_LINE_async_stats));
    dump_open(reader, from, at);
    reader->draft.is_dump_over = true;
    if (oom_cursor_find(text, &largest, "LargestFreeBlock:", TABLE) && amount_take(text, &largest, &figure) &&
        figure.is_known && figure.value > 0 && !kept->is_known)
        *kept = figure;
    return oom_draft_reach(reader, limit_check(reader, oom_pattern_add(reader, at, OOM_LINE_bfc_stats)));
}

const struct oom_handler oom_bfc_handlers[] = {
    {"Allocator(", allocator_read, true},
    {"BFCAllocatordumpfor", dump_read, false},
    {"InUseat", used_read, false},
    {"Chunkat", used_read, false},
    {"Freeat", free_read, false},
    {"Totalbytesinpool:", pool_read, false},
    {"Totalsizeinpool:", pool_read, false},
    {"total_region_allocated_bytes_:", pool_read, false},
    {"Allocatormemorysummary:", summary_read, false},
    {"Stats:", stats_read, false},
    {NULL, NULL, false},
};
