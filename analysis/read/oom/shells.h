/* SPDX-License-Identifier: Apache-2.0
 * shells.h: the words of shells in other languages, for who searches a log. */
#pragma once

#include <stddef.h>

/* Row `at` of the pieces that are searched for; NULL past the end. */
const char *oom_shells_needle(size_t at);
/* The word of row `at`, without white space; NULL past the end. */
const char *oom_shells_sign(size_t at);
