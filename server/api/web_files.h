/* SPDX-License-Identifier: Apache-2.0
 * web_files.h: the pages that the build compiles into the binary. */
#pragma once

#include <stddef.h>

struct web_file {
    const char *path;        /* below the page's root, e.g. "index.html"; NULL in the one row of an empty table */
    const char *hashed_path; /* the same with a hash of its content, "app-0123456789abcdef.js"; NULL for a page */
    const char *content_type;
    const unsigned char *bytes;
    size_t size;
    const unsigned char *gzip_bytes;
    size_t gzip_size;
    const char *etag; /* with its quotes */
};

extern const struct web_file web_files[];
extern const size_t web_file_count;
