/* SPDX-License-Identifier: Apache-2.0
 * note.h: what the reader should know about an answer or a model, such as what an input held that could not be used. */
#pragma once

#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

struct note {
    const char *code; /* a stable word: "duplicate_program" */
    uint64_t count;   /* how often */
    const char *text; /* one sentence: what, where, effect */
};

struct notes {
    struct note *items;
    size_t count, capacity;
};

/* "notes": an array of {"code", "count", "text"}, in an object that is being written. */
void note_write_list(struct json *json, const struct note *notes, size_t count);
