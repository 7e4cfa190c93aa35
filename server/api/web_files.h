/* SPDX-License-Identifier: Apache-2.0
 * web_files.h: the pages that the build compiles into the binary, and the licences of all that is in it. */
#pragma once

#include "server/store/body.h"

#include <stddef.h>

#define WEB_FILES_LICENSES "licenses.txt"

struct web_file {
    const char *path;        /* below the page's root, e.g. "index.html"; NULL in the one row of an empty table */
    const char *hashed_path; /* the same with a hash of its content, "app-0123456789abcdef.js"; NULL for a page */
    const char *content_type;
    const unsigned char *gzip;
    size_t gzip_size, size; /* `size`: of what it inflates to */
    const char *etag;       /* with its quotes */
};

extern const struct web_file web_files[];
extern const size_t web_file_count;

/* Sources of a Content-Security-Policy for the inline script and style of the page: "'sha256-…'". */
extern const char web_script_hash[], web_style_hash[];

/* The one served at `path`, by its plain path alone; NULL: there is none. */
const struct web_file *web_files_find(const char *path);

/* One reference held. */
struct body *web_files_body(const struct web_file *file);

/* Appends its bytes, inflated; without memory `out` has failed. */
void web_files_add(const struct web_file *file, struct buf *out);
