/* SPDX-License-Identifier: Apache-2.0
 * source.h: bytes by offset, wherever they come from.
 *
 * The core does no I/O of its own: whoever calls it hands in a source. A source
 * may be a file that is read piece by piece, a member of a gzip stream, or a
 * span of memory. Offsets count from the first (uncompressed) byte. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct source {
    void *context; /* the owner's; passed back to read */

    /* Puts up to `size` bytes that start at `offset` into `into` and returns
     * how many those were: fewer than asked only at the end of the bytes, 0
     * past it, and -1 when they cannot be read (the caller then reports an
     * `io` error). Never reads past the end that it told once. */
    int64_t (*read)(void *context, uint64_t offset, void *into, size_t size);

    /* Total size in bytes; UINT64_MAX when it is not known before the end is
     * met (a gzip stream). */
    uint64_t size_bytes;

    /* As read, for several threads at once; NULL: it cannot (a gzip stream). */
    int64_t (*read_apart)(void *context, uint64_t offset, void *into, size_t size);

    /* For a gzip stream that ends in the middle and is read up to there: its length. Known with the size; 0: it is
     * whole. */
    uint64_t cut_packed_bytes;

    /* For whole packed bytes (gzip, a zip of one file): the inflated bytes, if the owner holds them, so that no reader
     * inflates them again. NULL: not packed, or not held. */
    const struct source *unpacked;
};
