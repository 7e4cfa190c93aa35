/* SPDX-License-Identifier: Apache-2.0
 * torch_inner.h: of lines of a user's own code that a whole model from a library is behind, the library's line that
 * asked for most. For analysis/verdict alone. */
#pragma once

#include "model/memory_profile/model.h"
#include "verdict/facts.h"

/* Sets `inner` of the verdict's groups; `whats`: of each of them, in their order. */
void torch_inner_find(const struct verdict_facts *facts, const struct memory_what *const *whats);
