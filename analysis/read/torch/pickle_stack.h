/* SPDX-License-Identifier: Apache-2.0
 * pickle_stack.h: the bytes and the stack of a reading that makes values of pickle_store.h: that of a pickle, and that
 * of the same things as JSON. */
#pragma once

#include "read/torch/pickle_store.h"

enum { PICKLE_WINDOW_BYTES = 1 << 16, PICKLE_MAX_TEXT_BYTES = 1 << 24 };

/* Goes on from `begin`, which says what is read, into what and by which name. */
struct pickle *pickle_stack_new(const struct pickle *begin);
/* At least `size` bytes (at most PICKLE_WINDOW_BYTES) in the window from `at` on, where the source has them. */
void pickle_stack_fill(struct pickle *pickle, size_t size);

/* Room for one more. */
void pickle_stack_grow(struct pickle *pickle);
static inline void pickle_stack_push(struct pickle *pickle, struct pickle_value value)
{
    if (pickle->depth == pickle->capacity)
        pickle_stack_grow(pickle);
    pickle->stack[pickle->depth++] = value;
}
void pickle_stack_push_int(struct pickle *pickle, int64_t value);
void pickle_stack_push_real(struct pickle *pickle, double value);
void pickle_stack_push_text(struct pickle *pickle, struct str text);
/* So many things are above the innermost mark, or it is refused. */
void pickle_stack_need(struct pickle *pickle, size_t count);
struct pickle_value pickle_stack_top(struct pickle *pickle);
void pickle_stack_mark(struct pickle *pickle);
/* Where the things above the last mark begin; the mark is gone. */
size_t pickle_stack_unmark(struct pickle *pickle);
/* What is above `from` goes into the list right below it; the taker sees dicts among it. */
void pickle_stack_append(struct pickle *pickle, size_t from);
/* Keys and values above `from` go into the dict right below it. */
void pickle_stack_set_items(struct pickle *pickle, size_t from);
