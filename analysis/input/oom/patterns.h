/* SPDX-License-Identifier: Apache-2.0
 * patterns.h: sentences as patterns, the rows SENTENCE of families.def.
 *
 * In a pattern white space means nothing, as in the text. {needed}, {capacity}, … is a size (the figure of that name and
 * "_bytes" in figures.def): "17.60G", "123 bytes" or a number; {device} digits, {memory_space} a word. {..N} goes on to what
 * stands behind it, which begins at most N bytes on and is no placeholder. [ ] holds what may be missing. All else means
 * itself. A pattern begins with what its sentence is known by, at least five letters. */
#ifndef ANALYSIS_INPUT_OOM_PATTERNS_H
#define ANALYSIS_INPUT_OOM_PATTERNS_H

#include "input/oom/draft.h"

/* Reads the sentence that begins at clean byte `at`, if it is one of the patterns: opens a failure and returns where to go
 * on; else 0. */
size_t oom_pattern_read(struct oom_reader *reader, size_t at);

/* Does one of the patterns seem to begin at clean byte `at`? */
bool oom_pattern_begins(const struct oom_text *text, size_t at);

/* Adds the first letters of the patterns. */
void oom_pattern_firsts(bool firsts[256]);

#endif
