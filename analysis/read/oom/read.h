/* SPDX-License-Identifier: Apache-2.0
 * read.h: finds the sentences of all families in a cleaned text and has them read. */
#pragma once

#include "read/oom/draft.h"

/* Reads what begins in the input at [from_at, to_at) of the text that reader->text holds.
 * Returns how far it came: to_at, or further when the last sentence reached there. */
uint64_t oom_read_text(struct oom_reader *reader, uint64_t from_at, uint64_t to_at);

/* Does a sentence that opens a failure begin at most `within` clean bytes behind `at`? */
bool oom_read_head_within(const struct oom_reader *reader, size_t at, size_t within);
