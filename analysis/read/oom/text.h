/* SPDX-License-Identifier: Apache-2.0
 * text.h: a piece of a log, made ready for matching.
 *
 * An error text reaches its reader wrapped at any width, indented, behind the
 * prefixes of loggers (prefix.h), inside JSON or Markdown. All of that is
 * white space or can be taken away, so sentences are matched on the text with
 * no white space left: "Used17.60Gof16.00Ghbm." reads the same at any width.
 * Each byte that is left knows where it was, so a figure's place in the input
 * is exact and the words between quotes can be given back with their spaces.
 *
 * Memory: two buffers of the capacity given to oom_text_init, in its arena. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

struct oom_text {
    const char *raw; /* the piece as it is in the input; the caller's */
    size_t raw_length;
    uint64_t raw_at; /* input offset of raw[0] */
    char *bytes;     /* what is left of it */
    size_t length;
    uint32_t *raw_of; /* for each of them, and one past the last: its place in raw */
    size_t capacity;
};

void oom_text_init(struct oom_text *text, struct arena *arena, size_t capacity);

/* Cleans `raw` (at most `capacity` bytes, which must stay in place). `at_line_start`:
 * a logger's prefix may stand at its first byte. */
void oom_text_clean(struct oom_text *text, struct str raw, uint64_t raw_at, bool at_line_start);

/* The first of the bytes that was at `raw_at` (in raw) or behind it. */
size_t oom_text_at(const struct oom_text *text, size_t raw_at);

/* Does a line begin at byte `at`, once prefixes are taken away? */
bool oom_text_is_line_begin(const struct oom_text *text, size_t at);
/* Does the line end at clean byte `at`, with a full stop before its end or without? */
bool oom_text_is_line_end(const struct oom_text *text, size_t at);
/* Do the clean bytes before `at` end with `literal`? */
bool oom_text_is_before(const struct oom_text *text, size_t at, const char *literal);
/* Does one of the words stand in the line of raw bytes? */
bool oom_text_has_any(struct str line, const char *const *words, size_t count);

/* Bytes of raw that [from, to) covers, as offset in raw and length. */
struct oom_text_range {
    size_t at, length;
};
struct oom_text_range oom_text_range(const struct oom_text *text, size_t from, size_t to);

/* Puts [from, to) with its spaces into `out` (of `room` bytes; cut to what fits): a run
 * of white space becomes one space, a line that a terminal broke at its width is joined,
 * an escaped quote is a quote. Returns the length. */
size_t oom_text_words(const struct oom_text *text, size_t from, size_t to, char *out, size_t room);

/* The same for the name of an operator or a file: when it has no space within its lines,
 * it has none where they were broken. */
size_t oom_text_name(const struct oom_text *text, size_t from, size_t to, char *out, size_t room);

/* The same for a shape, where only the commas between the parts of a tuple are followed by a space. */
size_t oom_text_shape(const struct oom_text *text, size_t from, size_t to, char *out, size_t room);
