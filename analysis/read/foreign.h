/* SPDX-License-Identifier: Apache-2.0
 * foreign.h: files that people have beside those that are read: told by name what they are, not as absent. */
#pragma once

#include "base/source.h"

/* What a source is by its first bytes, and what to open instead, as the end of a sentence about a file ("is …"); NULL:
 * none of these, or its bytes cannot be read. Static. */
const char *foreign_of_bytes(const struct source *source);
/* The same of a file that is not opened, by the ending of its name; `stem_length`: the name without that ending. */
const char *foreign_of_name(const char *name, size_t *stem_length);
