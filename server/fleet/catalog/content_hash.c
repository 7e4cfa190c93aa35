/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/content_hash.h"

#include "server/base/memory.h"

#include <stdlib.h>

enum { PIECE_BYTES = 1 << 20 };

/* Reads `piece_bytes` at a time. */
static bool hash(struct file *file, size_t piece_bytes, char text[SHA256_TEXT_SIZE], struct err *err)
{
    const struct source *source = files_source(file);
    struct sha256_stream stream;
    char *piece = memory_new(piece_bytes);
    int64_t got = 1;
    sha256_begin(&stream);
    for (uint64_t offset = 0; got > 0; offset += (uint64_t)got) {
        got = source->read(source->context, offset, piece, piece_bytes);
        if (got > 0)
            sha256_add(&stream, piece, (size_t)got);
    }
    free(piece);
    if (!files_unchanged(file, err))
        return false;
    if (got < 0)
        return err_set(err, ERR_io, ERR_NO_OFFSET, "cannot be read");
    sha256_end(&stream, text);
    return true;
}

bool content_hash(const struct files_place *place, char text[SHA256_TEXT_SIZE], struct err *err)
{
    struct file *file = files_open(place, err);
    if (!file)
        return false;
    uint64_t size_bytes = files_identity(file)->size_bytes;
    bool is_whole = hash(file, size_bytes < PIECE_BYTES ? (size_t)size_bytes + 1 : PIECE_BYTES, text, err);
    files_close(file);
    return is_whole;
}
