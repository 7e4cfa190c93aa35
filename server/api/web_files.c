/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/web_files.h"

#include <string.h>

const struct web_file *web_files_find(const char *path)
{
    for (size_t at = 0; at < web_file_count; at++)
        if (web_files[at].path && strcmp(web_files[at].path, path) == 0)
            return &web_files[at];
    return NULL;
}

struct body *web_files_body(const struct web_file *file)
{
    return body_of_static_gzip(file->gzip, file->gzip_size, file->size, file->etag);
}

void web_files_add(const struct web_file *file, struct buf *out)
{
    struct body *packed = web_files_body(file), *plain = body_plain(packed);
    if (plain)
        buf_add(out, plain->data, plain->size);
    else
        out->failed = true;
    body_release(plain);
    body_release(packed);
}
