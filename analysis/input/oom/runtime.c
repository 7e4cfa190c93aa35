/* SPDX-License-Identifier: Apache-2.0
 * runtime.c: what the TPU runtime says when a buffer or a program finds no place. */
#include "input/oom/cursor.h"
#include "input/oom/handlers.h"

#include <ctype.h>

enum { BEFORE = 220, NEAR = 16 << 10, BLOCK = 600 };

#define FIGURE_OF(failure, name) (&(failure)->figures[OOM_##name])

/* "(0x1x0_HBM0)": coordinates of the chip, then the memory. */
static size_t device_read(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    size_t begin = at, end, space;
    if (!oom_cursor_find(text, &begin, "(", 60))
        return at;
    end = begin;
    if (!oom_cursor_skip_to(text, &end, "_)", 24) || text->bytes[end] != '_' ||
        !isdigit((unsigned char)text->bytes[begin]))
        return at;
    space = end + 1;
    while (space < text->length && isalpha((unsigned char)text->bytes[space]))
        space++;
    oom_draft_lower(reader, &failure->memory_space, end + 1, space);
    if (!oom_cursor_skip_to(text, &end, ")", 16))
        return at;
    oom_draft_name(reader, &failure->device, begin, end);
    return end + 1;
}

/* "There are Y free[, W reserved, and V reservable]. [The largest contiguous region of free memory is Z due to …]" */
static size_t free_read(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure figure;
    size_t next = at;
    if (!oom_cursor_take_size(text, &next, FIGURE_OF(failure, free_bytes)) || !oom_cursor_take(text, &next, "free"))
        return at;
    at = next;
    if (oom_cursor_take(text, &next, ",") && oom_cursor_take_size(text, &next, &figure) &&
        oom_cursor_take(text, &next, "reserved")) {
        *FIGURE_OF(failure, reserved_bytes) = figure;
        at = next;
    }
    if (oom_cursor_find(text, &next, "and", 2) && oom_cursor_take_size(text, &next, &figure) &&
        oom_cursor_take(text, &next, "reservable")) {
        *FIGURE_OF(failure, available_bytes) = figure;
        at = next;
    }
    next = at;
    if (oom_cursor_find(text, &next, "contiguousregionoffreememoryis", 30))
        if (oom_cursor_take_size(text, &next, FIGURE_OF(failure, largest_free_bytes)))
            at = next;
    return at;
}

/* The name in "Error loading program 'NAME':" before clean byte `at`. */
static void program_name(struct oom_reader *reader, size_t begin, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    size_t from = begin + strlen("Errorloadingprogram"), end;
    if (!oom_cursor_take(text, &from, "'") && !oom_cursor_take(text, &from, "\""))
        return;
    end = from;
    if (oom_cursor_skip_to(text, &end, "'\"", BEFORE) && end < at)
        oom_draft_name(reader, &failure->module, from, end);
}

/* "Attempting to allocate X." or "Attempting to reserve X at the bottom of memory." */
static size_t attempt_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure needed;
    size_t loading = 0, buffer = 0;
    bool is_reserve = oom_cursor_take(text, &at, "reserve");
    if (!is_reserve && !oom_cursor_take(text, &at, "allocate"))
        return 0;
    if (!oom_cursor_take_size(text, &at, &needed))
        return 0;
    bool is_loading = oom_draft_find_before(reader, from, "Errorloadingprogram", BEFORE, &loading);
    bool is_buffer =
        oom_draft_find_before(reader, from, "Errorallocatingdevicebuffer", BEFORE / 2, &buffer) && buffer >= loading;
    is_loading = is_loading && !is_buffer;
    size_t next = at;
    bool is_refused = oom_cursor_find(text, &next, "Thatwasnotpossible.", 40);
    if (!is_refused && !is_loading && !is_buffer)
        return 0;
    enum oom_family family =
        is_loading || (is_reserve && !is_buffer) ? OOM_FAMILY_tpu_program_load : OOM_FAMILY_tpu_buffer;
    struct oom_failure *failure = oom_draft_begin(reader, family, is_reserve ? "reserve" : "allocate",
                                                  is_loading  ? loading
                                                  : is_buffer ? buffer
                                                              : from,
                                                  at);
    *FIGURE_OF(failure, needed_bytes) = needed;
    if (is_loading)
        program_name(reader, loading, from, failure);
    if (is_refused && oom_cursor_find(text, &next, "Thereare", 4))
        at = free_read(reader, next, failure);
    return oom_draft_reach(reader, device_read(reader, at, failure));
}

/* ---- the allocator's own account, which follows a refusal or stands alone ---- */

static const struct {
    const char *name;
    enum oom_figure_at figure;
} rows[] = {
    {"HBMcapacity", OOM_capacity_bytes},      {"Top-of-Memoryreserved", OOM_reserved_bytes},
    {"Currentlyallocated", OOM_total_bytes},  {"Programrequirement", OOM_requirement_bytes},
    {"Maxfreechunk", OOM_largest_free_bytes},
};

/* A size behind a name and what stands between: "HBM capacity: 16.00G", "capacity (16.00G)", "capacity = 16.00G". */
static bool row_take(const struct oom_text *text, size_t *at, struct oom_figure *figure)
{
    size_t next = *at;
    while (next < text->length && next - *at < 8 && !isdigit((unsigned char)text->bytes[next]))
        next++;
    if (!oom_cursor_take_size(text, &next, figure))
        return false;
    *at = next;
    return true;
}

static bool is_refusal_near(const struct oom_reader *reader, size_t at)
{
    return oom_draft_takes(reader, OOM_FAMILY_tpu_buffer, at, NEAR) ||
           oom_draft_takes(reader, OOM_FAMILY_tpu_program_load, at, NEAR);
}

static size_t account_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t end = at, found_count = 0;
    struct oom_figure figures[sizeof(rows) / sizeof(rows[0])] = {{.is_known = false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t next = from;
        if (!oom_cursor_find(text, &next, rows[i].name, BLOCK) || !row_take(text, &next, &figures[i]))
            continue;
        found_count++;
        end = next > end ? next : end;
    }
    bool is_near = is_refusal_near(reader, from);
    if (found_count < (is_near ? 1 : 3))
        return 0;
    if (!is_near)
        oom_draft_begin(reader, OOM_FAMILY_tpu_buffer, "account", from, end);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (figures[i].is_known && !reader->draft.failure.figures[rows[i].figure].is_known)
            reader->draft.failure.figures[rows[i].figure] = figures[i];
    return oom_draft_reach(reader, end);
}

const struct oom_handler oom_runtime_handlers[] = {
    {"Attemptingto", attempt_read, true},           {"HBMcapacity", account_read, false},
    {"Top-of-Memoryreserved", account_read, false}, {"Currentlyallocated", account_read, false},
    {"Maxfreechunk", account_read, false},          {NULL, NULL, false},
};
