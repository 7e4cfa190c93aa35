/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/gzip_whole.h"

#include "base/pages.h"
#include "wire/gzip.h"

#include <libdeflate.h>
#include <stdlib.h>

enum { PIECE_BYTES = 1 << 18, HEADER_MAX_BYTES = 1 << 12, STORED_RATIO = 1024 };

/* Bytes that do not get smaller are stored, with five more for each block; names and comments are short. */
static bool is_plausible(const struct source *packed, uint64_t size_bytes)
{
    return packed->size_bytes <= SIZE_MAX / 2 && size_bytes <= SIZE_MAX / 2 &&
           packed->size_bytes <= size_bytes + size_bytes / STORED_RATIO + HEADER_MAX_BYTES &&
           size_bytes <= GZIP_MIN_LIMIT + packed->size_bytes * GZIP_MAX_RATIO;
}

/* All packed bytes, read forward in pieces; NULL: they cannot be read, or there is no memory. */
static char *packed_read(const struct source *packed)
{
    size_t size = (size_t)packed->size_bytes, done = 0;
    char *bytes = malloc(size > 0 ? size : 1);
    while (bytes != NULL && done < size) {
        size_t piece = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
        int64_t got = packed->read(packed->context, done, bytes + done, piece);
        if (got <= 0) {
            free(bytes);
            return NULL;
        }
        done += (size_t)got;
    }
    return bytes;
}

static bool inflate_at_once(const char *packed, size_t packed_size, char *plain, size_t plain_size)
{
    size_t used = 0, got = 0;
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    bool is_good = decompressor != NULL &&
                   libdeflate_gzip_decompress_ex(decompressor, packed, packed_size, plain, plain_size, &used, &got) ==
                       LIBDEFLATE_SUCCESS &&
                   used == packed_size && got == plain_size;
    libdeflate_free_decompressor(decompressor);
    return is_good;
}

bool gzip_whole_inflate(const struct source *packed, uint64_t size_bytes, struct buf *out)
{
    if (!is_plausible(packed, size_bytes))
        return false;
    char *bytes = packed_read(packed);
    char *room = bytes == NULL ? NULL : buf_reserve(out, (size_t)size_bytes + 1);
    if (room != NULL)
        pages_fill_soon(room, (size_t)size_bytes + 1);
    bool is_good = room != NULL && inflate_at_once(bytes, (size_t)packed->size_bytes, room, (size_t)size_bytes);
    out->length += is_good ? (size_t)size_bytes : 0;
    free(bytes);
    return is_good;
}
