/* SPDX-License-Identifier: Apache-2.0
 * compile.c: sentences of TPU compilers, of all releases. */
#include "read/oom/cursor.h"
#include "read/oom/entry.h"
#include "read/oom/handlers.h"
#include "read/oom/patterns.h"

enum { SENTENCE = 400, INSTRUCTION = 32 << 10 };

#define FIGURE_OF(failure, name) (&(failure)->figures[OOM_##name])

/* ---- Ran out of memory in memory space … ---- */

/* "while allocating on stack for %NAME = SHAPE op(…)…. Scoped allocation with size A and limit B exceeded … by C." */
size_t oom_compile_scoped(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    struct oom_buffer *buffer = oom_draft_buffer(reader, OOM_ALLOCATIONS);
    size_t end = at, shape = at, from, metadata = at;
    if (oom_cursor_find(text, &shape, "=", 200) && oom_entry_take_shape(text, &shape, &from)) {
        oom_draft_shape(reader, &buffer->shape, from, shape);
        buffer->is_shape_of_result = true;
    }
    bool has_size = oom_cursor_find(text, &end, "Scopedallocationwithsize", INSTRUCTION);
    size_t label_end = has_size ? end - strlen("Scopedallocationwithsize") : shape;
    if (has_size && label_end > at + 1 && text->bytes[label_end - 1] == '.' && text->bytes[label_end - 2] != '.')
        label_end--;
    oom_draft_words(reader, &buffer->label, at, label_end - at > 1024 ? at + 1024 : label_end);
    /* From a frame number alone no place is known; such an operator stays in the label. */
    if (oom_cursor_find(text, &metadata, "metadata={", label_end > at ? label_end - at : 0)) {
        struct oom_buffer operator= {.size = {.is_known = false} };
        oom_entry_operator(reader, metadata, &operator);
        if (operator.source_file.text.data != NULL) {
            buffer->op_name = operator.op_name;
            buffer->source_file = operator.source_file;
            buffer->source_line = operator.source_line;
        }
    }
    if (!has_size)
        return label_end;
    end = oom_pattern_add(reader, end, OOM_LINE_scoped);
    buffer->size = *FIGURE_OF(failure, needed_bytes);
    return end;
}

/* Shortened by its poster: what follows may be no kernel at all. */
size_t oom_compile_scoped_short(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    size_t scoped = at;
    if (oom_cursor_find(&reader->text, &scoped, "Scopedallocationwithsize", SENTENCE * 2))
        return oom_compile_scoped(reader, at, failure);
    failure->form = "report";
    return at;
}

/* ---- one sentence ---- */

/* Does a blank of the same line stand between clean bytes `left` and the next? */
static bool is_blank_behind(const struct oom_text *text, size_t left)
{
    const char *from = text->raw + text->raw_of[left] + 1;
    size_t length = text->raw_of[left + 1] - text->raw_of[left] - 1;
    return length > 0 && memchr(from, ' ', length) != NULL && memchr(from, '\n', length) == NULL;
}

/* " HLO module: jit_f." A name may hold dots; the one that ends the sentence has no byte at its side. */
size_t oom_compile_module(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    size_t from = at, end;
    if (!oom_cursor_find(text, &from, "HLOmodule:", 8))
        return at;
    for (end = from; end < text->length && strchr(",;'\"()[]", text->bytes[end]) == NULL; end++) {
        bool is_last = end + 1 >= text->length;
        if (text->bytes[end] == '.' && (is_last || text->raw_of[end + 1] > text->raw_of[end] + 1))
            break;
        if (is_last || is_blank_behind(text, end)) {
            end++;
            break;
        }
    }
    oom_draft_name(reader, &failure->module, from, end);
    return end;
}

size_t oom_compile_flag_note(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    (void)failure;
    oom_draft_note(
        reader, "details_by_flag",
        "Releases that print this sentence give the long report with --xla_tpu_impure_oom_fast_exit_threshold=-1; "
        "later ones ignore the flag.");
    return at;
}

/* "TensorCore Hbm usage: A, SparseCore Hbm usage B, exceeding available bytes: C" */
static size_t cores_read(struct oom_reader *reader, size_t from, size_t at)
{
    static const char *const cores[] = {"TensorCore", "SparseCore"};
    const struct oom_text *text = &reader->text;
    struct oom_failure *failure = oom_draft_begin(reader, OOM_FAMILY_tpu_compile, "core_usage", from, at);
    size_t next = from;
    for (size_t i = 0; i < 2; i++) {
        struct oom_figure figure;
        size_t core = next;
        if (!oom_cursor_find(text, &core, cores[i], 40) || !oom_cursor_find(text, &core, "usage", 10))
            continue;
        oom_cursor_take(text, &core, ":");
        if (!oom_cursor_take_size(text, &core, &figure))
            continue;
        struct oom_buffer *buffer = oom_draft_buffer(reader, OOM_ALLOCATIONS);
        buffer->size = figure;
        buffer->label.text = str_of(cores[i]);
        next = core;
    }
    oom_draft_lower(reader, &failure->memory_space, at - strlen("Hbmusage"), at - strlen("usage"));
    if (oom_cursor_find(text, &next, "available", 40) && oom_cursor_find(text, &next, ":", 10))
        oom_cursor_take_size(text, &next, FIGURE_OF(failure, capacity_bytes));
    return oom_draft_reach(reader, next > at ? next : at);
}

