/* SPDX-License-Identifier: Apache-2.0
 * tar.c: any bytes as a tar archive: each block that could be a header gets its own checksum, which few changes of a
 * byte would leave right. */
#include "tests/fuzz/ask.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 512, CHECKSUM_AT = 148, CHECKSUM_BYTES = 8, MAGIC_AT = 257 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void checksum_put(uint8_t *header)
{
    unsigned sum = 0;

    memset(header + CHECKSUM_AT, ' ', CHECKSUM_BYTES);
    for (size_t at = 0; at < BLOCK_BYTES; at++)
        sum += header[at];
    for (size_t at = 6; at-- > 0; sum >>= 3)
        header[CHECKSUM_AT + at] = (uint8_t)('0' + (sum & 7));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size + 1);

    if (!bytes)
        return 0;
    memcpy(bytes, data, size);
    for (size_t at = 0; at + BLOCK_BYTES <= size; at += BLOCK_BYTES)
        if (memcmp(bytes + at + MAGIC_AT, "ustar", 5) == 0)
            checksum_put(bytes + at);
    struct source source = ask_source(bytes, size);
    ask_file(&source);
    free(bytes);
    return 0;
}
