/* SPDX-License-Identifier: Apache-2.0
 * argument_words.h: what the path of an argument says of it, by the words of argument_names.def. */
#pragma once

#include "base/str.h"

#include <stdint.h>

enum { ARGUMENT_WORDS_MAX = 24 };

struct argument_words {
    struct str items[ARGUMENT_WORDS_MAX]; /* borrowed from the path */
    uint32_t count;
};

/* A row of argument_names.def. */
struct argument_name {
    const char *word;
    uint8_t how, where, category;
    bool is_strong; /* it means one thing in JAX's libraries; others give way to what the program does */
};

/* Splits "state.opt_state[0].nu['lm_head']" into state, opt_state, 0, nu, lm_head. A longer path keeps its first word
 * and its last ones. */
struct argument_words argument_words_of(struct str path);
/* The first row that fits, or NULL. Random numbers are made from a few integers only. */
const struct argument_name *argument_words_name(const struct argument_words *words, bool is_small_integer);
