/* SPDX-License-Identifier: Apache-2.0
 * gzip_whole.h: a gzip file of one member, inflated at once by libdeflate, which takes a fifth of the time of zlib's
 * stream. A build without that library inflates none so. */
#pragma once

#include "base/buf.h"
#include "base/source.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends the `size_bytes` that the gzip file holds. False, with nothing appended and nothing reported, if there are
 * more or fewer, or if it is damaged, cut or cannot be read: reading it as a stream then reports the fault. Meanwhile
 * it takes as much memory as the packed file has bytes. */
bool gzip_whole_inflate(const struct source *packed, uint64_t size_bytes, struct buf *out);
