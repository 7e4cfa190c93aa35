/* SPDX-License-Identifier: Apache-2.0
 * trace.c: any bytes as a profiler trace: its memory events, and every view of them. */
#include "tests/fuzz/ask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source = ask_source(data, size);

    ask_trace(&source);
    return 0;
}
