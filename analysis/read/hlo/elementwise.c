/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/elementwise.h"

static const char *const elementwise[] = {
    "abs",
    "add",
    "and",
    "atan2",
    "cbrt",
    "ceil",
    "clamp",
    "compare",
    "convert",
    "copy",
    "cosine",
    "divide",
    "erf",
    "exponential",
    "exponential-minus-one",
    "floor",
    "is-finite",
    "log",
    "log-plus-one",
    "logistic",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "or",
    "popcnt",
    "power",
    "reduce-precision",
    "remainder",
    "round-nearest-afz",
    "round-nearest-even",
    "rsqrt",
    "select",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "sign",
    "sine",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "xor",
};

bool elementwise_is(struct str opcode)
{
    for (size_t i = 0; i < sizeof elementwise / sizeof *elementwise; i++)
        if (str_equal(opcode, str_of(elementwise[i])))
            return true;
    return false;
}
