/* SPDX-License-Identifier: Apache-2.0
 * python.c: the MemoryError of Python, whose class does not tell which memory ran out: the line does, or the traceback
 * before it. */
#include "read/oom/cursor.h"
#include "read/oom/handlers.h"
#include "read/oom/patterns.h"

enum { LINE = 400, TRACEBACK = 6000 };

static size_t python_line_end(const struct oom_text *text, size_t at)
{
    size_t end = at;
    while (end < text->length && end - at < LINE && !oom_text_is_line_begin(text, end))
        end++;
    return end;
}

/* Python has one class for all memory: does the line go on with the words of a GPU's interface? RAPIDS has sentences of
 * its own. */
static bool is_of_gpu_line(const struct oom_text *text, size_t at)
{
    static const char *const words[] = {"cuda", "CUDA", "cuMem", "hipE", "hipM", "HIP", "thrust"};
    static const char *const rapids[] = {"rmm", "RMM"};
    struct str line = {text->bytes + at, python_line_end(text, at) - at};
    return oom_text_has_any(line, words, sizeof(words) / sizeof(words[0])) &&
           !oom_text_has_any(line, rapids, sizeof(rapids) / sizeof(rapids[0]));
}

/* "MemoryError: std::bad_alloc: cudaErrorMemoryAllocation: out of memory" */
static size_t gpu_error_read(struct oom_reader *reader, size_t from, size_t at)
{
    size_t end = python_line_end(&reader->text, at);
    oom_draft_begin(reader, OOM_FAMILY_gpu_driver, "call", from, end);
    return oom_draft_reach(reader, end);
}

/* The last line of a traceback. What NumPy and C++ say behind the colon are sentences of their own. */
static size_t memory_error_read(struct oom_reader *reader, size_t from, size_t at)
{
    static const char *const begin[] = {"Traceback(mostrecentcalllast", "File\""};
    static const char *const narrow[] = {"-32\\lib", "-32\\Lib", "32bit(Intel)]onwin32"};
    const struct oom_text *text = &reader->text;
    size_t which, end = at;
    bool has_text = oom_cursor_take(text, &end, ":");
    if (has_text && oom_text_is_line_begin(text, from) && is_of_gpu_line(text, end) && !oom_pattern_is_at(reader, end))
        return gpu_error_read(reader, from, end);
    if (!oom_text_is_line_begin(text, from) || (!has_text && !oom_text_is_line_end(text, at)) ||
        oom_cursor_take(text, &end, "Unabletoallocate") || oom_cursor_take(text, &end, "std::bad_alloc") ||
        oom_cursor_take(text, &end, "Cannotallocatewrite+execute") || (has_text && oom_pattern_is_at(reader, end)) ||
        !oom_seen_before(&reader->tracebacks, text, from, TRACEBACK, begin, 2, &which))
        return 0;
    bool is_narrow =
        oom_seen_before(&reader->narrow, text, from, TRACEBACK, narrow, sizeof(narrow) / sizeof(narrow[0]), &which);
    oom_draft_begin(reader, OOM_FAMILY_python, is_narrow ? "addresses" : "memory_error", from, at);
    return oom_draft_reach(reader, at);
}

const struct oom_handler oom_python_handlers[] = {
    {"MemoryError", memory_error_read, false},
    {NULL, NULL, false},
};
