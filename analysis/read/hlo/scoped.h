/* SPDX-License-Identifier: Apache-2.0
 * scoped.h: scoped memory that single instructions use, out of their backend_config.
 *
 * On TPU the JSON of an instruction may say
 *   "used_scoped_memory_configs": [{"memory_space": 1, "size": "100663296", …}]
 * with numbers as JSON numbers or as quoted decimals. Programs have tens of
 * thousands of these, nearly all with an empty list: only the others are parsed. */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* True if the text names the key with a list that is not empty. */
bool scoped_is_used(struct str backend_config);
/* Largest `size` of the entries for `space`, in bytes; 0 if there is none or the JSON is broken. */
int64_t scoped_bytes(struct str backend_config, int64_t space);
