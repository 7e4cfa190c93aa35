/* SPDX-License-Identifier: Apache-2.0
 * gzip_whole.h: a gzip file of one member, inflated at once by libdeflate, which takes a fifth of the time of zlib's
 * stream. A build without that library inflates none so. */
#pragma once

#include "base/buf.h"
#include "base/source.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends the `size_bytes` that are in it. False, with nothing appended and nothing reported, if that is not all of it,
 * if it is damaged or cut, or cannot be read: whoever reads it as a stream says what is wrong. Takes as much memory
 * as the packed file has bytes, meanwhile. */
bool gzip_whole_inflate(const struct source *packed, uint64_t size_bytes, struct buf *out);
