/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/sha256.h"

#include <stdio.h>

void sha256_begin(struct sha256_stream *stream) { sha256_init(&stream->context); }

void sha256_add(struct sha256_stream *stream, const void *data, size_t size)
{
    sha256_update(&stream->context, size, data);
}

void sha256_end(struct sha256_stream *stream, char text[SHA256_TEXT_SIZE])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(&stream->context, sizeof(digest), digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

void sha256_text(const void *data, size_t size, char text[SHA256_TEXT_SIZE])
{
    struct sha256_stream stream;
    sha256_begin(&stream);
    sha256_add(&stream, data, size);
    sha256_end(&stream, text);
}
