/* SPDX-License-Identifier: Apache-2.0
 * torch_snapshot.c: any bytes as an allocator snapshot of PyTorch: its events, and every view of them. */
#include "tests/fuzz/ask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source = ask_source(data, size);

    ask_trace(&source);
    return 0;
}