/* ---- Allocation (size=N) would exceed memory (size=M) :: #allocationK [shape = '…', space=…, tag = '…'] ---- */

static void allocation_space(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    size_t from;
    if (oom_cursor_find(&reader->text, &at, "space=", SENTENCE) && oom_cursor_take_word(&reader->text, &at, &from))
        oom_draft_lower(reader, &failure->memory_space, from, at);
}

static size_t allocation_tag(struct oom_reader *reader, size_t at, struct oom_buffer *buffer)
{
    const struct oom_text *text = &reader->text;
    size_t from = at, end;
    if (!oom_cursor_find(text, &from, "tag='", 80))
        return at;
    end = from;
    if (!oom_cursor_skip_to(text, &end, "'", SENTENCE * 2))
        return at;
    oom_draft_words(reader, &buffer->label, from, end);
    size_t scoped = at;
    if (oom_cursor_find(text, &scoped, "scoped,", from - at))
        oom_draft_name(reader, &buffer->allocation_type, scoped - strlen("scoped,"), scoped - 1);
    return end + 1;
}

size_t oom_compile_allocation(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    const struct oom_text *text = &reader->text;
    size_t next = at, from;
    if (!oom_cursor_find(text, &next, "shape=", 60))
        return at;
    oom_cursor_take(text, &next, "'");
    if (!oom_entry_take_shape(text, &next, &from))
        return at;
    struct oom_buffer *buffer = oom_draft_buffer(reader, OOM_ALLOCATIONS);
    buffer->size = *FIGURE_OF(failure, needed_bytes);
    oom_draft_shape(reader, &buffer->shape, from, next);
    allocation_space(reader, next, failure);
    return allocation_tag(reader, next, buffer);
}

/* ---- SparseCore ---- */

/* The compiler's numbers of memory spaces (E3000). */
static const char *sparse_space(uint64_t number)
{
    switch (number) {
    case 0: return "smem";
    case 201: return "tilespmem";
    case 202: return "spmem";
    case 203: return "hbm";
    case 204: return "sflag";
    default: return NULL;
    }
}

/* "… allocation offset upper bound (A words) exceeds the legitimate … upper bound (B words) in memory space S when
 * allocating N words." */
static size_t sparse_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure above, limit, space, request = {.is_known = false};
    size_t next = at, shape;
    if (!oom_cursor_find(text, &next, "upperbound(", 100) || !oom_cursor_take_number(text, &next, &above) ||
        !oom_cursor_find(text, &next, "upperbound(", 200) || !oom_cursor_take_number(text, &next, &limit))
        return 0;
    struct oom_failure *failure = oom_draft_begin(reader, OOM_FAMILY_tpu_compile, "sparse_core", from, next);
    if (oom_cursor_find(text, &next, "memoryspace", 40) && oom_cursor_take_number(text, &next, &space)) {
        const char *name = space.is_known ? sparse_space(space.value) : NULL;
        if (name != NULL)
            failure->memory_space = (struct oom_words){str_of(name), space.at, space.length};
    }
    if (oom_cursor_find(text, &next, "allocating", 20))
        oom_cursor_take_number(text, &next, &request);
    oom_draft_note_owned(
        reader, "words", "%llu words were requested, which would end at word %llu of %llu; the text gives no bytes.",
        (unsigned long long)request.value, (unsigned long long)above.value, (unsigned long long)limit.value);
    oom_draft_reach(reader, next);
    size_t memref = next;
    if (oom_cursor_find(text, &memref, "->memref<", SENTENCE) && oom_cursor_skip_to(text, &memref, ">", 80) &&
        oom_cursor_find_before(text, memref, "<", 80, &shape)) {
        struct oom_buffer *buffer = oom_draft_buffer(reader, OOM_ALLOCATIONS);
        oom_draft_words(reader, &buffer->shape, shape - strlen("memref"), memref + 1);
        next = memref + 1;
    }
    return oom_draft_reach(reader, next);
}

/* The same text once more, escaped and cut, as a status carries it: "='…']" on one line. */
static size_t payload_skip(struct oom_reader *reader, size_t from, size_t at)
{
    (void)from;
    enum { LONGEST_PAYLOAD = 64 << 10 };
    const struct oom_text *text = &reader->text;
    size_t end = at;
    if (!oom_draft_takes(reader, OOM_FAMILY_tpu_compile, at, 4096))
        return 0;
    if (!oom_cursor_find(text, &end, "']", LONGEST_PAYLOAD)) {
        size_t raw = text->raw_of[at];
        const char *line_end = memchr(text->raw + raw, '\n', text->raw_length - raw);
        end = line_end != NULL ? oom_text_at(text, (size_t)(line_end - text->raw)) : text->length;
    }
    return oom_draft_reach(reader, end);
}

const struct oom_handler oom_compile_handlers[] = {
    {"TensorCoreHbmusage", cores_read, true},
    {"memref.allo", sparse_read, true},
    {"CompilationResultProto='", payload_skip, false},
    {NULL, NULL, false},
};
