/* SPDX-License-Identifier: Apache-2.0
 * vague_memory.h: of which memory a line speaks. */
#pragma once

#include "read/oom/oom.h"
#include "read/oom/text.h"

#include <string.h>

/* Does one of the words stand in the line? */
static inline bool oom_vague_memory_has(struct str line, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memmem(line.data, line.length, words[i], strlen(words[i])) != NULL)
            return true;
    return false;
}

/* What the line of raw bytes says itself. */
enum oom_memory oom_vague_memory_of(struct str line);
/* What it says, else one of those beside it, the nearest first; of a device they may say which it is. */
enum oom_memory oom_vague_memory_around(const struct oom_text *text, struct str line);
