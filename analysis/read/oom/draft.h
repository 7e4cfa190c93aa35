/* SPDX-License-Identifier: Apache-2.0
 * draft.h: the failure that is being read, and those that were.
 *
 * A sentence that opens a failure begins a draft; later sentences add to it while
 * they stand near. The next beginning, or the end, ends it: the draft is then the
 * equal of one before (counted), or a new one (copied into the arena). So memory
 * follows the distinct failures, however many a log repeats. */
#pragma once

#include "base/arena.h"
#include "read/oom/oom.h"
#include "read/oom/seen.h"
#include "read/oom/text.h"

enum { OOM_DRAFT_BUFFERS = 256, OOM_DRAFT_TEXT_BYTES = 1 << 18, OOM_DRAFT_NOTES = 8, OOM_DRAFT_FAILURES = 256 };

struct oom_chunks { /* of an allocator's dump */
    uint64_t used_count, free_count, used_bytes, free_bytes, largest_free_bytes;
    struct oom_figure largest_free;
};

struct oom_draft {
    struct oom_failure failure;
    struct oom_buffer buffers[OOM_LIST_COUNT][OOM_DRAFT_BUFFERS];
    struct oom_note notes[OOM_DRAFT_NOTES];
    char text[OOM_DRAFT_TEXT_BYTES];
    size_t text_length;
    uint64_t left_out_count; /* buffers past the most that are kept */
    struct oom_chunks chunks;
    uint64_t rounded_bytes; /* what an allocator made of the request; 0 = not stated */
    bool is_open;
    bool is_weak;     /* an echo of a lower layer: dropped when the failure itself is there */
    bool is_constant; /* a string of source code: dropped unless figures follow */
    bool has_dump, is_dump_over;
};

/* What a compiler said of a program and went on. */
struct oom_compiled {
    uint64_t bytes, limit_bytes; /* what it takes, and what it was to take at most */
    uint64_t at;                 /* where the text says so, in the input */
    bool is_known;
};

/* The sentences of families.def by their first letters, in their order: patterns.h makes it. */
struct oom_pattern_index {
    const unsigned short *sentences;
    const unsigned short *begin; /* of each letter: where its sentences begin; 257 of them */
};

struct oom_reader {
    struct arena *arena;
    struct oom_pattern_index sentences;
    struct oom_text text; /* the piece that is read */
    struct oom_draft draft;
    struct oom_failure *failures;
    bool is_weak[OOM_DRAFT_FAILURES];
    uint64_t rounded_bytes[OOM_DRAFT_FAILURES];
    size_t failure_count;
    uint64_t left_out_count, report_line_count;
    struct oom_usage usage;
    struct oom_compiled arguments, planned; /* arguments and results; temporaries */
    struct oom_seen frameworks, tracebacks, narrow, broken, builds;
    uint64_t tail_at; /* input offset of the end of what was understood last */
};

/* Without room for text: oom_text_init gives it some. */
struct oom_reader *oom_draft_reader_new(struct arena *arena);

/* Ends the draft before it and begins one: from clean byte `from` to `to`, with the
 * status word, the code and the exception before it looked for. */
struct oom_failure *oom_draft_begin(struct oom_reader *reader, enum oom_family family, const char *form, size_t from,
                                    size_t to);
void oom_draft_end(struct oom_reader *reader);

/* May a sentence at clean byte `at` belong to the draft: is it open, of that family and
 * ends at most `within` bytes of the input before? */
bool oom_draft_takes(const struct oom_reader *reader, enum oom_family family, size_t at, size_t within);
/* The last `literal` that ends at most `within` clean bytes before `at` and belongs to no
 * sentence read before: sets *found to its begin. */
bool oom_draft_find_before(const struct oom_reader *reader, size_t at, const char *literal, size_t within,
                           size_t *found);

/* The draft reaches to clean byte `to`. Returns `to`. */
size_t oom_draft_reach(struct oom_reader *reader, size_t to);

/* Sets words from clean bytes [from, to). */
void oom_draft_words(struct oom_reader *reader, struct oom_words *words, size_t from, size_t to);
void oom_draft_name(struct oom_reader *reader, struct oom_words *words, size_t from, size_t to);
void oom_draft_shape(struct oom_reader *reader, struct oom_words *words, size_t from, size_t to);
void oom_draft_lower(struct oom_reader *reader, struct oom_words *words, size_t from, size_t to);
/* A further buffer, empty; the last one again when there are too many. */
struct oom_buffer *oom_draft_buffer(struct oom_reader *reader, enum oom_list list);
/* `code` and `text` are static; a second one of a code is dropped. */
void oom_draft_note(struct oom_reader *reader, const char *code, const char *text);
void oom_draft_note_owned(struct oom_reader *reader, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
