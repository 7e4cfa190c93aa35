/* SPDX-License-Identifier: Apache-2.0
 * hlo_parts.c: texts of a program, and its parts framed behind each other; any other bytes are for hlo.c. */
#include "tests/fuzz/ask.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source = ask_source(data, size);
    struct err err = ERR_INIT;
    enum analysis_kind kind;
    if (!analysis_identify(&source, &kind, NULL, &err) ||
        (kind != ANALYSIS_KIND_HLO_PARTS && kind != ANALYSIS_KIND_BUFFER_ASSIGNMENT))
        return 0;
    struct analysis_contents *contents = analysis_contents_read(&source, &err);
    if ((contents == NULL) != err_is_set(&err))
        abort();
    if (contents != NULL)
        ask_program(&source, &contents->programs[0]);
    analysis_contents_free(contents);
    return 0;
}
