/* SPDX-License-Identifier: Apache-2.0
 * report.c: the long report of TPU compilers: totals, requirement, both lists.
 * A compile that succeeds logs the same lines, so alone they are no failure. */
#include "read/oom/cursor.h"
#include "read/oom/entry.h"
#include "read/oom/handlers.h"
#include "read/oom/patterns.h"

enum { NEAR = 8 << 10, TABLE = 400 };

void oom_report_outside(struct oom_reader *reader) { reader->report_line_count++; }

/* Does the section at clean byte `from` about the space [word, word_end) belong to the draft? */
static bool is_of_draft(struct oom_reader *reader, size_t from, size_t word, size_t word_end)
{
    const struct oom_failure *failure = &reader->draft.failure;
    const struct oom_words *space = &failure->memory_space;
    if (!oom_draft_takes(reader, OOM_FAMILY_tpu_compile, from, NEAR) || failure->form == NULL ||
        strcmp(failure->form, "report") != 0)
        return false;
    if (word_end == word || space->text.data == NULL)
        return true;
    return str_equal_any_case(space->text, (struct str){reader->text.bytes + word, word_end - word});
}

/* A word that is followed by `literal`: the name of a memory space. */
static bool space_take(const struct oom_text *text, size_t *at, size_t *word, size_t *word_end, const char *literal)
{
    size_t end = *at;
    if (!oom_cursor_find(text, &end, literal, 24))
        return false;
    *word = *at;
    *word_end = end - strlen(literal);
    *at = end;
    return true;
}

/* "Total hbm usage >= T:  reserved R  program P  arguments Q" */
static size_t total_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t word, word_end;
    if (!space_take(text, &at, &word, &word_end, "usage>="))
        return 0;
    if (!is_of_draft(reader, from, word, word_end)) {
        oom_report_outside(reader);
        return at;
    }
    return oom_draft_reach(reader, oom_pattern_add(reader, at, OOM_LINE_report_total));
}

/* "Output size O; shares S with arguments." or "Output size unknown." */
static size_t output_read(struct oom_reader *reader, size_t from, size_t at)
{
    if (!is_of_draft(reader, from, 0, 0)) {
        oom_report_outside(reader);
        return at;
    }
    return oom_draft_reach(reader, oom_pattern_add(reader, at, OOM_LINE_report_output));
}

/* "Program hbm requirement P: … HLO temp X (… F% fragmentation (c))" */
static size_t requirement_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t word, word_end;
    if (!space_take(text, &at, &word, &word_end, "requirement"))
        return 0;
    if (!is_of_draft(reader, from, word, word_end)) {
        oom_report_outside(reader);
        return at;
    }
    at = oom_pattern_add(reader, at, OOM_LINE_report_requirement);
    size_t next = at, stop = at;
    bool is_stopped =
        oom_cursor_find(text, &stop, "allocationsin", TABLE) || oom_cursor_find(text, &stop, "Largestprogram", TABLE);
    if (oom_cursor_find(text, &next, "HLOtemp", TABLE) && (!is_stopped || next < stop))
        at = oom_pattern_add(reader, next, OOM_LINE_report_fragmentation);
    return oom_draft_reach(reader, at);
}

static size_t list_read(struct oom_reader *reader, size_t from, size_t at, enum oom_list list)
{
    size_t word, word_end = at;
    oom_cursor_take_word(&reader->text, &word_end, &word);
    if (!is_of_draft(reader, from, word, word_end))
        return at;
    reader->draft.failure.lists[list].is_stated = true;
    return oom_draft_reach(reader, oom_entry_list(reader, word_end, list));
}

static size_t allocations_read(struct oom_reader *reader, size_t from, size_t at)
{
    return list_read(reader, from, at, OOM_ALLOCATIONS);
}

/* "No allocations in hbm": a list of none. */
static size_t no_allocations_read(struct oom_reader *reader, size_t from, size_t at)
{
    if (!is_of_draft(reader, from, 0, 0))
        return at;
    reader->draft.failure.lists[OOM_ALLOCATIONS].is_stated = true;
    return oom_draft_reach(reader, at);
}

static size_t arguments_read(struct oom_reader *reader, size_t from, size_t at)
{
    return list_read(reader, from, at, OOM_ARGUMENTS_AND_OUTPUTS);
}

static bool is_fuller(const struct oom_usage *a, const struct oom_usage *b)
{
    bool is_hbm = str_equal(a->memory_space.text, STR("hbm")), was_hbm = str_equal(b->memory_space.text, STR("hbm"));
    if (!b->used.is_known || is_hbm != was_hbm)
        return !b->used.is_known || is_hbm;
    return a->used.value > b->used.value;
}

/* "XLA::TPU program HBM usage: 52.5K / 31.25G": what a good compile says. HBM counts before on-chip memory. */
static size_t usage_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct oom_usage usage = {.used = {.is_known = false}};
    size_t word, word_end, next = at;
    (void)from;
    oom_report_outside(reader);
    if (!space_take(text, &next, &word, &word_end, "usage:") || !oom_cursor_take_size(text, &next, &usage.used) ||
        !oom_cursor_take(text, &next, "/") || !oom_cursor_take_size(text, &next, &usage.capacity))
        return at;
    static const char *const names[] = {"hbm", "vmem", "smem", "cmem", "sflag"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_equal_any_case((struct str){text->bytes + word, word_end - word}, str_of(names[i])))
            usage.memory_space.text = str_of(names[i]);
    if (is_fuller(&usage, &reader->usage))
        reader->usage = usage;
    return next;
}

const struct oom_handler oom_report_handlers[] = {
    {"Total", total_read, false},
    {"Outputsize", output_read, false},
    {"Program", requirement_read, false},
    {"Largestprogramallocationsin", allocations_read, false},
    {"Largestprogramargumentsandoutputsin", arguments_read, false},
    {"Noallocationsin", no_allocations_read, false},
    {"XLA::TPUprogram", usage_read, false},
    {NULL, NULL, false},
};
