/* SPDX-License-Identifier: Apache-2.0
 * diff.h: edits of a text as a unified diff, as `git apply` and `patch -p1` take it.
 *
 * Lines keep their ends; a last line without one is marked as such. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct diff_edit {
    uint32_t begin, end; /* bytes that it replaces */
    const char *text;    /* by these */
};

/* Writes the diff of one file. `path`: one that diff_is_path accepts. `edits`: by place, apart from each other.
 * `scratch`: emptied; its owner frees it also if the arena gives up. In the arena; NULL: there was not enough
 * memory. */
const char *diff_write(const char *path, struct str text, const struct diff_edit *edits, uint32_t count,
                       struct buf *scratch, struct arena *arena);
/* May the path be in the head of a diff: relative, no "..", nothing that a line, git or patch would take for more than
 * a name? */
bool diff_is_path(const char *path);
