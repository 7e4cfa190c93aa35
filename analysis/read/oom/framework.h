/* SPDX-License-Identifier: Apache-2.0
 * framework.h: whose program a failure is of, and what kind of memory it is about. */
#pragma once

#include "read/oom/oom.h"
#include "read/oom/seen.h"
#include "read/oom/text.h"

/* The framework of a failure of `family` whose sentence is at clean bytes [from, to): that of the family, or, where
 * several print the same sentence, the one whose words stand nearest around it. */
enum oom_framework oom_framework_of(struct oom_seen *seen, const struct oom_text *text, size_t from, size_t to,
                                    enum oom_family family);

/* What front end wrote an operation of this type, as XLA's report names it ("MatMul"): TensorFlow begins names with a
 * capital, JAX and PyTorch do not. `framework` where it is known, or nothing tells. */
enum oom_framework oom_framework_of_type(enum oom_framework framework, struct str op_type);

/* The class of the memory space that the failure names, else that of its family. */
enum oom_memory oom_framework_memory(const struct oom_failure *failure);
