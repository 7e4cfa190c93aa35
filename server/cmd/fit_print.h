/* SPDX-License-Identifier: Apache-2.0
 * fit_print.h: the answer of memviewd fit for a terminal. */
#pragma once

#include "base/buf.h"

#include <cjson/cJSON.h>

/* Appends a program of the list "programs" of `fit --json` as a table. */
void fit_print(const cJSON *program, struct buf *out);
