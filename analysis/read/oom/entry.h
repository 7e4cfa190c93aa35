/* SPDX-License-Identifier: Apache-2.0
 * entry.h: the entries of a list of buffers, as TPU and GPU compilers print them. */
#pragma once

#include "read/oom/draft.h"

/* Reads the entries from clean byte `at` on into `list`, or skips them when the list
 * is there already. Returns where the list ends. */
size_t oom_entry_list(struct oom_reader *reader, size_t at, enum oom_list list);

/* op_name="…" source_file="…" source_line=N … from `at` on, as OpMetadata is printed. */
size_t oom_entry_operator(struct oom_reader *reader, size_t at, struct oom_buffer *buffer);

/* A shape, "f32[8,128]{1,0:T(8,128)}" or a tuple of such: [*from, *at). */
bool oom_entry_take_shape(const struct oom_text *text, size_t *at, size_t *from);
