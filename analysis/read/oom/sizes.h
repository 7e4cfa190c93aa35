/* SPDX-License-Identifier: Apache-2.0
 * sizes.h: what the sizes of a line are of, by the words beside them: for errors whose sentence is not known. */
#pragma once

#include "read/oom/oom.h"
#include "read/oom/text.h"

/* The sizes of the line of clean bytes [from, to), and what the lines beside it say in words of a size: sets of
 * `figures` what they tell. Returns the end of the last line that tells something. */
size_t oom_sizes_read(const struct oom_text *text, size_t from, size_t to, struct oom_figure *figures);

/* Does what stands in clean bytes [from, to) ask for a size? */
bool oom_sizes_ask(const struct oom_text *text, size_t from, size_t to);

/* Does the line of clean bytes [from, to) ask for more than it says there is? */
bool oom_sizes_exceed(const struct oom_text *text, size_t from, size_t to);
