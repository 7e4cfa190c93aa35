/* SPDX-License-Identifier: Apache-2.0
 * pickle.h: what a pickle of Python holds, as data.
 *
 * A pickle is a program for a small stack machine that can call anything. Here nothing is ever called: dict, list,
 * tuple, text, bytes, number, bool and None are made, by protocols 2 to 5; any other opcode is an error that names it
 * and its place. Texts are interned: equal ones are one. A whole number that does not fit in 63 bits is a double, a
 * text of more than 16 MiB is bytes: each loses itself alone.
 *
 * A pickle of gigabytes is millions of small dicts. So a taker sees each dict when it goes into a list, and may keep
 * what it wants of it: then the dict's memory is used again, and a number of the taker's is in its place. What is
 * in a dict is complete by then.
 *
 * Cost:   a few ns an opcode; 4 bytes each thing that is memoized, 24 each list and dict that is not taken, besides
 *         what they hold.
 * Memory: the arena; values last as long as it does.
 * Source: CPython's pickletools.py, which describes every opcode. */
#pragma once

#include "base/arena.h"
#include "base/source.h"
#include "read/torch/pickle_value.h"

/* A dict that is about to go into the list `parent` (pickle_value_list_number): true when it was taken, as `*number`.
 * What is damaged may be reported in pickle_err. */
#define PICKLE_GONE (UINT32_MAX - 1) /* as a number: no later opcode uses it, and it is in no list */
typedef bool pickle_take(void *context, struct pickle *pickle, struct pickle_value dict, uint32_t parent,
                         uint32_t *number);

/* Reads the first pickle of `source`. False with `malformed`, `truncated`, `unsupported` or `limit` at a place. `take`
 * may be NULL. */
bool pickle_read(const struct source *source, pickle_take *take, void *context, struct arena *arena,
                 struct pickle **out, struct pickle_value *root, struct err *err);

/* From a taker: `number` represents the list from now on, wherever it is named; its memory is used again. Returns what
 * is in its place. */
struct pickle_value pickle_take_list(struct pickle *pickle, struct pickle_value list, uint32_t number);
/* Where the reader is, for reports. */
uint64_t pickle_at(const struct pickle *pickle);
struct err *pickle_err(struct pickle *pickle);
