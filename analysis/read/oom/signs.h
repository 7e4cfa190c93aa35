/* SPDX-License-Identifier: Apache-2.0
 * signs.h: which settings that save memory the lines before a failure show. Rows in signs.def. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A bit (1u << OOM_SIGN_…) for each in `length` bytes without white space; `raw_of`: the place of each in the log. */
uint32_t oom_signs_find(const char *bytes, const uint16_t *raw_of, size_t length);
