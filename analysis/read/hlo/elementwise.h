/* SPDX-License-Identifier: Apache-2.0
 * elementwise.h: operations that are done to each element by itself.
 * Source: XLA's HloInstruction::IsElementwise. */
#pragma once

#include "base/str.h"

/* Of an opcode as HLO text has it; what draws random numbers is none. */
bool elementwise_is(struct str opcode);
