/* SPDX-License-Identifier: Apache-2.0
 * verify.h: is this a program? What XLA's HLO verifier asks of an edited one, as far as shapes go.
 *
 * Of every instruction: its operands exist and stand before it, its result is what its opcode makes of them, the
 * computations that it calls exist and take and give what it passes and gets. Of the module: names are there once,
 * donated arguments have the shape of their results, and the program's own shape is that of its entry. Opcodes that are
 * not known here are held to the rules that all have. Source: xla/service/shape_inference.cc, hlo_verifier.cc. */
#pragma once

#include "edit/program.h"

/* False with a report, `malformed`, that names the instruction and says what is wrong with it. */
bool verify_program(const struct program *program);
/* Does the instruction's shape follow from its opcode and operands? For verify_program; its operands exist. */
bool verify_shape(const struct program *program, const struct program_body *body,
                  const program_instruction *instruction);
