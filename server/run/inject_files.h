/* SPDX-License-Identifier: Apache-2.0
 * inject_files.h: the Python package with its hook, compiled in; written by scripts/embed-hook. */
#pragma once

#include <stddef.h>

struct inject_file {
    const char *name; /* "sitecustomize.py", "memviewd/_oom.py" */
    const char *text;
};
extern const struct inject_file inject_files[];
extern const size_t inject_file_count;
