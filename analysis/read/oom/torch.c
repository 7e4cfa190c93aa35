/* SPDX-License-Identifier: Apache-2.0
 * torch.c: what PyTorch's allocators say behind "Tried to allocate …", in the wordings of all backends since 2018.
 * Clauses come and go and change their places, so each is known by its own words, wherever it stands. */
#include "base/sum.h"
#include "read/oom/cursor.h"
#include "read/oom/handlers.h"

enum { CLAUSES = 40, PRIVATE_POOLS = 60, PROCESSES = 16 };

#define FIGURE_OF(failure, name) (&(failure)->figures[OOM_##name])

/* "Process 20398 has 3.44 GiB memory in use", as they come. */
struct processes {
    struct oom_figure items[PROCESSES];
    size_t count;
};

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

static uint64_t value_of(const struct oom_failure *failure, enum oom_figure_at at)
{
    return failure->figures[at].is_known ? failure->figures[at].value : 0;
}

/* In a container a process does not know its own number, and lists itself: then the list and what it holds are together
 * more than there is. Its own is the least that holds as much as its allocator does; `count`: none is. */
static size_t own_process(const struct oom_failure *failure, const struct processes *processes)
{
    uint64_t own = sum_add_unsigned(value_of(failure, OOM_allocated_bytes), value_of(failure, OOM_unallocated_bytes)),
             sum = own;
    size_t found = processes->count;
    for (size_t i = 0; i < processes->count; i++)
        sum = sum_add_unsigned(sum, processes->items[i].value);
    if (failure->figures[OOM_process_bytes].is_known || own == 0 || sum <= value_of(failure, OOM_capacity_bytes))
        return found;
    for (size_t i = 0; i < processes->count; i++)
        if (sum_add_unsigned(processes->items[i].value, processes->items[i].value / 100) >= own &&
            (found == processes->count || processes->items[i].value < processes->items[found].value))
            found = i;
    return found;
}

static void processes_set(struct oom_failure *failure, const struct processes *processes)
{
    size_t own = own_process(failure, processes);
    for (size_t i = 0; i < processes->count; i++)
        if (i == own)
            *FIGURE_OF(failure, process_bytes) = processes->items[i];
        else
            others_add(failure, &processes->items[i]);
}

/* A size between words: "and 2.31 GiB is reserved by PyTorch but unallocated". What stands before it may be nothing.
 * "30.96 MiB cached" was until 2020 what is kept and not given out; "reserved in total by PyTorch" is all that it has.
 * "1.05 GiB allowed" is a fraction that the program set: the capacity then. */
static const struct clause {
    const char *before, *behind;
    enum oom_figure_at figure; /* OOM_FIGURE_COUNT: of no use */
} clauses[] = {
    {"hasatotalcapacityof", "", OOM_capacity_bytes},
    {"GPUhasatotalcapacityof", "", OOM_capacity_bytes},
    {"Processhas", "memoryinuse", OOM_process_bytes},
    {"hasatotalcapactyof", "", OOM_capacity_bytes},
    {"ofwhich", "isfree", OOM_free_bytes},
    {"Includingnon-PyTorchmemory,thisprocesshas", "memoryinuse", OOM_process_bytes},
    {"Oftheallocatedmemory", "isallocatedby", OOM_allocated_bytes},
    {"with", "allocatedinprivatepools", OOM_FIGURE_COUNT},
    {"and", "isreservedbyPyTorchbutunallocated", OOM_unallocated_bytes},
    {"", "isreservedbyPyTorchbutunallocated", OOM_unallocated_bytes},
    {"", "totalcapacity", OOM_capacity_bytes},
    {"", "alreadyallocated", OOM_allocated_bytes},
    {"", "free", OOM_free_bytes},
    {"", "cached", OOM_unallocated_bytes},
    {"", "reserved", OOM_reserved_bytes},
    {"", "allowed", OOM_capacity_bytes},
    {"", "currentactive", OOM_FIGURE_COUNT},
};

