/* SPDX-License-Identifier: Apache-2.0
 * python_names.h: what the names of a Python file are by its imports: "jnp" is "jax.numpy", "partial" is
 * "functools.partial".
 *
 * Memory: the arena. Cost: linear; each question that of the imports. */
#pragma once

#include "read/python/python_source.h"

struct python_import {
    struct str name;  /* that it binds */
    const char *path; /* "jax.numpy"; "" where two imports or an assignment bind the name to others */
    uint32_t statement;
    bool is_module_level; /* of the file, not of a function */
};

struct python_names {
    const struct python_source *source;
    struct arena *arena;
    struct python_import *imports;
    uint32_t count;
};

void python_names_read(const struct python_source *source, struct arena *arena, struct python_names *out);
/* "jax.jit" for the dotted name of these tokens, if imports tell it: else the name as it is written. In the arena. */
const char *python_names_path(const struct python_names *names, uint32_t first, uint32_t last);
/* The same for the dotted name that begins at `first`, whatever follows it; "": none begins there. */
const char *python_names_from(const struct python_names *names, uint32_t first);
/* The same of what is called with the arguments behind the token `open`; "": that is no "(", or no dotted name is
 * before it. */
const char *python_names_called(const struct python_names *names, uint32_t open);
/* What the file calls the module or function, at its top level and before its first function: "jnp" of "jax.numpy",
 * "jax.numpy" where only jax is imported. NULL: it has no name for it. In the arena. */
const char *python_names_of(const struct python_names *names, const char *path);
/* Offset of the line where an import may be added: of the first import behind the docstring and those of __future__.
 * PYTHON_NONE: the file has none. */
uint32_t python_names_place(const struct python_names *names);
