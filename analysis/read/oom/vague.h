/* SPDX-License-Identifier: Apache-2.0
 * vague.h: lines of an error that say that memory was short, of runtimes whose sentences are not known here. */
#pragma once

#include "read/oom/draft.h"

/* Reads what begins at clean byte `at`, if it is a word of lack in a line of an error: opens a failure and returns
 * where to go on; else 0. */
size_t oom_vague_read(struct oom_reader *reader, size_t at);

/* Adds the first letters of its words. */
void oom_vague_firsts(bool firsts[256]);