static bool clause_take(const struct oom_text *text, size_t *at, const struct clause *clause,
                        struct oom_failure *failure)
{
    struct oom_figure figure;
    size_t end = *at;
    if (!oom_cursor_take(text, &end, clause->before) || !oom_cursor_take_size(text, &end, &figure) ||
        !oom_cursor_take(text, &end, clause->behind))
        return false;
    if (clause->figure < OOM_FIGURE_COUNT)
        failure->figures[clause->figure] = figure;
    failure->has_own_limit = failure->has_own_limit || strcmp(clause->behind, "allowed") == 0;
    *at = end;
    return true;
}

static bool process_take(const struct oom_text *text, size_t *at, struct processes *processes)
{
    struct oom_figure number, figure;
    size_t end = *at;
    if (!oom_cursor_take(text, &end, "Process") || !oom_cursor_take_number(text, &end, &number) ||
        !oom_cursor_take(text, &end, "has") || !oom_cursor_take_size(text, &end, &figure) ||
        !oom_cursor_take(text, &end, "memoryinuse"))
        return false;
    if (processes->count < PROCESSES && figure.is_known)
        processes->items[processes->count++] = figure;
    *at = end;
    return true;
}

/* "GPU 0", "NPU 3": what all else is of. */
static bool device_take(struct oom_reader *reader, size_t *at, struct oom_failure *failure)
{
    static const char *const kinds[] = {"GPU", "gpu", "NPU", "XPU", "MLU", "DCU", "MUSA", "device"};
    struct oom_figure number;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t end = *at;
        if (!oom_cursor_take(&reader->text, &end, kinds[i]))
            continue;
        size_t digits = end;
        if (!oom_cursor_take_number(&reader->text, &end, &number))
            continue;
        oom_draft_name(reader, &failure->device, digits, end);
        *at = end;
        return true;
    }
    return false;
}

/* What stands between clauses: signs, whose allocator it is, and "(e.g., CUDA Graphs)". */
static size_t between_skip(const struct oom_text *text, size_t at)
{
    static const char *const names[] = {"intotal", "byPyTorch", "bypytorch", "PyTorch"};
    size_t end = at;
    if (oom_cursor_take(text, &end, "(e.g.") && oom_cursor_skip_to(text, &end, ")", PRIVATE_POOLS))
        return end + 1;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        oom_cursor_take(text, &at, names[i]);
    while (at < text->length && text->bytes[at] != '\0' && strchr(".;,()", text->bytes[at]) != NULL &&
           strncmp(text->bytes + at, "(e.g.", 5) != 0)
        at++;
    return at;
}

size_t oom_torch_rest(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    struct processes processes = {.count = 0};
    size_t last = at;
    for (size_t i = 0; i < CLAUSES; i++) {
        at = between_skip(text, at);
        bool is_taken = device_take(reader, &at, failure) || process_take(text, &at, &processes);
        for (size_t c = 0; c < sizeof(clauses) / sizeof(clauses[0]) && !is_taken; c++)
            is_taken = clause_take(text, &at, &clauses[c], failure);
        if (is_taken)
            last = at;
        else if (between_skip(text, at) == at)
            break;
    }
    processes_set(failure, &processes);
    return last;
}

/* "PyTorch limit (set by user-supplied memory fraction) : 12.00 GiB": what the process may have, unless it is so much
 * that it is none. */
size_t oom_torch_limit(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    struct oom_figure figure;
    size_t end = at;
    const struct oom_figure *capacity = FIGURE_OF(failure, capacity_bytes);
    if (!oom_cursor_find(&reader->text, &end, "memoryfraction):", PRIVATE_POOLS) ||
        !oom_cursor_take_size(&reader->text, &end, &figure))
        return at;
    if (figure.is_known && (!capacity->is_known || figure.value < capacity->value)) {
        *FIGURE_OF(failure, capacity_bytes) = figure;
        failure->has_own_limit = true;
    }
    return end;
}
