/* SPDX-License-Identifier: Apache-2.0
 * vague_memory.h: of which memory a line speaks. */
#pragma once

#include "read/oom/oom.h"
#include "read/oom/text.h"

/* What the line of raw bytes says itself. */
enum oom_memory oom_vague_memory_of(struct str line);
/* What it says, else one of those beside it, the nearest first; of a device they may say which it is. */
enum oom_memory oom_vague_memory_around(const struct oom_text *text, struct str line);
