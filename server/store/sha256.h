/* SPDX-License-Identifier: Apache-2.0
 * sha256.h: SHA-256 (FIPS 180-4): the name of bytes, which nobody can guess or forge: of what a reader uploaded, and of
 * programs that several hosts may hold. */
#pragma once

#include <nettle/sha2.h>
#include <stddef.h>

enum { SHA256_TEXT_SIZE = 65 };
/* 64 hex digits and a NUL. */
void sha256_text(const void *data, size_t size, char text[SHA256_TEXT_SIZE]);

/* The same of bytes that come piece by piece. */
struct sha256_stream {
    struct sha256_ctx context;
};
void sha256_begin(struct sha256_stream *stream);
void sha256_add(struct sha256_stream *stream, const void *data, size_t size);
void sha256_end(struct sha256_stream *stream, char text[SHA256_TEXT_SIZE]);
