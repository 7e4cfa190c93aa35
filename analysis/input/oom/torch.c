/* SPDX-License-Identifier: Apache-2.0
 * torch.c: what PyTorch's allocator says behind "Tried to allocate …", in its wordings since 2018. */
#include "input/oom/cursor.h"
#include "input/oom/handlers.h"
#include "input/oom/patterns.h"

enum { PROCESSES = 16, PROCESS_NUMBER = 12 };

#define FIGURE_OF(failure, name) (&(failure)->figures[OOM_##name])

/* "30.96 MiB cached)" until 2020: what the allocator keeps and has not given out; "14.30 GiB reserved in total by PyTorch)"
 * since: all that it has. */
static size_t reserved_read(const struct oom_text *text, size_t at, struct oom_failure *failure)
{
    struct oom_figure figure;
    size_t end = at;
    if (!oom_cursor_take_size(text, &end, &figure))
        return at;
    if (oom_cursor_take(text, &end, "cached"))
        *FIGURE_OF(failure, unallocated_bytes) = figure;
    else if (oom_cursor_take(text, &end, "reserved"))
        *FIGURE_OF(failure, reserved_bytes) = figure;
    else
        return at;
    return end;
}

/* "1.05 GiB allowed;": a fraction that the program set. It is the capacity then. */
static size_t allowed_read(const struct oom_text *text, size_t at, struct oom_failure *failure)
{
    struct oom_figure figure;
    size_t end = at;
    if (!oom_cursor_take_size(text, &end, &figure) || !oom_cursor_take(text, &end, "allowed;"))
        return at;
    *FIGURE_OF(failure, capacity_bytes) = figure;
    return end;
}

/* Adds to what other processes hold; the range goes from the first to the last of them. */
static void others_add(struct oom_failure *failure, const struct oom_figure *figure)
{
    struct oom_figure *others = FIGURE_OF(failure, others_bytes);
    if (others->length == 0) {
        *others = *figure;
        return;
    }
    others->is_known = others->is_known && figure->is_known && others->value <= UINT64_MAX - figure->value;
    others->value += figure->value;
    others->half_unit += figure->half_unit;
    others->length = (uint32_t)(figure->at + figure->length - others->at);
}

/* "Including non-PyTorch memory, this process has 3.44 GiB memory in use." and "Process 20398 has …", in any order. */
static size_t process_read(const struct oom_text *text, size_t at, struct oom_failure *failure)
{
    struct oom_figure number, figure;
    size_t end = at;
    bool is_own = oom_cursor_take(text, &end, "Includingnon-PyTorchmemory,thisprocesshas");
    if (!is_own && (!oom_cursor_take(text, &end, "Process") || !oom_cursor_take_number(text, &end, &number) ||
                    !oom_cursor_take(text, &end, "has")))
        return at;
    if (!oom_cursor_take_size(text, &end, &figure) || !oom_cursor_take(text, &end, "memoryinuse."))
        return at;
    if (is_own)
        *FIGURE_OF(failure, process_bytes) = figure;
    else
        others_add(failure, &figure);
    return end;
}

size_t oom_torch_rest(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    at = reserved_read(text, at, failure);
    at = allowed_read(text, at, failure);
    for (size_t i = 0, next; i < PROCESSES && (next = process_read(text, at, failure)) > at; i++)
        at = next;
    return oom_pattern_add(reader, at, OOM_LINE_torch_own);
}
