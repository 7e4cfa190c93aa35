/* SPDX-License-Identifier: Apache-2.0
 * regex.h: RE2's expressions, in time that grows with pattern × text and no faster.
 *
 * Alternation, groups (plain, (?:…), named), classes with ranges, \d \w \s and
 * [:alpha:] names, . ^ $ \A \z \b \B, * + ? {n,m} with or without a lazy ?,
 * flags (?i) (?s) (?m) (?U), \xHH, \x{…}, \Q…\E. Not taken, as in RE2: back
 * references and look-around; and, unlike RE2, \p{…} and \C. Letters of either
 * case are equal under (?i) for ASCII alone. A text that is not UTF-8 is read
 * byte by byte there. \B holds between characters, never inside one, as in Go's
 * regexp (RE2 in C++ looks between bytes). A match may begin and end anywhere: only whether there is
 * one is told, so greedy and lazy mean the same. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct regex; /* belongs to its arena; for one thread at a time */

struct regex_fault {
    size_t at;        /* offset in the pattern, in bytes */
    const char *text; /* a few words: "missing )"; static */
};

/* NULL when the pattern is broken: `fault` says where and how. `is_any_case`: as if it began with (?i). */
struct regex *regex_read(struct str pattern, bool is_any_case, struct arena *arena, struct regex_fault *fault);
/* Finds `text` as it is. */
struct regex *regex_literal(struct str text, struct arena *arena);

/* Does the expression match somewhere in `text`? Steps are charged to the arena's work. */
bool regex_matches(struct regex *regex, struct str text);
