/* SPDX-License-Identifier: Apache-2.0
 * quantity.h: quantities as Kubernetes writes them. */
#pragma once

#include "read/oom/oom.h"
#include "read/oom/text.h"

/* "300Mi" is of powers of 1024, "300M" of 1000, "300" bytes. Goes behind it. */
bool oom_quantity_take(const struct oom_text *text, size_t *at, struct oom_figure *figure);
