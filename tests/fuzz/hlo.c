/* SPDX-License-Identifier: Apache-2.0
 * hlo.c: any bytes as an HloProto, without asking first whether they look like one. */
#include "tests/fuzz/ask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source = ask_source(data, size);
    struct analysis_program program = {"fuzz", "fuzz(1)", 1, 0, size};

    ask_program(&source, &program);
    return 0;
}
