/* SPDX-License-Identifier: Apache-2.0
 * xspace.c: any bytes as a file of any kind; finds programs in traces. */
#include "tests/fuzz/ask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source = ask_source(data, size);

    ask_file(&source);
    return 0;
}
