/* SPDX-License-Identifier: Apache-2.0
 * elementwise.h: operations that are done to each element by itself.
 * Source: XLA's HloInstruction::IsElementwise. */
#pragma once

#include "base/str.h"

/* Is this opcode, as HLO text writes it, elementwise? Opcodes that draw random numbers are not. */
bool elementwise_is(struct str opcode);
