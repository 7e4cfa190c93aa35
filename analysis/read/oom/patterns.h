/* SPDX-License-Identifier: Apache-2.0
 * patterns.h: sentences as patterns, the rows SENTENCE and LINE of families.def.
 *
 * In a pattern white space means nothing, as in the text. {needed}, {capacity}, … is a size (the figure of that name
 * and "_bytes" in figures.def): "17.60G", "123 bytes" or a number; {!needed} one with its unit; {B:needed} a number of
 * bytes that never has one, {K:needed} of KiB, {M:needed} of MiB, {G:needed} of GiB, {x:needed} a hexadecimal one of
 * bytes; {device} digits, {memory_space} a word, {module} all up to a quote, {chip} as in "0x1x0_HBM0", a device and
 * its memory. {a|b} is one of these words, {a|} this word; so {[|} is a bracket of the text. {..N} goes on to the
 * letters behind it, or to where the placeholder behind it fits, at most N bytes on; {#N} to a digit, over at most N
 * bytes that are no comma. {$} is the end of a line. [ ] holds what may be missing. So does < >, which is looked for
 * from where the first of a row of them is, in any order; what comes next follows the furthest. All else means itself.
 * A sentence begins with what it is known by, and reaches no further than where that is again. */
#pragma once

#include "read/oom/draft.h"

struct oom_pattern_index oom_pattern_index_new(struct arena *arena);

/* Reads the sentence that begins at clean byte `at`, if it is one of the patterns: opens a failure and returns where to
 * go on; else 0. */
size_t oom_pattern_read(struct oom_reader *reader, size_t at);

/* Does one of the sentences stand at clean byte `at`? */
bool oom_pattern_is_at(const struct oom_reader *reader, size_t at);

enum oom_line {
#define LINE(name, pattern) OOM_LINE_##name,
#include "read/oom/families.def"
};
/* The figures that `line` finds from clean byte `*at` on; goes on behind it if it fits. Returns how many are known. */
size_t oom_pattern_figures(const struct oom_text *text, size_t *at, enum oom_line line,
                           struct oom_figure figures[OOM_FIGURE_COUNT]);
/* Adds what `line` finds to the draft, which keeps what it has: of copies that are mixed line by line the first counts.
 * Returns where to go on. */
size_t oom_pattern_add(struct oom_reader *reader, size_t at, enum oom_line line);

enum {
#define SENTENCE(family, form, phase, space, pattern, then) +1
    OOM_SENTENCE_COUNT = 0
#include "read/oom/families.def"
};
/* Words without white space, one of which is in every text that a sentence fits: writes at most OOM_SENTENCE_COUNT,
 * which `arena` owns, and returns how many. What else is looked for has its words in scan.c. */
size_t oom_pattern_signs(struct arena *arena, const char **signs);

/* Adds the first letters of the patterns. */
void oom_pattern_firsts(bool firsts[256]);
