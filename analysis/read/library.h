/* SPDX-License-Identifier: Apache-2.0
 * library.h: whose code a source file is, told from its path. The one place that knows the paths of libraries. */
#pragma once

#include "base/str.h"

enum library {
    LIBRARY_USER,      /* the user's own code */
    LIBRARY_PACKAGE,   /* an installed package that library.def does not name: may be the user's */
    LIBRARY_MACHINERY, /* JAX, Flax, Python itself, IPython, …: library.def */
};

/* The mapping of frames that no Python line represents, in profiles that are made of stacks of Python and C++ together:
 * they are machinery, whatever their file. */
#define LIBRARY_NATIVE_MAPPING "[native]"

/* `listed`: pieces of paths, one a line, of further libraries, or, behind "!", of the user's own code; they come
 * before all others, the first that is in the path decides. What begins with # is left out. */
enum library library_of(struct str file, struct str listed);
