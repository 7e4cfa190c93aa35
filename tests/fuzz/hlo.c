/* SPDX-License-Identifier: Apache-2.0
 * hlo.c: any bytes as an HloProto, without asking first whether they look like one. */
#include "tests/fuzz/ask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source = ask_source(data, size);
    struct analysis_program program = {.name = "fuzz", .key = "fuzz(1)", .program_id = 1, .size_bytes = size};

    ask_program(&source, &program);
    return 0;
}
