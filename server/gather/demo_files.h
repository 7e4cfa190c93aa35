/* SPDX-License-Identifier: Apache-2.0
 * demo_files.h: the profiles that --demo serves, compiled into the binary. */
#pragma once

#include <stddef.h>

struct demo_file {
    const char *path;           /* as it would be below a logdir; NULL in the one row of an empty table */
    const unsigned char *bytes; /* as they are or as gzip */
    size_t size;
};

extern const struct demo_file demo_files[];
extern const size_t demo_file_count;
