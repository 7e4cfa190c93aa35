/* SPDX-License-Identifier: Apache-2.0
 * constants.h: strings of source code that hold the words of an error, as lists of messages and tests of them do. */
#pragma once

#include "read/oom/text.h"

/* Is the sentence at clean bytes [from, to) all of a string within one line of source code, with no figure in it? A
 * value of JSON and an exception as Python prints it are none. */
bool oom_constants_is(const struct oom_text *text, size_t from, size_t to);
