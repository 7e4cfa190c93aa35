/* SPDX-License-Identifier: Apache-2.0
 * exchange/compile_input.h: what a compiler has to know of a program (read/hlo/compile_input.h). */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct compile_input {
    struct str module;                      /* of a HloModuleProto: a part of the bytes that were read */
    int64_t replica_count, partition_count; /* of the module's own device assignment; 1 without one; up to 65,536 */
    bool has_shardy;                        /* its shardings are those of Shardy: GSPMD would see none */
};
