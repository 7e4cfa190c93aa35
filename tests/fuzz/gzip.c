/* SPDX-License-Identifier: Apache-2.0
 * gzip.c: what the bytes inflate to, and that a bomb is refused: identify and list only. */
#include "tests/fuzz/ask.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t member[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    uint8_t *bytes = malloc(size + sizeof(member));

    if (!bytes)
        return 0;
    for (size_t at = 0; at < size + sizeof(member); at++)
        bytes[at] = at < sizeof(member) ? member[at] : data[at - sizeof(member)];
    bool is_gzip = size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
    struct source source = is_gzip ? ask_source(data, size) : ask_source(bytes, size + sizeof(member));
    ask_file(&source);
    free(bytes);
    return 0;
}
