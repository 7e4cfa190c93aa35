/* SPDX-License-Identifier: Apache-2.0
 * python_tokens.h: for python_source.c alone: text into tokens. Its own file: the rules of strings and brackets. */
#pragma once

#include "read/python/python_source.h"

/* That a file of UTF-8 may begin with. */
#define PYTHON_MARK "\xEF\xBB\xBF"

/* Fills the tokens of `out`, whose text is set; `begins`, in the arena: by token, whether a logical line
 * begins with it. False: `why`. */
bool python_tokens_read(struct python_source *out, bool **begins, struct arena *arena);
